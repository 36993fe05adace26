"""The answering of a webhook: each person alone, in the order of writing, within the time that the provider waits."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from langgraph.pregel import Pregel

from langmem_plugin.agent.commands.command_dispatch import stands_alone
from langmem_plugin.agent.replying.incoming_message import Delivery
from langmem_plugin.agent.replying.sync_async_steps import Reply
from langmem_plugin.channels.payloads import Incoming, TryLater
from langmem_plugin.channels.unanswered_messages import Acknowledged, Key
from langmem_plugin.errors import InvalidInput, StoreUnavailable
from langmem_plugin.identifiers import normalised
from langmem_plugin.logs import event_log
from langmem_plugin.plugin import PhoneMemory

log = event_log(__name__)

GONE = (400, 403, 404, 410, 413, 415, 451)
"""The status codes of a file that will not come, however often it is asked for."""

_ONE_GO = timedelta(minutes=2)  # longest time between messages of a webhook that are one turn
_ALBUM_SECONDS = 0.5  # Telegram delivers the next picture of an album when this one is acknowledged
_PAUSES = (2, 10, 60, 300)  # seconds between tries, once the webhook is acknowledged
_LOOK_SECONDS = 20.0
_DELIVERED = Delivery.__annotations__.keys() & Incoming.__dataclass_fields__.keys()


_Send = Callable[[str], Awaitable[str | None]]


class Provider(Protocol):
    """The service behind a webhook, over HTTP: it gives pictures and sends answers."""

    async def picture(self, message: Incoming, name: str) -> bytes | None:
        """Fetch one of `message.pictures`. Return None if it is gone for good."""

    async def send(self, message: Incoming, text: str) -> str | None:
        """Send one part of the answer, and return the id it has there. Raises TryLater."""

    def parts(self, message: Incoming, text: str) -> Sequence[str]:
        """Return the text in pieces that the provider takes."""

    async def typing(self, message: Incoming) -> None:
        """Show that an answer is being written; it is called every `typing_seconds`."""

    typing_seconds: float

    @property
    def name(self) -> str:
        """The name that tells this sender from every other that uses the same database, such as a second bot."""


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """The answering, with a graph, of the messages that a provider delivers.

    A webhook is acknowledged when all of it is answered, at the latest after `acknowledged_after`. Until then, if the
    process is killed or cannot send, the provider delivers it again. After that sending is tried again here; and what a
    killed process leaves is taken up, within two minutes, by every process that has called `start`, or else before the
    person's next message.
    """

    memory: PhoneMemory
    graph: Pregel[Any, Any, Any, Any]
    provider: Provider
    acknowledged_after: timedelta = timedelta(seconds=8)

    _going_on: set[asyncio.Task[Any]] = field(default_factory=set)
    _looking: set[asyncio.Task[None]] = field(default_factory=set)
    _held: set[Key] = field(default_factory=set)  # acknowledged, and answered here

    @property
    def _acknowledged(self) -> Acknowledged:
        return Acknowledged(self.memory, self.provider.name)

    async def start(self) -> None:
        """Begin to answer, until `close`, messages acknowledged by a process that has ended."""
        if self.memory.settings.enable_memory_system:
            self._looking.add(asyncio.create_task(self._look()))

    async def receive(self, messages: Sequence[Incoming]) -> Callable[[], Awaitable[object]] | None:
        """Answer the messages. The result, if there is one, is to be awaited once the webhook is acknowledged.

        Raises TryLater, or another error, if one of the messages is to be delivered again; the others are answered.
        """
        of_person: dict[str, list[Incoming]] = {}
        for message in sorted(messages, key=lambda each: each.sent_at or datetime.max.replace(tzinfo=UTC)):
            of_person.setdefault(message.who, []).append(message)
        acknowledged = asyncio.Event()
        left = [_turns(each) for each in of_person.values()]
        tasks = {asyncio.create_task(self._one_person(each, acknowledged)): each for each in left}
        has_album = any(each.album for each in messages)
        seconds = _ALBUM_SECONDS if has_album else self.acknowledged_after.total_seconds()
        done, waiting = await asyncio.wait(tasks, timeout=seconds) if tasks else (set(), set())
        if not has_album:
            self._go_on(waiting)
        errors = [error for task in done if (error := task.exception()) is not None]
        if not errors:
            await self._note([each for task in waiting for each in tasks[task]])
        acknowledged.set()
        if errors:
            raise errors[0]
        return (lambda: asyncio.wait(waiting)) if waiting and has_album else None

    async def respond(self, message: Incoming, within: timedelta) -> Sequence[str]:
        """Return the parts of the answer to a webhook; the provider sends it if it takes longer than `within`."""
        told: list[str] = []
        responded = asyncio.Event()

        async def send(text: str) -> str | None:
            if responded.is_set():
                return await self.provider.send(message, text)
            told.append(text)
            return None

        answering = asyncio.create_task(self._until_sent(message, responded, send))
        await asyncio.wait([answering], timeout=within.total_seconds())
        if not answering.done():
            await self._note([message])
        responded.set()
        if not answering.done():
            self._go_on({answering})
        elif not told or answering.exception():  # else the provider would ask again for an answer it has
            return self.provider.parts(message, answering.result())
        return told

    async def close(self) -> None:
        """Wait until all that is being answered is done."""
        for task in self._looking:
            task.cancel()
        if left := self._looking | self._going_on:
            await asyncio.wait(left)

    def _go_on(self, tasks: set[asyncio.Task[Any]]) -> None:
        for task in tasks:
            self._going_on.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._going_on.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("webhook.not_answered", exc_info=error)

    async def _note(self, messages: Sequence[Incoming]) -> None:
        """Keep messages that are acknowledged now. While the database cannot be reached, none of them is answered
        twice, and those that a killed process leaves are not taken up.
        """
        if not messages or not self.memory.settings.enable_memory_system:
            return
        keys = {self._acknowledged.key(each) for each in messages}
        try:
            self._held.update(keys)
            await asyncio.to_thread(self._acknowledged.note, messages)
        except StoreUnavailable:
            log.warning("webhook.not_kept", exc_info=True)

    async def _look(self) -> None:
        """Note what is still being answered here, and take up messages that nobody answers."""
        acknowledged = asyncio.Event()
        acknowledged.set()
        while True:
            try:
                await asyncio.to_thread(self._acknowledged.renew, [*self._held])
                found = await asyncio.to_thread(self._acknowledged.take_up)
            except StoreUnavailable:
                log.warning("webhook.not_taken_up", exc_info=True)
                found = []
            of_person: dict[Key, list[Incoming]] = {}
            for key, message in found:
                if key not in self._held:  # the pictures of an album are waited for together
                    of_person.setdefault(key if message.album else (message.who, ""), []).append(message)
            self._held.update(key for key, _ in found)
            tasks = [asyncio.create_task(self._one_person(each, acknowledged)) for each in of_person.values()]
            self._go_on(set(tasks))
            await asyncio.sleep(_LOOK_SECONDS)

    async def _one_person(self, left: list[Incoming], acknowledged: asyncio.Event) -> None:
        """Answer the messages, one after another. One that cannot be answered now does not stop the next."""
        errors = []
        while left:
            try:
                await self._until_sent(left[0], acknowledged)
            except InvalidInput:  # a sender or an id that none can have: delivered again, it is no other
                log.exception("webhook.refused")
            except Exception as error:
                log.exception("webhook.not_answered")
                errors.append(error)
            del left[0]
        if errors:
            raise errors[0]

    async def _until_sent(self, message: Incoming, acknowledged: asyncio.Event, send: _Send | None = None) -> Reply:
        key = self._acknowledged.key(message)
        try:
            reply = await self._tried(message, acknowledged, send)
            if key in self._held:
                with suppress(StoreUnavailable):  # a process that takes it up finds that it is answered
                    await asyncio.to_thread(self._acknowledged.answered, key)
        finally:
            self._held.discard(key)  # one that was not answered is taken up again
        return reply

    async def _tried(self, message: Incoming, acknowledged: asyncio.Event, send: _Send | None) -> Reply:
        for pause in _PAUSES:
            try:
                return await self._answer(message, send)
            except TryLater:
                if not acknowledged.is_set():
                    raise
                await asyncio.sleep(pause)
        return await self._answer(message, send)

    async def _answer(self, message: Incoming, send: _Send | None) -> Reply:
        if message.moved_from is not None:
            moved = await asyncio.to_thread(self._moved, message.moved_from, message.who)
            log.info("webhook.moved", extra={"found": moved})
            return Reply("", repeated=True)
        files = [await self.provider.picture(message, each) for each in message.pictures]
        images = [each for each in files if each is not None]
        about: dict[str, Any] = {name: getattr(message, name) for name in _DELIVERED}
        about["unopened"] = "picture" if len(images) < len(files) else message.unopened
        about["parts"] = lambda text: self.provider.parts(message, text)
        about["send"] = send or (lambda text: self.provider.send(message, text))
        typing = asyncio.create_task(self._typing(message))
        try:
            return await self.memory.areply(self.graph, message.who, message.text, images, **about)
        finally:
            typing.cancel()
            await asyncio.wait([typing])

    async def _typing(self, message: Incoming) -> None:
        if message.reaction or message.edited:
            return
        while True:
            with suppress(TryLater):
                await self.provider.typing(message)
            await asyncio.sleep(self.provider.typing_seconds)

    def _moved(self, before: str, now: str) -> bool:
        region = self.memory.settings.default_region
        return normalised(before, region) != normalised(now, region) and self.memory.people.moved(before, now)


def _turns(messages: Sequence[Incoming]) -> list[Incoming]:
    """Join messages that one person wrote in one go; a message that must be answered by itself stays apart, and one
    that stands in the webhook twice, as when it was edited, is taken once, as it stands there last.
    """
    found: list[Incoming] = []
    for message in {(*each.ids, each.moved_from): each for each in messages}.values():
        if found and _goes_on(found[-1], message):
            before = found[-1]
            text = "\n".join(filter(None, (before.text, message.text)))
            pictures = [*before.pictures, *message.pictures]
            found[-1] = replace(message, text=text, message_id=[*before.ids, *message.ids], pictures=pictures)
        else:
            found.append(message)
    return found


def _goes_on(before: Incoming, after: Incoming) -> bool:
    if before.sender != after.sender or before.to != after.to or not (before.sent_at and after.sent_at):
        return False
    return after.sent_at - before.sent_at <= _ONE_GO and all(
        not (each.forwarded or each.edited or each.reaction or each.quoted or each.unopened or each.moved_from)
        and not stands_alone(each.text)
        for each in (before, after)
    )
