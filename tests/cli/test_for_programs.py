"""What commands that work on the whole database print for programs: one JSON document."""

import pytest

from langmem_plugin.database.encryption.master_keys import new_master_key
from tests.cli.conftest import langmem

ERIN = "+972501234567"

pytestmark = [pytest.mark.spec("U-5"), pytest.mark.slow]


@pytest.fixture
def json_of(tmp_path):
    """The document that a command prints, of a database in which somebody said something."""
    url = f"sqlite:///{tmp_path}/m.db"
    langmem("chat", "--create", "--database", url, "--phone", ERIN, stdin="/remember I sail\nhello\n")

    def told(*arguments, **variables):
        return langmem(*arguments, "--json", "--database", url, **variables).json

    return told


def test_indexes_jobs_and_an_erasure_that_is_undone_are_told_to_programs(json_of, tmp_path):
    told = json_of("reindex", LANGMEM_VECTOR_INDEX=f"chroma:{tmp_path}/index")
    assert told == {"embedded": 0, "left": 0, "owners": 0, "up_to_date": 0}
    assert json_of("worker", "--once")["jobs"].keys() <= {"pending", "running", "done", "failed"}
    assert json_of("erase", ERIN, "--yes")["state"] == "held"
    assert json_of("restore", ERIN, "--yes")["state"] == "restored"


def test_keys_that_are_wrapped_anew_and_rows_that_are_encrypted_are_told_to_programs(json_of):
    old, new = new_master_key(), new_master_key()
    told = json_of("keys", "encrypt", "--yes", LANGMEM_KEYS=old)
    assert told["encrypted_rows"] > 0
    assert told["deleted_files"] == 0
    told = json_of("keys", "rotate", LANGMEM_KEYS=f"{new},{old}")
    assert told == {"newest_key": new.partition(":")[0], "wrapped_anew": 1}
