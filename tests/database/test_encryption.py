"""Keys of people: made, wrapped, rotated, shredded; a ciphertext fits one place and no other."""

import secrets
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_plugin.database.database_from_settings import open_database
from langmem_plugin.database.encryption import Place, encryption_of
from langmem_plugin.database.encryption.encryption import OwnerKey, RowCipher
from langmem_plugin.database.encryption.master_keys import MasterKeys, new_master_key
from langmem_plugin.errors import ConfigurationError, DecryptionRefused
from langmem_plugin.settings import Settings
from tests.cases import for_each

HERE = Place("langmem_message", "payload", "+972501234567", (7, 1))


def settings_with(*keys, **more):
    return Settings(keys=",".join(keys), **more)


@pytest.fixture
def key():
    return new_master_key()


@pytest.mark.spec("P-1")
def test_what_is_encrypted_is_read_again_also_by_another_process(database_url, key):
    with open_database(settings_with(key), database_url) as database:
        stored = database.encryption.cipher.encrypt(HERE, b"chicken")
    assert b"chicken" not in stored
    with open_database(settings_with(key), database_url) as database, database.read() as connection:
        assert encryption_of(connection).cipher.decrypt(HERE, stored) == b"chicken"


@pytest.mark.spec("P-1")
@for_each(
    "elsewhere",
    [
        HERE._replace(owner="+972507654321"),
        HERE._replace(rest=(7, 2)),
        HERE._replace(rest=(71,)),
        HERE._replace(column="message_id"),
        HERE._replace(table="langmem_value"),
    ],
)
def test_a_value_that_was_copied_to_another_place_is_refused(database_url, key, elsewhere):
    with open_database(settings_with(key), database_url) as database:
        cipher = database.encryption.cipher
        cipher.encrypt(elsewhere, b"")  # the other one has a key too
        with pytest.raises(DecryptionRefused):
            cipher.decrypt(elsewhere, cipher.encrypt(HERE, b"chicken"))


@pytest.mark.spec("P-1")
@given(st.binary(max_size=60), st.integers(0, 200), st.integers(1, 255))
def test_a_changed_byte_is_refused(plain, at, change):
    key = OwnerKey(b"1234", b"k" * 32)
    cipher = RowCipher(lambda _: key, lambda _, key_id: key if key_id == key.key_id else None)
    stored = bytearray(cipher.encrypt(HERE, plain))
    stored[at % len(stored)] ^= change
    with pytest.raises(DecryptionRefused):
        cipher.decrypt(HERE, bytes(stored))


@pytest.mark.spec("P-1")
def test_plaintext_is_refused_where_there_are_keys(database_url, key):
    with open_database(settings_with(key), database_url) as database, pytest.raises(DecryptionRefused, match="encrypt"):
        database.encryption.cipher.decrypt(HERE, b"chicken")


@pytest.mark.spec("P-1")
def test_without_the_keys_the_database_does_not_open(database_url, key):
    open_database(settings_with(key), database_url).close()
    with pytest.raises(ConfigurationError, match="LANGMEM_KEYS"):
        open_database(Settings(), database_url)


@pytest.mark.spec("P-1")
def test_other_keys_are_refused(database_url, key):
    with open_database(settings_with(key), database_url) as database:
        database.encryption.cipher.encrypt(HERE, b"chicken")
    with pytest.raises(ConfigurationError, match="lacks"):
        open_database(settings_with(new_master_key()), database_url)
    name = key.partition(":")[0]
    impostor = f"{name}:{new_master_key().partition(':')[2]}"
    with pytest.raises(ConfigurationError, match="not the one"):
        open_database(settings_with(impostor), database_url)


@pytest.mark.spec("P-1")
def test_keys_are_rotated_while_the_database_is_in_use(database_url, key):
    newer = new_master_key()
    with open_database(settings_with(key), database_url) as before:
        stored = before.encryption.cipher.encrypt(HERE, b"chicken")
        with open_database(settings_with(newer, key), database_url) as during:
            assert list(during.encryption.rotate()) == [1]
            assert before.encryption.cipher.decrypt(HERE, stored) == b"chicken"
    with open_database(settings_with(newer), database_url) as after:
        assert after.encryption.cipher.decrypt(HERE, stored) == b"chicken"
        assert after.encryption.status().wrapped == {newer.partition(":")[0]: 1}


@pytest.mark.spec("P-1", "P-4")
def test_a_shredded_key_opens_nothing_in_any_process(database_url, key):
    with (
        open_database(settings_with(key), database_url) as one,
        open_database(settings_with(key), database_url) as other,
    ):
        stored = one.encryption.cipher.encrypt(HERE, b"chicken")
        neighbour = HERE._replace(owner="+972507654321")
        of_neighbour = one.encryption.cipher.encrypt(neighbour, b"fish")
        assert one.encryption.shred(HERE.owner)
        for database in (one, other):
            with pytest.raises(DecryptionRefused, match="erased"):
                database.encryption.cipher.decrypt(HERE, stored)
            assert database.encryption.cipher.decrypt(neighbour, of_neighbour) == b"fish"


@pytest.mark.spec("P-1")
def test_the_key_file_holds_no_phone_and_no_key_in_plain(tmp_path, key):
    with open_database(settings_with(key), f"sqlite:///{tmp_path}/memory.db") as database:
        database.encryption.cipher.encrypt(HERE, b"chicken")
        secret = database.encryption._key_to_write(HERE.owner).secret
    for file in tmp_path.iterdir():
        assert HERE.owner[1:].encode() not in file.read_bytes()
        assert secret not in file.read_bytes()
        assert file.stat().st_mode & 0o077 == 0
    assert sqlite3.connect(tmp_path / "memory.db.keys").execute(
        "SELECT count(*) FROM langmem_owner_key"
    ).fetchone() == (1,)


@pytest.mark.spec("P-1")
def test_a_database_with_plain_rows_is_not_taken_for_an_encrypted_one(database_url, key):
    with open_database(Settings(), database_url) as database, database.write() as connection:
        connection.exec_driver_sql("INSERT INTO langmem_memory_owner VALUES ('+1', 0, 0, 'salt')")
    with pytest.raises(ConfigurationError, match="langmem import"):
        open_database(settings_with(key), database_url)
    open_database(Settings(), database_url).close()


@pytest.mark.spec("P-1")
def test_another_key_database_is_refused(tmp_path, key):
    url = f"sqlite:///{tmp_path}/memory.db"
    open_database(settings_with(key), url).close()
    with pytest.raises(ConfigurationError, match="key_database"):
        open_database(settings_with(key, key_database=f"sqlite:///{tmp_path}/other.keys"), url)


@pytest.mark.spec("P-1")
@for_each("wrong", ["", "abc", "k1:short", "K1:" + "A" * 43, ":" + "A" * 43, "k1:" + "ש" * 43])
def test_what_is_no_key_is_refused_and_not_shown(wrong):
    with pytest.raises(ConfigurationError, match="LANGMEM_KEYS") as raised:
        MasterKeys.of(wrong)
    assert not wrong or wrong not in str(raised.value)


@pytest.mark.spec("P-1")
def test_two_keys_of_one_name_are_refused(key):
    with pytest.raises(ConfigurationError, match="twice"):
        MasterKeys.of(f"{key},{key}")


@pytest.mark.spec("P-1")
def test_keys_are_never_shown(key):
    assert key.partition(":")[2] not in repr(settings_with(key))
    assert secrets.compare_digest(repr(MasterKeys.of(key).newest), f"MasterKey(name='{key.partition(':')[0]}')")
