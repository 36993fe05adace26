"""What an error of the database tells, and what it keeps to itself."""

import traceback

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from langmem_plugin.database import Database

MOM = "+972501234567"


@pytest.mark.spec("C-18", "P-5")
def test_an_error_names_the_statement_and_not_the_person(database_url):
    with (
        Database(database_url) as database,
        pytest.raises(DBAPIError, match="nowhere") as raised,
        database.read() as connection,
    ):
        connection.execute(text("SELECT * FROM nowhere WHERE thread = :phone"), {"phone": MOM})
    assert MOM not in "".join(traceback.format_exception(raised.value))
