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


def test_a_database_moves_person_by_person_into_one_with_keys_whose_keys_are_then_wrapped_anew(json_of, tmp_path):
    old, new = new_master_key(), new_master_key()
    file, there = f"{tmp_path}/erin.json", f"sqlite:///{tmp_path}/keys/m.db"
    langmem("export", ERIN, "--to", file, "--database", f"sqlite:///{tmp_path}/m.db")
    langmem("import", file, "--create", "--database", there, LANGMEM_KEYS=old)
    assert all(b"sail" not in each.read_bytes() for each in (tmp_path / "keys").iterdir())
    keys = f"{new},{old}"
    assert "I sail" in langmem("memories", "list", ERIN, "--database", there, LANGMEM_KEYS=keys).out
    told = langmem("keys", "rotate", "--json", "--database", there, LANGMEM_KEYS=keys).json
    assert told == {"newest_key": new.partition(":")[0], "wrapped_anew": 1}
