"""The WhatsApp example over real HTTP: Meta's webhooks in, calls of its Graph API out."""

import json

import pytest

from langmem_plugin.agent.replying.reply_texts import ENGLISH
from tests.cases import for_each
from tests.examples.conftest import http
from tests.examples.payloads import NUMBER_ID, signed_by_meta, whatsapp, whatsapp_message

pytestmark = pytest.mark.slow

ERIN, JASON = "972501234567", "972501111111"


@pytest.fixture(scope="module")
def url(one_worker):
    return one_worker("whatsapp").url


@pytest.mark.spec("U-1")
def test_the_webhook_is_verified_by_its_token_alone(url):
    asked = {"hub.mode": "subscribe", "hub.challenge": "1158201444", "hub.verify_token": "verify-me"}

    verified = http.get(url, params=asked)

    assert (verified.status_code, verified.text) == (200, "1158201444")
    assert http.get(url, params={**asked, "hub.verify_token": "é"}).status_code == 403
    assert http.get(url).status_code == 403


@pytest.mark.spec("U-1")
def test_a_webhook_that_meta_did_not_sign_is_refused(url, outside):
    right = whatsapp(whatsapp_message(ERIN, "wamid.forged", text={"body": "<forged>"}))
    signature = right["headers"]["x-hub-signature-256"]

    for wrong in ("", "sha256=", signature[:-1], signature.upper(), signature.removeprefix("sha256="), "sha256=é"):
        headers = {"x-hub-signature-256": wrong.encode("latin-1")}
        assert http.post(url, content=right["content"], headers=headers).status_code == 403
    assert http.post(url, content=right["content"]).status_code == 403
    assert http.post(url, content=right["content"] + b" ", headers=right["headers"]).status_code == 403
    assert outside.asked["<forged>"] == 0


@pytest.mark.spec("C-21", "U-1")
@for_each(
    ("name", "content"),
    [
        ("text", {"text": {"body": "<hello>"}}),
        ("template button", {"button": {"payload": "yes-1", "text": "<hello>"}}),
        ("button", {"interactive": {"type": "button_reply", "button_reply": {"id": "1", "title": "<hello>"}}}),
        (
            "list",
            {"interactive": {"type": "list_reply", "list_reply": {"id": "1", "title": "<hello>", "description": ""}}},
        ),
        ("picture", {"image": {"id": "media-1", "mime_type": "image/png", "sha256": "…", "caption": "<hello>"}}),
    ],
)
def test_a_message_is_answered_once_however_often_it_is_delivered(url, outside, name, content):
    webhook = whatsapp(whatsapp_message(ERIN, f"wamid.{name}", **content))

    assert [http.post(url, **webhook).status_code for _ in range(3)] == [200] * 3

    assert outside.texts(ERIN) == ["You said <hello>"]
    assert outside.asked["<hello>"] == 1
    assert (f"/graph/{NUMBER_ID}/messages", "Bearer cloud-token") in outside.requests


@pytest.mark.spec("U-1")
def test_a_picture_is_fetched_with_the_token_and_shown_to_the_model(url, outside):
    http.post(url, **whatsapp(whatsapp_message(ERIN, "wamid.seen", image={"id": "media-2", "mime_type": "image/png"})))

    assert [each for each in outside.requests if "media-2" in each[0]] == [
        ("/graph/media-2", "Bearer cloud-token"),
        ("/file/media-2", "Bearer cloud-token"),
    ]
    assert "data:image/png;base64,iVBORw0KGgow" in json.dumps(outside.prompts[-1])


@pytest.mark.spec("U-1", "C-21")
def test_a_picture_whose_file_has_no_address_is_said_to_be_gone_and_holds_up_nobody(url, outside):
    picture = whatsapp_message(ERIN, "wamid.nameless", image={"id": "nameless", "mime_type": "image/png"})
    text = whatsapp_message(JASON, "wamid.beside", text={"body": "<beside>"})

    assert http.post(url, **whatsapp(picture, text)).status_code == 200

    assert outside.texts(ERIN) == [ENGLISH.picture_gone]
    assert outside.texts(JASON) == ["You said <beside>"]


@pytest.mark.spec("U-1", "C-21")
def test_what_cannot_be_opened_is_said_so_once_and_without_the_model(url, outside):
    webhook = whatsapp(
        whatsapp_message(ERIN, "wamid.voice", audio={"id": "1", "mime_type": "audio/ogg", "voice": True})
    )

    for _ in range(2):
        assert http.post(url, **webhook).status_code == 200

    assert outside.texts(ERIN) == [ENGLISH.cannot_open]
    assert outside.prompts == []


@pytest.mark.spec("U-1")
def test_what_is_no_message_is_ignored(url, outside):
    status = {"id": "wamid.out", "status": "delivered", "timestamp": "1739321024", "recipient_id": ERIN}
    reaction = whatsapp_message(ERIN, "wamid.like", reaction={"message_id": "wamid.out", "emoji": "👍"})

    assert http.post(url, **whatsapp(statuses=[status])).status_code == 200
    assert http.post(url, **whatsapp(reaction)).status_code == 200

    assert outside.sent == []


@pytest.mark.spec("U-1")
@for_each(
    "body",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"null",
        b"{}",
        b'{"entry": 1}',
        b"[" * 5_000,
    ],
)
def test_a_payload_that_is_none_is_a_bad_request(url, body):
    assert http.post(url, **signed_by_meta(body)).status_code == 400


@pytest.mark.spec("C-21", "C-5")
@for_each("status", [429, 500, 503])
def test_an_answer_that_could_not_be_sent_is_sent_when_the_webhook_comes_again(url, outside, status):
    webhook = whatsapp(whatsapp_message(ERIN, f"wamid.unsent{status}", text={"body": "<unsent>"}))
    outside.failing = [status]

    assert [http.post(url, **webhook).status_code for _ in range(3)] == [503, 200, 200]

    assert outside.texts(ERIN) == ["You said <unsent>"]
    assert outside.asked["<unsent>"] == 1


@pytest.mark.spec("U-1")
def test_an_answer_that_will_never_be_taken_is_not_tried_for_days(url, outside):
    outside.failing = [400]

    assert http.post(url, **whatsapp(whatsapp_message(ERIN, "wamid.no", text={"body": "<no>"}))).status_code == 200

    assert outside.sent == []


@pytest.mark.spec("U-1", "C-13")
@for_each("text", ["\ud800", "a\x00b", "x" * 64_000, "[" * 5_000, "\u202e\u200f", "   "])
def test_whatever_is_texted_is_answered(url, outside, text):
    webhook = whatsapp(whatsapp_message(ERIN, f"wamid.{hash(text)}", text={"body": text}))

    assert http.post(url, **webhook).status_code == 200

    assert len(outside.texts(ERIN)) == 1


@pytest.mark.spec("U-1")
def test_what_is_written_in_one_go_is_one_turn(url, outside):
    messages = [whatsapp_message(ERIN, f"wamid.many{n}", text={"body": f"<many {n}>"}) for n in range(3)]

    assert http.post(url, **whatsapp(*messages)).status_code == 200
    assert http.post(url, **whatsapp(messages[1])).status_code == 200

    assert outside.texts(ERIN) == ["You said <many 2>"]
    assert "<many 0>\\n<many 1>\\n<many 2>" in json.dumps(outside.prompts[-1])


@pytest.mark.spec("C-20")
def test_who_shows_no_phone_is_answered_by_their_id_and_nobody_holds_up_the_others(url, outside):
    hidden = whatsapp_message(ERIN, "wamid.hidden", text={"body": "<hidden>"}) | {"from_user_id": "US.13491208655"}
    empty = whatsapp_message("", "wamid.empty", text={"body": "<empty>"}) | {"from_user_id": "IL.a8Bc9"}
    nobody = whatsapp_message(ERIN, "wamid.nobody", text={"body": "<nobody>"})
    del hidden["from"], nobody["from"]
    content = whatsapp(whatsapp_message(ERIN, "wamid.shown", text={"body": "<shown>"}), hidden, empty, nobody)

    assert http.post(url, **content).status_code == 200
    assert outside.asked["<nobody>"] == 0
    assert outside.texts("US.13491208655") == ["You said <hidden>"]
    assert outside.texts("IL.a8Bc9") == ["You said <empty>"]
    assert outside.texts(ERIN) == ["You said <shown>"]


@pytest.mark.spec("C-20")
def test_a_number_that_changed_takes_the_person_along(url, outside):
    old, new = "972507000001", "972507000002"
    http.post(url, **whatsapp(whatsapp_message(old, "wamid.b1", text={"body": "/remember I own a canoe"})))
    system = {"type": "user_changed_number", "body": "changed", "wa_id": new}
    assert http.post(url, **whatsapp(whatsapp_message(old, "wamid.b2", system=system))).status_code == 200
    for at, who in enumerate((old, new)):
        http.post(url, **whatsapp(whatsapp_message(who, f"wamid.list{at}", text={"body": "/memories"})))
    assert "canoe" in outside.texts(new)[-1]
    assert "canoe" not in outside.texts(old)[-1]
