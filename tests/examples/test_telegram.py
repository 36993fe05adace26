"""The Telegram example over real HTTP: a bot's updates in, calls of sendMessage out."""

import json

import pytest

from langmem_plugin.agent.replying.reply_texts import ENGLISH
from tests.cases import for_each
from tests.examples.conftest import http
from tests.examples.payloads import telegram, telegram_update

pytestmark = pytest.mark.slow

ERIN, FAMILY = 7_001, -1_001_234_567_890


@pytest.fixture(scope="module")
def url(one_worker):
    return one_worker("telegram").url


@pytest.mark.spec("U-1")
@for_each("secret", [None, "", "hook-secre", "hook-secret ", "é"])
def test_an_update_without_the_secret_is_refused(url, outside, secret):
    update = telegram(ERIN, 1, text="<forged>")
    headers = {} if secret is None else {"x-telegram-bot-api-secret-token": secret.encode("latin-1") + b"x"}

    assert http.post(url, json=update["json"], headers=headers).status_code == 403

    assert outside.asked["<forged>"] == 0


@pytest.mark.spec("C-21", "U-1")
@for_each("content", [{"text": "<hello>"}, {"photo": [{"file_id": "1"}], "caption": "<hello>"}])
def test_a_message_is_answered_once_however_often_it_is_delivered(url, outside, content):
    update = telegram(ERIN, 100 + len(content), **content)

    assert [http.post(url, **update).status_code for _ in range(3)] == [200] * 3

    assert outside.sent == [(ERIN, "You said <hello>")]
    assert outside.asked["<hello>"] == 1
    assert ("/telegram/bot12:bot/sendMessage", None) in outside.requests


@pytest.mark.spec("C-21", "U-1")
def test_a_picture_whose_file_has_no_path_is_said_to_be_gone(url, outside):
    assert http.post(url, **telegram(ERIN, 31, photo=[{"file_id": "nameless"}])).status_code == 200

    assert outside.texts(ERIN) == [ENGLISH.picture_gone]


@pytest.mark.spec("C-21", "C-1", "U-1")
def test_the_same_message_id_in_another_chat_is_another_message(url, outside):
    for chat in (ERIN, ERIN + 1, FAMILY):
        http.post(url, **telegram(chat, 200, text=f"<{chat}>"))

    assert outside.sent == [(chat, f"You said <{chat}>") for chat in (ERIN, ERIN + 1, FAMILY)]


@pytest.mark.spec("C-20")
def test_a_group_that_became_a_supergroup_keeps_its_memory(url, outside):
    group, supergroup = -440, -100440
    http.post(url, **telegram(group, 1, text="/remember We eat at eight"))
    http.post(url, **telegram(group, 2, migrate_to_chat_id=supergroup))
    http.post(url, **telegram(supergroup, 1, text="/memories"))

    assert "We eat at eight" in outside.texts(supergroup)[-1]


@pytest.mark.spec("U-1")
def test_a_group_is_answered_in_the_group_and_its_commands_may_name_the_bot(url, outside):
    jason = {"id": 7_002, "is_bot": False, "first_name": "Jason", "last_name": "Levi", "username": "jason"}

    http.post(url, **telegram(FAMILY, 300, sender=jason, text="/remember@family_bot We eat at eight"))
    http.post(url, **telegram(FAMILY, 301, sender=jason, text="<when do we eat?>"))

    assert outside.sent == [
        (FAMILY, "✅ Remembered: We eat at eight"),
        (FAMILY, "You said <when do we eat?>"),
    ]
    assert "We eat at eight" in json.dumps(outside.prompts[-1])


@pytest.mark.spec("U-1", "C-21")
def test_a_voice_message_is_said_to_be_unreadable_once_and_a_sticker_in_a_group_is_let_be(url, outside):
    for _ in range(2):
        http.post(url, **telegram(ERIN, 400, voice={"file_id": "1", "duration": 3}))
    http.post(url, **telegram(FAMILY, 401, sticker={"file_id": "1"}))

    assert outside.sent == [(ERIN, ENGLISH.cannot_open)]


@pytest.mark.spec("U-1")
@for_each(
    "update",
    [
        {"update_id": 1, "my_chat_member": {"chat": {"id": ERIN}}},
        telegram(FAMILY, 501, new_chat_members=[{"id": 1}])["json"],
        telegram(ERIN, 502, pinned_message={"message_id": 1})["json"],
        {"update_id": 1, "message": {"text": "<no chat>"}},
    ],
)
def test_what_is_no_new_message_is_ignored(url, outside, update):
    assert http.post(url, **telegram_update(update)).status_code == 200

    assert outside.sent == []


@pytest.mark.spec("U-1")
@for_each("body", [b"", b"{", b"[]", b"\xff", b"[" * 5_000, b'{"message": {"date": 1e999'])
def test_a_payload_that_is_none_is_a_bad_request(url, body):
    headers = telegram_update({})["headers"]

    assert http.post(url, content=body, headers=headers).status_code == 400


@pytest.mark.spec("U-1")
def test_a_new_chat_begins_with_what_can_be_asked(url, outside):
    http.post(url, **telegram(ERIN, 600, text="/start"))

    assert "/remember" in outside.texts(ERIN)[0]


@pytest.mark.spec("U-1")
def test_a_long_answer_goes_out_in_several_messages_and_loses_nothing(url, outside):
    long = " ".join(f"word{number}" for number in range(1_000))

    http.post(url, **telegram(ERIN, 700, text=f"<{long}>"))

    texts = outside.texts(ERIN)
    assert len(texts) == 2
    assert max(map(len, texts)) <= 4_096
    assert " ".join(texts) == f"You said <{long}>"
