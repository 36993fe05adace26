"""One key per person, whatever form a number comes in, and no log that shows it whole."""

import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langmem_plugin.errors import InvalidInput
from langmem_plugin.phones import is_group, masked, normalised, thread_key

MOM = "+972501234567"


@pytest.mark.spec("C-1")
@pytest.mark.parametrize(
    "form",
    [
        "+972501234567",
        " +972 50-123-4567 ",
        "00972501234567",
        "+972(50)1234567",
        "972501234567@c.us",
        "972501234567@s.whatsapp.net",
        "+972501234567@c.us",
    ],
)
def test_every_international_form_is_one_key(form):
    assert normalised(form) == thread_key(form) == MOM


@pytest.mark.spec("C-1")
@pytest.mark.parametrize("form", ["050-123-4567", "0501234567", "972-50-123-4567", "(050) 123 4567"])
def test_national_forms_are_read_in_their_region(form):
    assert normalised(form, "IL") == thread_key(form, "IL") == MOM


@pytest.mark.spec("C-1")
def test_the_same_digits_are_another_person_in_another_region():
    assert normalised("0501234567", "IL") != normalised("0501234567", "DE")


@pytest.mark.spec("C-1")
def test_a_number_of_no_known_range_is_still_a_number():
    assert normalised("+1 555 0100 234") == "+15550100234"


@pytest.mark.spec("C-1")
def test_a_group_is_its_own_key_and_not_its_creators():
    group = "972501234567-1586000000@g.us"
    assert normalised(group) == thread_key(group) == group
    assert is_group(group)
    assert not is_group(MOM)


@pytest.mark.spec("C-1")
def test_anything_else_is_a_key_as_it_stands_with_a_warning_that_does_not_show_it(caplog):
    with caplog.at_level(logging.WARNING):
        assert normalised("telegram:grandmother") == "telegram:grandmother"
    assert "phone.opaque" in caplog.text
    assert "grandmother" not in str([record.__dict__ for record in caplog.records])


@pytest.mark.spec("C-1")
def test_a_national_form_without_a_region_is_no_number(caplog):
    with caplog.at_level(logging.WARNING):
        assert normalised("050-123-4567") == "050-123-4567"
    assert "1234567" not in str([record.__dict__ for record in caplog.records]).replace("-", "")


@pytest.mark.spec("C-1")
def test_a_known_number_or_group_is_taken_without_a_warning(caplog):
    with caplog.at_level(logging.WARNING):
        normalised(MOM)
        normalised("972501234567-1586000000@g.us")
    assert caplog.records == []


@pytest.mark.spec("C-1")
@pytest.mark.parametrize("nobody", ["", "   ", "\n"])
def test_nobody_is_refused(nobody):
    with pytest.raises(InvalidInput):
        normalised(nobody)


@pytest.mark.spec("C-1")
@pytest.mark.parametrize(
    "thread", ["1f1e6085-c4aa-61b0-8000-000000000000", "session one", "abc", "thread-1", "1", "42"]
)
def test_a_thread_that_is_no_phone_stays_as_it_is_without_a_word(thread, caplog):
    assert thread_key(thread, "IL") == thread
    assert caplog.records == []


@pytest.mark.spec("C-1")
@settings(deadline=None)
@given(text=st.text(min_size=1).filter(str.strip) | st.from_regex(r"\+?[0-9 ()./-]{5,24}(@c\.us)?", fullmatch=True))
def test_a_key_is_its_own_key(text):
    assert normalised(normalised(text)) == normalised(text)
    assert thread_key(thread_key(text)) == thread_key(text)
    assert normalised(normalised(text, "IL"), "IL") == normalised(text, "IL")


@pytest.mark.spec("C-1")
@settings(deadline=None)
@given(digits=st.from_regex(r"[1-9][0-9]{4,14}", fullmatch=True))
def test_a_person_and_a_number_are_one_key_and_a_mask_hides_most_of_it(digits):
    assert normalised(f"{digits}@c.us") in (normalised(f"+{digits}"), f"{digits}@c.us")
    assert digits[: len(digits) - 3] not in masked(f"+{digits}")
    assert f"{digits}@c.us" not in masked(f"{digits}@c.us")


def test_masks_tell_two_people_apart():
    assert masked(MOM) == "…567"
    assert masked("972501234567-1586000000@g.us") == "…000@g.us"
    assert masked("12345") == "…"
