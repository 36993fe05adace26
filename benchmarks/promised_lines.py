"""What the tests of references promise, as lines to fit on: utterances, the messages before them, what is meant."""

from collections.abc import Callable, Iterator, Sequence

from langchain_core.messages import BaseMessage

from tests.references import (
    test_codes_and_letters,
    test_properties,
    test_remarks_and_limits,
    test_selecting,
    test_sure_or_silent,
)
from tests.references.scenes import SCENES
from tests.references.test_small_talk import FOCUSED, TALK
from tests.references.test_texting import NAMES, TABLE

ID_NAMES = (*NAMES, "permitId", "ferryId", "tentId", "parcelId", "payment_id", "order_id", "petRef")
"""The keys that an item's id may stand under."""
Promise = tuple[str, list[BaseMessage], frozenset[str], str]
"""The utterance, the messages before it, the ids of what is meant, and a name of the conversation."""


def promises() -> Iterator[Promise]:
    for scene, text, expected in TABLE:
        yield text, SCENES[scene], frozenset(expected.split("|")) - {""}, scene
    for messages, tests in _tables():
        for test in tests:
            for said, ids in _rows(test):
                yield said, messages, frozenset(ids), test.__module__


def small_talk() -> Iterator[Promise]:
    for scene in FOCUSED:
        yield from ((text, SCENES[scene], frozenset(), scene) for text in TALK)


def _tables() -> Iterator[tuple[list[BaseMessage], Sequence[Callable[..., None]]]]:
    codes, limits, selecting, sure = (
        test_codes_and_letters,
        test_remarks_and_limits,
        test_selecting,
        test_sure_or_silent,
    )
    yield (
        codes.shown(codes.BY_NUMBER),
        [
            codes.test_an_id_is_known_by_its_end_and_an_amount_is_none,
            codes.test_an_end_of_a_scale_is_found_by_what_its_field_is_about,
            codes.test_what_is_turned_down_is_left_out_and_what_is_counted_together_kept,
        ],
    )
    yield codes.shown(codes.BY_LETTER), [codes.test_a_letter_means_the_line_it_stands_beside]
    yield codes.shown(codes.BY_HEBREW_LETTER), [codes.test_a_hebrew_letter_or_name_means_the_line_it_stands_in]
    yield (
        limits.shown(),
        [
            limits.test_limits_scales_and_corrections_pick_what_a_person_means,
            limits.test_what_is_not_said_of_anything_shown_means_nothing,
        ],
    )
    yield (
        selecting.SHOWN,
        [
            selecting.test_how_many_how_much_and_which_end_of_a_scale_pick_things,
            selecting.test_what_is_restricted_in_words_not_read_is_never_the_whole_list,
        ],
    )
    yield (
        selecting.ASKED,
        [selecting.test_an_offer_is_taken_up_and_another_of_the_same_kind_is_not_the_one_offered],
    )
    yield selecting.PARCELS, [selecting.test_what_things_lack_where_they_stand_and_when_they_fall_due_pick_them]
    yield (
        sure.BILLS,
        [
            sure.test_words_of_pointing_that_point_at_nothing_shown_are_left_alone,
            sure.test_what_the_fields_of_any_item_say_is_understood,
        ],
    )
    yield sure.ORDERS, [sure.test_corrections_neighbours_and_conditions_change_what_is_meant]
    yield (
        test_properties.SHOWN,
        [test_properties.test_an_item_is_found_by_a_word_that_it_does_not_hold_and_never_surely],
    )


def _rows(test: Callable[..., None]) -> Iterator[tuple[str, Sequence[str]]]:
    """The rows that a test is run with: utterances with the ids meant, or alone where nothing is."""
    (mark,) = (each for each in test.pytestmark if each.name == "parametrize")
    names, rows = mark.args
    for row in rows:
        yield (row, ()) if isinstance(names, str) else row
