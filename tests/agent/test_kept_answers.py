"""Answers are kept for a second delivery, and nothing that is kept lets anybody in."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.agent.replying.reply_texts import ENGLISH
from langmem_plugin.conversation.storage.codec import decompress
from langmem_plugin.database.conversation_tables import incoming
from langmem_plugin.database.encryption.encrypted_columns import REPLY
from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.facts.redacted_text import MASK, without_secrets
from tests.agent.test_exactly_once import Echo
from tests.cases import for_each
from tests.people.conftest import redeemed

ERIN, TELEGRAM = "+972501234567", "telegram:4242777"


@pytest.fixture(params=["with keys", "without keys"])
def memory(database_url, offline_model, request):
    keys = new_master_key() if request.param == "with keys" else None
    settings = Settings(keys=keys, page_address="https://bot.example", sweep_every=None, extraction="off")
    with PhoneMemory(database_url, settings=settings, embeddings=offline_model) as opened:
        yield opened


def kept(memory):
    """All answers as they are in the table, decrypted."""
    with memory.database.read() as connection:
        rows = connection.execute(select(incoming.c.thread, incoming.c.message_id, incoming.c.reply)).all()
        plain = [REPLY.decrypted(connection, (row.thread, row.message_id), row.reply) for row in rows]
    return b"\n".join(decompress(each)[1] for each in plain).decode(errors="replace")


@pytest.mark.spec("P-1", "C-21")
@for_each(
    ("text", "secret"),
    [
        ("/link", r"/link (\S+)"),
        ("/memories", r"/me/in/(\S+)"),
        ("/remember my password is Hunterzz", "(Hunterzz)"),
        ("/remember la contraseña del wifi es Hunterzz", "(Hunterzz)"),
        ("/remember my card is 4111 1111 1111 1111", "(4111 1111)"),
        ("the alarm code is 447711", "(447711)"),
    ],
)
def test_no_secret_of_an_answer_is_kept_and_a_second_delivery_says_so(memory, text, secret):
    memory.service.remember(ERIN, "Erin likes tea")
    echo = Echo(memory)
    first = memory.reply(echo.graph, ERIN, text, message_id="1")
    told = re.search(secret, first)[1]
    assert told not in kept(memory)
    again = memory.reply(echo.graph, ERIN, text, message_id="1")
    assert again.repeated
    assert told not in again
    assert MASK in again
    assert again.count("\n") > 0


@pytest.mark.spec("C-21")
def test_an_answer_without_a_secret_is_given_again_as_it_was(memory):
    memory.service.remember(ERIN, "Erin likes tea since 2024-2025")
    echo = Echo(memory)
    for text in ("/help", "/search tea", "what is 1234-5678?"):
        first = memory.reply(echo.graph, ERIN, text, message_id=text)
        assert memory.reply(echo.graph, ERIN, text, message_id=text) == first
        assert ENGLISH.told_once not in first


@pytest.mark.spec("C-20", "P-1")
def test_a_code_still_links_though_the_answer_with_it_is_kept_masked(memory):
    code = str(memory.reply(Echo(memory).graph, ERIN, "/link", message_id="1")).split("/link ")[1].split()[0]
    assert redeemed(memory, TELEGRAM, code)


@pytest.mark.slow
@pytest.mark.spec("P-1")
@given(
    code=st.from_regex(r"\A[0-9BCDFGHJKMNPQRSTVWXYZ]{4}-[0-9BCDFGHJKMNPQRSTVWXYZ]{4}\Z"), before=st.text(max_size=20)
)
def test_whatever_stands_around_a_code_and_a_token_goes_masked(code, before):
    token = "langmem_0123456789ab_" + "a" * 64
    masked = without_secrets(f"{before}\nwrite /link {code}\nhttps://bot.example/me/in/{token} soon")
    assert code not in masked.replace(before, "")
    assert "a" * 64 not in masked
