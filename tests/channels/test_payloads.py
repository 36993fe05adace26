"""Each kind of update that the providers document, delivered twice, on each engine: what the person gets."""

import asyncio
import base64
import itertools
from pathlib import Path

import pytest
import yaml

from langmem_plugin.channels import TryLater, telegram, twilio, whatsapp
from langmem_plugin.conversation.quoted_and_own_words import Quoted
from tests.cases import for_each
from tests.log_events import events

NUMBERS = itertools.count(1_000)


def fixtures(provider):
    return yaml.safe_load((Path(__file__).parent / f"{provider}.yaml").read_text("utf-8"))


async def deliver(webhook, read):
    if (pending := await webhook.receive(read())) is not None:
        await pending()


def expected(fixture):
    return [*fixture["gets"], *itertools.chain(*fixture.get("others", {}).values())]


def alike(texts, wanted):
    return len(texts) == len(wanted) and all(
        text == want or (not want.startswith("re:") and want in text) for text, want in zip(texts, wanted, strict=True)
    )


def got(webhook, caplog, fixture, *deliveries):
    """What is not as the fixture says, of deliveries that each come twice."""
    webhook.provider.sent.clear()
    caplog.clear()

    async def twice():
        for read in deliveries:
            for _ in range(2):
                await deliver(webhook, read)

    asyncio.run(twice())
    texts = webhook.provider.texts()
    logged = fixture.get("logged", "") in caplog.text
    return [] if alike(texts, expected(fixture)) and logged else [(fixture["name"], texts, logged)]


@pytest.mark.slow
@pytest.mark.spec("U-1", "C-21")
def test_whatsapp(webhook, caplog, clock):
    wrong = []
    for fixture in fixtures("whatsapp"):
        phone = f"97250123{next(NUMBERS)}"
        wrong += got(webhook, caplog, fixture, *_of_whatsapp(fixture, phone, clock()))
    assert wrong == []


@pytest.mark.slow
@pytest.mark.spec("U-1", "C-21")
def test_telegram(webhook, caplog, clock):
    wrong = []
    for fixture in fixtures("telegram"):
        number = next(NUMBERS)
        wrong += got(webhook, caplog, fixture, *_of_telegram(fixture, number, clock()))
        topics = {message.to.get("message_thread_id") for message, _ in webhook.provider.sent}
        assert topics <= {fixture.get("topic")}, fixture["name"]
    assert wrong == []


@pytest.mark.spec("U-1", "C-21")
def test_twilio(webhook, caplog):
    wrong = []
    for fixture in fixtures("twilio"):
        wrong += got(webhook, caplog, fixture, *_of_twilio(fixture, next(NUMBERS)))
    assert wrong == []


@pytest.mark.slow
@pytest.mark.spec("C-21", "C-1")
def test_all_of_them_at_once_each_delivered_twice_at_once(webhook, clock):
    """Messages are told apart by the `to` that their answers go to."""
    now = clock()
    every = [
        *((each, [*_of_whatsapp(each, f"97250123{next(NUMBERS)}", now)]) for each in fixtures("whatsapp")),
        *((each, [*_of_telegram(each, next(NUMBERS), now)]) for each in fixtures("telegram")),
        *((each, [*_of_twilio(each, next(NUMBERS))]) for each in fixtures("twilio")),
    ]

    async def play(deliveries):
        for read in deliveries:
            await asyncio.gather(deliver(webhook, read), deliver(webhook, read))

    async def all_of_them():
        await asyncio.gather(*(play(deliveries) for _, deliveries in every))
        await webhook.close()

    asyncio.run(all_of_them())

    wrong = []
    for fixture, deliveries in every:
        to = [message.to for read in deliveries for message in read()]
        texts = [text for message, text in webhook.provider.sent if message.to in to]
        wrong += [] if alike(texts, expected(fixture)) else [(fixture["name"], texts)]
    assert wrong == []


@pytest.mark.spec("U-1")
@for_each(("provider", "least"), [("whatsapp", 25), ("telegram", 20), ("twilio", 12)])
def test_many_kinds_of_update_are_known(provider, least):
    assert len({each["name"] for each in fixtures(provider)}) >= least


def _of_whatsapp(fixture, phone, now):
    def read(messages):
        entry = {
            "metadata": {"phone_number_id": "9"},
            "contacts": [{"profile": {"name": "Erin"}, "wa_id": phone}],
            "messages": messages,
            "statuses": fixture.get("statuses", []),
        }
        return lambda: whatsapp.incoming({"entry": [{"changes": [{"field": "messages", "value": entry}]}]})

    for key in ("messages", "then") if "then" in fixture else ("messages",):
        found = []
        for given in fixture.get(key, []):
            at = int(now.timestamp()) + int(given.pop("timestamp", 0))
            about = {"from": phone, "id": f"wamid.{next(NUMBERS)}", "timestamp": str(at), "type": next(iter(given))}
            found.append({name: value for name, value in {**about, **given}.items() if value is not None})
        yield read(found)


def _of_twilio(fixture, number):
    given = {"MessageSid": f"SM{number}", "AccountSid": "AC0", "To": "+15005550007", "From": "", **fixture["form"]}
    given["From"] += f"+1415867{number}"
    yield lambda: twilio.incoming(given)


def _of_telegram(fixture, number, now):
    for update in (fixture, fixture.get("then", {})):
        filled = {name: value for name, value in update.items() if name in {"channel_post", "callback_query"}}
        for name in ("message", "edited_message", "message_reaction"):
            if name in update:
                message = dict(update[name])
                in_group = message.pop("group", False)
                chat = (
                    {"id": -1_000_000 - number, "type": "supergroup"} if in_group else {"id": number, "type": "private"}
                )
                sender = {"id": number, "is_bot": False, "first_name": "Erin", "last_name": "Levi"}
                about = {"message_id": number, "date": int(now.timestamp()), "chat": chat, "from": sender}
                filled[name] = {**about, **message}
        if filled:
            yield lambda update=filled: telegram.incoming(update, "family_bot")


@pytest.mark.spec("U-1", "C-21")
@for_each(("chat", "user"), [(42, {"user": {"id": 42, "is_bot": False, "first_name": "Erin"}}), (-42, {})])
def test_a_thumb_that_is_added_to_other_signs_of_telegram_answers_what_it_stands_below(chat, user):
    heart, thumb = ({"type": "emoji", "emoji": each} for each in "❤👍")
    sign = {"chat": {"id": chat}, "message_id": 7, "date": 1767225600, "old_reaction": [heart], **user}

    [thumbed] = telegram.incoming({"update_id": 9, "message_reaction": {**sign, "new_reaction": [heart, thumb]}})

    assert (thumbed.text, thumbed.reaction, thumbed.quoted) == ("👍", True, Quoted("7", None))
    assert (thumbed.who, thumbed.to, thumbed.sender) == (f"telegram:{chat}", {"chat_id": chat}, None)
    assert thumbed.message_id == "reaction 9"  # the number of the message below which it stands is that one's


@pytest.mark.spec("C-21")
@for_each(
    ("provider", "status", "body"),
    [
        (whatsapp, 400, {"error": {"code": 130429}}),
        (whatsapp, 400, {"error": {"code": "131056"}}),
        (whatsapp, 400, {"error": {"code": 190}}),
        (whatsapp, 403, {"error": {"code": 368}}),
        (telegram, 400, {"ok": False, "parameters": {"retry_after": 3}}),
        (telegram, 429, {"ok": False, "error_code": 429}),
        (twilio, 400, {"code": 21611}),
        (twilio, 400, {"code": "63018"}),
    ],
)
def test_a_text_that_is_refused_for_a_while_is_sent_later(provider, status, body):
    with pytest.raises(TryLater):
        provider.sent(status, body)
    assert provider.sent(400, {"error": {"code": 100}, "code": 21211}) is None
    assert provider.sent(400, {"error": {"code": [100]}, "code": [21211]}) is None


@pytest.mark.spec("C-21")
@for_each(
    ("text", "gets"),
    [
        *((f"/{text}", []) for text in ("8ball@other_bot", "set@other_bot:5", "set@other_bot-5", "go@other_bot(now)")),
        ("/8ball@family_bot", ["/8ball"]),
        ("\u200f/set@\u200efamily_bot:5", ["/set:5"]),
    ],
)
def test_a_command_of_any_shape_is_for_the_bot_that_it_names(text, gets):
    about = {"message_id": 1, "date": 1_772_614_800, "chat": {"id": -5, "type": "group"}, "from": {"id": 5}}
    read = telegram.incoming({"update_id": 1, "message": {**about, "text": text}}, "family_bot")
    assert [each.text for each in read] == gets


@pytest.mark.spec("P-9")
@for_each(
    ("provider", "body"),
    [
        (whatsapp, {"error": {"code": 131030, "message": "(#131030) Recipient 972501234567 not in allowed list"}}),
        (twilio, {"code": 21211, "message": "The 'To' number +972 50-123-4567 is not a valid phone number."}),
        (telegram, {"ok": False, "error_code": 400, "description": "Bad Request: chat 972501234567 not found"}),
    ],
)
def test_what_is_logged_of_a_refusal_names_no_phone(provider, body, caplog):
    assert provider.sent(400, body) is None
    assert not any(each in caplog.text for each in ("972501234567", "50-123-4567"))
    assert "67" in caplog.text
    assert events(caplog) == ["reply.refused"]


@pytest.mark.spec("P-9")
def test_what_is_logged_of_a_message_that_was_not_delivered_names_no_phone(caplog):
    message_id = f"wamid.{base64.b64encode(b'972501234567').decode()}"
    error = {"code": 131026, "title": "Message undeliverable to +972501234567"}
    status = {"id": message_id, "status": "failed", "recipient_id": "972501234567", "errors": [error]}
    nobody = {"id": message_id, "type": "text", "text": {"body": "who am I?"}}
    value = {"metadata": {"phone_number_id": "9"}, "statuses": [status], "messages": [nobody]}

    assert whatsapp.incoming({"entry": [{"changes": [{"field": "messages", "value": value}]}]}) == []

    assert "972501234567" not in caplog.text
    assert message_id not in caplog.text
    assert "131026" in caplog.text
    assert events(caplog) == ["reply.not_delivered", "webhook.message_skipped"]
