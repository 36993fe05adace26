"""Every column that can hold what somebody said is encrypted, or is listed as one that need not be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import JSON, LargeBinary, Text

from langmem_plugin.database.conversation_tables import incoming, message
from langmem_plugin.database.encryption.encrypted_columns import CLIENT_NAME, ENCRYPTED, EXTRACTED_FACTS
from langmem_plugin.database.encryption.encryption import PLAINTEXT, OwnerKey, RowCipher
from langmem_plugin.database.memory_tables import (
    extraction_job,
    history_message,
    history_vector,
    memory,
    memory_category,
    memory_owner,
    memory_vector,
    standing_instruction,
)
from langmem_plugin.database.operations_tables import audit, erased_key, erasure, held_row, operation, secret
from langmem_plugin.database.people_tables import access_token, link_code, merge
from langmem_plugin.database.schema import GivenName, Words, metadata
from langmem_plugin.errors import SessionRefused
from tests.cases import for_each

_SEALED = "empty in a row that is encrypted: its words are in `sealed` (memory/keep/changes_and_checksums.py)"
_OF_LONG_TERM = {
    **dict.fromkeys((memory.c.text, memory.c.summary_text, memory.c.quote, memory.c.metadata), _SEALED),
    **dict.fromkeys((standing_instruction.c.text, standing_instruction.c.condition), _SEALED),
    **dict.fromkeys((memory_category.c.name, memory_category.c.description), _SEALED),
    history_message.c.text: _SEALED,
    **{
        table.c.sealed: "encrypted as it is written"
        for table in (memory, standing_instruction, memory_category, history_message)
    },
    **{table.c.vector: "encrypted where its row is" for table in (memory_vector, history_vector)},
    memory.c.tags: "digests in a row that is encrypted, as its key, slot, category and source",
    memory.c.text_digest: "by the key of its owner, where there are keys",
    memory_owner.c.salt: "chance",
}
PLAIN = {
    **_OF_LONG_TERM,
    incoming.c.sent_as: "ids that the channel gave to the parts of an answer",
    message.c.message_id: "an id, by which LangGraph finds and replaces a message",
    extraction_job.c.taken: "numbers of rows",
    merge.c.moved: "ids of what moved, and no words of it",
    link_code.c.salt: "chance",
    link_code.c.digest: "of a code that is made by chance and holds for minutes",
    access_token.c.digest: "of 256 bits of chance",
    secret.c.value: "chance; it keys hashes, which tell nothing more to whoever has the rows they stand for",
    audit.c.owner: "a keyed hash",
    audit.c.content: "a keyed hash",
    operation.c.buckets: "numbers of calls",
    erased_key.c.hash: "a keyed hash",
    erasure.c.hashes: "keyed hashes",
    erasure.c.counts: "numbers",
    erasure.c.who: "identifiers, as the keys of rows are, and only until it cannot be undone",
    erasure.c.left: "names of files and collections",
    held_row.c.payload: "rows as they were: what was encrypted in them still is, for the place it goes back to",
}
"""Columns of words, JSON or bytes that are stored as they are, and why that shows nothing of what was said."""


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
CIPHER = RowCipher(lambda _: KEY, lambda _, key_id: KEY if key_id == KEY.key_id else None)


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
