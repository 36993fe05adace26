"""What is searched of a memory beside its text, phrases and beginnings of words, and where they were found."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.message_ranking import MessageHit
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.find.question import exact_hits, exact_query, matched_spans
from langmem_plugin.memory.find.tokenizer import placed, words_of
from langmem_plugin.memory.models import Filter
from tests.cases import for_each
from tests.memory.encrypted_services import encrypted_service, texts

ANNA, BEN = "+972501234567", "+972507654321"
RENT, REX, PAN, OTHER_PAN = (
    "The rent is 4,000 a month",
    "Rex sleeps on the sofa",
    "One-pan salmon with chocolate on the side",
    "We tried salmon, one of them in a pan",
)
CHOCOLATE, SONG = "אתמול אכלנו את השוקולד המריר", "La canción favorita de Ana"


def _told(memory):
    """rent is in home > housing; the others have tags, a key and a summary."""
    home = memory.categories.create(ANNA, "Home")
    memory.categories.create(ANNA, "Housing", parent_id=home.category_id)
    memory.remember(ANNA, RENT, category="housing")
    memory.remember(ANNA, REX, tags=["Our Pets"], category="animals")
    memory.remember(ANNA, PAN, key="best_recipe")
    memory.remember(ANNA, OTHER_PAN)
    memory.remember(ANNA, CHOCOLATE, summary_text="קינוח")
    memory.remember(ANNA, SONG)
    return home


def _found(memory, query, mode="text", **asked):
    return texts(memory.search(ANNA, query, mode=mode, **asked))


FOUND = {
    "housing": [RENT],
    "home": [RENT],  # what is above it
    "animals": [REX],
    "pets": [REX],
    "recipe": [PAN],
    "קינוח": [CHOCOLATE],
    '"one pan salmon"': [PAN],
    "“one pan salmon” nothing": [PAN],
    '"salmon one"': [OTHER_PAN],
    '"one pan sal*"': [PAN],
    "choc*": [PAN],
    "chocolat*": [PAN],
    "salmon choc*": [PAN],
    "hous*": [RENT],
    "שוקו*": [CHOCOLATE],
    "״השוקולד המריר״": [CHOCOLATE],
    '"שוקולד מריר"': [CHOCOLATE],
    '"המריר השוקולד"': [],
    "canció*": [SONG],
    "cancio*": [SONG],
    '"canción favorita"': [SONG],
    '"favorita canción"': [],
    '"our pets"': [REX],
    '"in a"': [OTHER_PAN],  # words that are not searched by
    '"housing salmon"': [],
    "unicorn*": [],
}


@pytest.mark.spec("M-7")
def test_everything_of_a_memory_is_searched_and_phrases_and_beginnings_of_words(memory):
    _told(memory)
    memory.remember(BEN, "Salmon for Ben", category="housing", tags=["pets"])
    assert {query: _found(memory, query) for query in FOUND} == FOUND
    assert {query: _found(memory, query, "hybrid", operators=True) for query in FOUND if query[-1] in '"”״*'} == {
        query: found for query, found in FOUND.items() if query[-1] in '"”״*'
    }
    assert _found(memory, "housing", "hybrid")[0] == RENT
    assert PAN in _found(memory, '"a salmon with one pan"', "hybrid")  # what a person says is no phrase
    assert _found(memory, '"one pan salmon"', limit=0) == []


@pytest.mark.spec("M-7")
def test_a_category_that_moves_or_is_renamed_is_found_by_its_new_place_at_once(memory):
    home = _told(memory)
    assert _found(memory, "home") == [RENT]
    memory.categories.update(ANNA, home.category_id, name="Estate")
    assert (_found(memory, "home"), _found(memory, "estate")) == ([], [RENT])
    housing = next(each for each in memory.categories.list_categories(ANNA) if each.name == "Housing")
    memory.categories.update(ANNA, housing.category_id, parent_id=None)
    assert (_found(memory, "estate"), _found(memory, "housing")) == ([], [RENT])


@pytest.mark.spec("M-7")
def test_a_filter_takes_categories_and_tags_in_any_case_and_what_is_below(memory):
    home = _told(memory)
    for name in ("HOME", " home", "housing", "HouSing"):
        where = Filter(categories=[name])
        assert texts(memory.list_memories(ANNA, where=where)) == [RENT]
        assert texts(memory.search(ANNA, "how much is the rent?", where=where)) == [RENT]
        assert memory.count(ANNA, where=where) == 1
    for tag in ("our pets", "OUR PETS"):
        assert texts(memory.list_memories(ANNA, where=Filter(tags=[tag]))) == [REX]
        assert texts(memory.search(ANNA, "who sleeps on the sofa?", where=Filter(tags=[tag]))) == [REX]
    memory.categories.delete(ANNA, home.category_id)
    assert memory.count(ANNA, where=Filter(categories=["home"])) == 0
    assert memory.count(ANNA, where=Filter(categories=["house"])) == 0


@pytest.mark.spec("P-1", "M-7")
def test_encrypted_memories_are_found_by_all_of_it_too(database_url, clock, offline_model):
    with encrypted_service(database_url, new_master_key(), embeddings=offline_model, now=clock) as memory:
        memory.categories.create(ANNA, "Housing", parent_id=memory.categories.create(ANNA, "Home").category_id)
        memory.remember(ANNA, RENT, category="housing", private=True, tags=["Bills"], key="the_rent")
        memory.remember(ANNA, REX)
        for query in ("home", "housing", "bills", '"rent is"', "mont*"):
            assert _found(memory, query) == [RENT]
        for name in ("HOME", "Housing"):
            assert texts(memory.list_memories(ANNA, where=Filter(categories=[name], tags=["BILLS"]))) == [RENT]
            assert texts(memory.search(ANNA, "the rent", where=Filter(categories=[name]))) == [RENT]


@pytest.mark.spec("M-4", "M-7")
def test_of_an_owner_with_an_index_the_same_is_found(tmp_path, clock, offline_model):
    pytest.importorskip("chromadb")
    from langmem_plugin.memory.index.stores import chroma

    with MemoryService(
        f"sqlite:///{tmp_path}/x.db",
        embeddings=offline_model,
        now=clock,
        open_collection=chroma(tmp_path / "index"),
        index_after=3,
    ) as memory:
        _told(memory)
        assert memory.reindex(ANNA)
        assert {query: _found(memory, query) for query in FOUND} == FOUND
        assert _found(memory, '"one pan salmon"', "hybrid", operators=True) == [PAN]
        assert _found(memory, "the rent", "hybrid", where=Filter(categories=["HOME"])) == [RENT]


@pytest.mark.spec("M-7")
@for_each(("limit", "found"), [(2, [450, 900]), (3, [450, 900, 2999]), (9, [450, 900, 2999]), (0, [])])
def test_of_many_that_have_the_words_those_that_say_the_phrase_are_found_however_far_down(limit, found):
    texts = {str(at): ["salmon pan one"] for at in range(3_000)} | {
        str(at): ["one pan salmon"] for at in (450, 900, 2999)
    }
    hits = [MessageHit(each, 0.0, 1.0, "exact", {}) for each in texts]
    read = []

    def texts_of(ids):
        read.extend(ids)
        return {each: texts[each] for each in ids}

    held = exact_hits(exact_query('"one pan salmon"'), limit, lambda most: hits[:most], texts_of)
    assert list(held) == list(map(str, found))
    assert len(read) == len(set(read))


@pytest.mark.spec("M-7")
def test_what_has_the_phrase_comes_with_what_was_said_around_it(memory, clock):
    said = ["what did you cook?", "one-pan salmon", "was it good?", "one salmon in a pan"]
    messages = [PastMessage(f"m{at}", "s", "user", text, clock()) for at, text in enumerate(said)]
    memory.history.add(ANNA, messages)
    [found] = memory.history.search(ANNA, '"one pan salmon"', operators=True, neighbours=2)
    assert found.message.text == said[1]
    assert [each.message.text for each in (*found.before, *found.after)] == [said[0], said[2]]


@pytest.mark.spec("M-7")
def test_what_was_said_is_searched_for_phrases_too(memory, clock):
    said = ["my one-pan salmon was good", "one salmon in a pan", "אכלנו שוקולד"]
    memory.history.add(ANNA, [PastMessage(f"m{at}", "s", "user", text, clock()) for at, text in enumerate(said)])

    def found(query, **asked):
        return [each.message.text for each in memory.history.search(ANNA, query, **asked)]

    assert found('"one pan salmon"', mode="text") == [said[0]]
    assert found('"one pan salmon"', operators=True) == [said[0]]
    assert found("שוקו*", operators=True, min_relevance=0.5) == [said[2]]
    assert found("unicorn*", operators=True) == []


@pytest.mark.spec("M-7")
@for_each(
    ("query", "text", "matches"),
    [
        ("salmon tonight", "The Salmon, was salmons good", ["Salmon", "salmons"]),
        ('"one pan salmon"', "pan: a one-pan salmon; salmon", ["one-pan salmon"]),
        ('"one pan" salmon', "pan: a one-pan salmon; salmon", ["one-pan", "salmon", "salmon"]),
        ("choc*", "Chocolate, hot choc and cocoa", ["Chocolate", "choc"]),
        ("שוקו*", "את השוקולד ואת שׁוֹקוֹ", ["השוקולד", "שׁוֹקוֹ"]),
        ("cancion*", "La canción y las CANCIONES", ["canción", "CANCIONES"]),
        ("rent 4000", "rent is 4,000", ["rent", "4,000"]),
        ('צה"ל', 'שירת בצה"ל', ['בצה"ל']),
        ("*bold* word", "a bold word", ["bold", "word"]),
        ('"..." cat', "the cat", ["cat"]),
        ("what is it", "what is it", []),
        (" ".join(f"w{number}*" for number in range(21)), "w3 w30 w4x", ["w3"]),  # a text, and no query
    ],
)
def test_where_a_query_was_found(query, text, matches):
    assert [text[start:end] for start, end in matched_spans(query, text)] == matches


@pytest.mark.spec("M-7")
@given(st.text(st.sampled_from("abß ﬁ1,0'\"־׳״*שלםּ\u0301é_\n")), st.text(st.sampled_from('ab ש*"“”״ֹ')))
def test_spans_are_of_the_text_in_order_and_words_are_placed_as_they_are_split(text, query):
    assert [each.word for each in placed(text)] == words_of(text)
    spans = matched_spans(query, text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    exact = exact_query(query)
    assert spans or not exact or not exact.holds([text])
