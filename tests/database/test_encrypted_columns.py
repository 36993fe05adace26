"""Every column that can hold what somebody said is encrypted, or is listed as one that need not be."""

import pytest
from sqlalchemy import JSON, LargeBinary, Text

from langmem_plugin.database.encryption.encrypted_columns import ENCRYPTED, PLAIN
from langmem_plugin.database.schema import GivenName, Words, metadata


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
@pytest.mark.parametrize("each", ENCRYPTED, ids=lambda each: str(each.column))
def test_the_place_of_a_value_is_its_column_and_the_whole_key_of_its_row(each):
    assert len(each.column.table.primary_key.columns) > 0
    assert each.column.name not in each.column.table.primary_key.columns
