"""Twenty people text at once, every webhook comes twice, and a worker is killed: one answer each, in order, to no other."""

import asyncio
import itertools
import re
from collections import Counter
from datetime import timedelta

import httpx
import pytest
from sqlalchemy import func, select

from langmem_plugin import SessionManager
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import incoming
from tests.examples import payloads
from tests.examples.conftest import ONE_REQUEST_EACH

pytestmark = [pytest.mark.both_engines, pytest.mark.slow]

PEOPLE, MESSAGES = 12, 4


def named(person, number):
    return f"<{person} says {number}>"


class WhatsApp:
    example = "whatsapp"

    def webhook(self, person, number):
        text = {"body": named(person, number)}
        return payloads.whatsapp(payloads.whatsapp_message(self.to(person), f"wamid.{person}.{number}", text=text))

    def to(self, person):
        return f"9725012345{person:02}"

    def key(self, person):
        return f"+{self.to(person)}"


class Telegram:
    example = "telegram"

    def webhook(self, person, number):
        return payloads.telegram(self.to(person), number + 1, text=named(person, number))

    def to(self, person):
        return 7_000 + person

    def key(self, person):
        return f"telegram:{self.to(person)}"


class Delivering:
    """A provider that hands every webhook over twice, once to each worker, and knows which it got no answer to."""

    def __init__(self, channel, outside, workers, url):
        self._channel = channel
        self._outside = outside
        self._dies, self._lives = workers
        self._database = Database(url, timeout=timedelta(minutes=1))
        self._arrived = {}
        self.failed = set()

    async def play(self):
        """All text; one worker is killed in the middle of its runs; what failed is delivered again."""
        outside = self._outside
        async with httpx.AsyncClient(timeout=240, limits=ONE_REQUEST_EACH) as self._client:
            watching = asyncio.create_task(self._watch())
            outside.pause = 0.02
            texting = asyncio.gather(*(self._text(person) for person in range(PEOPLE)))
            await true(lambda: len(outside.sent) >= 10)
            outside.held.add("dies")
            deliveries = await texting
            await true(lambda: outside.waiting["dies"] >= 3 and self._all_is_known())
            self._dies.kill()
            outside.held.clear()
            await asyncio.gather(*itertools.chain(*deliveries))
            watching.cancel()
            again, self.failed = self.failed, set()
            await asyncio.gather(*(self._deliver(self._lives, *each) for each in again))
            # What a busy worker acknowledged unanswered is answered later.
            await true(lambda: len(outside.sent) >= PEOPLE * MESSAGES)
        self._database.close()
        return again

    async def _text(self, person):
        """The next message comes when the one before has arrived; the second delivery may be late."""
        deliveries = []
        for number in range(MESSAGES):
            workers = [self._dies, self._lives] if (person + number) % 2 else [self._lives, self._dies]
            deliveries.append(asyncio.create_task(self._deliver(workers[0], person, number)))
            await true(lambda number=number: self._arrived.get(self._channel.key(person), 0) > number)
            deliveries.append(asyncio.create_task(self._deliver(workers[1], person, number)))
        return deliveries

    async def _deliver(self, worker, person, number):
        try:
            response = await self._client.post(worker.url, **self._channel.webhook(person, number))
            response.raise_for_status()
        except (httpx.TransportError, httpx.HTTPStatusError):
            self.failed.add((person, number))

    async def _watch(self):
        while True:
            self._arrived = await asyncio.to_thread(self._counted)
            await asyncio.sleep(0.02)

    def _counted(self):
        of_each = select(incoming.c.thread, func.count()).group_by(incoming.c.thread)
        with self._database.read() as connection:
            return dict(connection.execute(of_each).all())

    def _all_is_known(self):
        """Nothing that the worker sent is unconfirmed: what is killed between the two is sent again, by necessity."""
        sent = {text for _, text in self._outside.sent}
        if any(name == "dies" and f"You said {about}" not in sent for name, about in self._outside.thought):
            return False
        with self._database.read() as connection:
            confirmed = connection.execute(select(func.count()).where(incoming.c.sent)).scalar()
        return confirmed == len(self._outside.sent)


async def true(condition, seconds=180):
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - other threads and processes make it true
            await asyncio.sleep(0.02)


@pytest.mark.spec("C-21", "C-9", "C-5", "C-1")
@pytest.mark.parametrize(
    ("channel", "database_url"),
    [(WhatsApp(), "sqlite"), (Telegram(), "postgresql")],
    indirect=["database_url"],
    ids=["whatsapp-sqlite", "telegram-postgresql"],
)
def test_every_message_is_answered_once_in_order_though_delivered_twice_and_a_worker_is_killed(
    channel, workers, outside, database_url
):
    delivering = Delivering(channel, outside, workers(channel.example, "dies", "lives"), database_url)

    again = asyncio.run(delivering.play())

    assert again
    assert delivering.failed == set()
    texts = {person: [named(person, number) for number in range(MESSAGES)] for person in range(PEOPLE)}
    for person in range(PEOPLE):
        assert outside.texts(channel.to(person)) == [f"You said {text}" for text in texts[person]]
    assert len(outside.sent) == PEOPLE * MESSAGES
    # No run was repeated, but for those that were cut short; and no model was shown another's words.
    assert Counter(about for _, about in outside.thought) == Counter(itertools.chain(*texts.values()))
    for prompt in outside.prompts:
        assert len(set(re.findall(r"<(\d+) says", str(prompt)))) == 1
    with SessionManager(database_url) as sessions:
        for person in range(PEOPLE):
            kept = sessions.messages(sessions.get_session(channel.key(person)).session_id)
            assert [each.content for each in kept] == [
                each for text in texts[person] for each in (text, f"You said {text}")
            ]
