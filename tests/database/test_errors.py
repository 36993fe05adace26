"""What an error of the database tells, and what it keeps to itself."""

import threading
import traceback
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from langmem_plugin.database import Database
from langmem_plugin.errors import WriteConflict

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


@pytest.mark.slow
@pytest.mark.spec("C-9")
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_of_two_writers_who_wait_for_each_other_one_is_told_to_try_again(database_url):
    both = threading.Barrier(2)

    def write(first, second):
        with database.write() as connection:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({first})"))
            both.wait()
            connection.execute(text(f"SELECT pg_advisory_xact_lock({second})"))

    with Database(database_url) as database, ThreadPoolExecutor(2) as pool:
        errors = [each.exception() for each in (pool.submit(write, 1, 2), pool.submit(write, 2, 1))]
    assert [type(each) for each in errors if each] == [WriteConflict]
