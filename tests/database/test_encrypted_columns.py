"""Every column that can hold what somebody said is encrypted, or is listed as one that need not be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import JSON, LargeBinary, Text

from langmem_plugin.database.encryption.encrypted_columns import CLIENT_NAME, ENCRYPTED, EXTRACTED_FACTS, PLAIN
from langmem_plugin.database.encryption.row_cipher import PLAINTEXT, OwnerCipher, OwnerKey
from langmem_plugin.database.schema import GivenName, Words, metadata
from langmem_plugin.errors import SessionRefused
from tests.cases import for_each


def _may_hold_words(column):
    kind = column.type
    of_text = isinstance(getattr(kind, "impl_instance", kind), Text)
    return of_text or isinstance(kind, LargeBinary | JSON | GivenName | Words)


@pytest.mark.spec("P-1")
def test_every_column_of_words_is_encrypted_or_has_a_reason_to_be_plain():
    known = {each.column for each in ENCRYPTED} | PLAIN.keys()
    columns = {each for table in metadata.tables.values() for each in table.columns if _may_hold_words(each)}
    lacking = {str(each) for each in columns - known}
    assert lacking == set()


@pytest.mark.spec("P-1")
def test_no_column_is_both_and_none_is_registered_twice():
    registered = [each.column for each in ENCRYPTED]
    assert len(set(registered)) == len(registered)
    assert not set(registered) & PLAIN.keys()


@pytest.mark.spec("P-1")
@for_each("each", ENCRYPTED, ids=lambda each: str(each.column))
def test_the_place_of_a_value_is_its_column_and_the_whole_key_of_its_row(each):
    assert len(each.column.table.primary_key.columns) > 0
    assert each.column.name not in each.column.table.primary_key.columns


NAME, FACTS = CLIENT_NAME, EXTRACTED_FACTS
KEY = OwnerKey(b"1234", b"k" * 32)
CIPHER = OwnerCipher(lambda _: KEY, lambda _, key_id: KEY if key_id == KEY.key_id else None)


@pytest.mark.spec("P-1")
@given(st.text(max_size=40) | st.sampled_from(["\x02LM1:", "\x02LM1=", "\x02LM1:x", "\x02LM1==", "\x02"]))
def test_a_text_is_read_as_it_was_whatever_it_looks_like_and_encrypted_or_not(text):
    for cipher in (CIPHER, PLAINTEXT):
        assert NAME.decrypted_by(cipher, ("+1", 2), NAME.encrypted_by(cipher, ("+1", 2), text)) == text
    stored = NAME.encrypted_by(CIPHER, ("+1", 2), text)
    for cipher, key, what in ((CIPHER, ("+1", 3), stored), (PLAINTEXT, ("+1", 2), stored), (CIPHER, ("+1", 2), text)):
        with pytest.raises(SessionRefused):
            NAME.decrypted_by(cipher, key, what)


@pytest.mark.spec("P-1")
@for_each("facts", [[{"text": "chicken", "said": ["שלום", None, 1.5]}], {}, []])
def test_json_is_read_as_it_was(facts):
    stored = FACTS.encrypted_by(CIPHER, ("+1", 2), facts)
    assert "chicken" not in str(stored)
    assert FACTS.decrypted_by(CIPHER, ("+1", 2), stored) == facts


@pytest.mark.spec("P-1")
@for_each("damaged", ["\x02LM1:", "\x02LM1:no base64!", "\x02LM1:AAAA", 7, {"text": "x"}])
def test_what_is_no_encrypted_value_is_refused_by_name(damaged):
    for column in (NAME, FACTS):
        with pytest.raises(SessionRefused, match=str(column.column)):
            column.decrypted_by(CIPHER, ("+1", 2), damaged)
