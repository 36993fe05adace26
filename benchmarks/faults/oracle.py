"""Knows every text that was sent and what its person was answered, and compares that with what is stored."""

import re
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from langmem_plugin import PhoneMemory
from langmem_plugin.agent.replying.reply_texts import ENGLISH
from langmem_plugin.conversation.sessions import session_rows

LONGEST_WAIT = 25.0
"""Seconds after which a person counts as not answered: 15 for a turn, 5 for the database, 5 on a busy machine."""

_ID = re.compile(r"\[[0-9a-f]{8}\]")
_NUMBER = re.compile(r"\bn(\d+)\b")
_NOTICES = (
    ENGLISH.busy,
    ENGLISH.turn_lost,
    ENGLISH.not_kept,
    ENGLISH.without_memory,
    ENGLISH.storage_full,
    ENGLISH.memory_unavailable,
    ENGLISH.not_remembered,
)
_TURN = ["user", "assistant", "tool", "assistant"]
_KEPT = ("active", "superseded")  # a fact that another one replaced is still there


@dataclass(eq=False)
class Text:
    """What one person sent, once; its number is in it, and in everything that comes of it.

    `facts` is how many memories it makes. `excused` are seconds that no memory could have spared the person, such as
    those in which the process stood still. Nothing is in the way of one that is `undisturbed`: a notice is no answer
    to it. Instants are those of time.monotonic(), one clock for all processes.
    """

    number: int
    phone: str
    said: str
    expected: str
    facts: int = 0
    excused: float = 0.0
    undisturbed: bool = False
    begun: float = field(default_factory=time.monotonic)
    ended: float | None = None
    answer: str = ""
    error: str = ""
    told: bool = False
    killed: bool = False
    message_id: str = ""  # of its delivery: a command that is delivered again has the same

    @property
    def is_chat(self) -> bool:
        return self.expected.startswith("You said")

    @property
    def acknowledged(self) -> bool:
        return self.ended is not None and _same(self.answer).startswith(_same(self.expected)) and not self.told

    @property
    def answered(self) -> bool:
        return (self.acknowledged or (self.told and not self.undisturbed)) and self.waited <= LONGEST_WAIT

    @property
    def waited(self) -> float:
        return (self.ended or time.monotonic()) - self.begun - self.excused


@dataclass(frozen=True)
class Figures:
    """Of one kind of fault, in numbers of texts; what is wrong is listed in words beside its number."""

    tried: int
    acknowledged: int
    told: int
    lost: list[str]
    twice: list[str]
    shown: list[str]
    unanswered: list[str]
    slowest: float

    @property
    def wrong(self) -> tuple[list[str], ...]:
        return self.lost, self.twice, self.shown, self.unanswered


class Held(NamedTuple):
    """All that commands change of a person's."""

    memories: list[tuple[str, str]]
    instructions: list[str]
    consents: bool

    @classmethod
    def of(cls, memory: PhoneMemory, phone: str) -> Self:
        found = memory.service.list_memories(phone, limit=10_000, statuses=(*_KEPT, "forgotten"))
        orders = memory.instructions.list_instructions(phone)
        return cls(
            sorted((each.text, each.status) for each in found),
            [each.text for each in orders],
            memory.consent.of(phone).extraction.allowed,
        )


class Oracle:
    """Hears of every text and every answer; `figures` are those of everything since the last call."""

    def __init__(self) -> None:
        self._texts: list[Text] = []
        self._phones = 0
        self._held: dict[str, Held] = {}
        self._begin()

    @property
    def next_number(self) -> int:
        return len(self._texts)

    def phone(self) -> str:
        """Of a person who has never texted."""
        self._phones += 1
        return f"+97250{self._phones:07}"

    def chat(self, phone: str, thinks: float = 0.0, *, undisturbed: bool = False) -> Text:
        said = f"n{len(self._texts)} and think for {thinks:.2f} s"
        return self._sent(phone, said, f"You said {said}.", excused=thinks, undisturbed=undisturbed)

    def remember(self, phone: str) -> Text:
        fact = f"My code is n{len(self._texts)}"
        return self._sent(phone, f"/remember {fact}", ENGLISH.remembered.format(fact=fact), facts=1)

    def memories(self, phone: str) -> Text:
        return self._sent(phone, "/memories", ENGLISH.memories.partition("{")[0])

    def command(self, phone: str, said: str, expected: str, *, again: Text | None = None) -> Text:
        """Delivered `again` it is the same message."""
        message_id = again.message_id if again else f"command {len(self._texts)}"
        return self._sent(phone, said, expected, message_id=message_id)

    def hold(self, phone: str, held: Held) -> None:
        """What somebody has who was never disturbed, and this one is to have."""
        self._held[phone] = held

    def bulk(self, phone: str, facts: int) -> Text:
        """What no person waits for."""
        return self._sent(phone, f"thing of n{len(self._texts)}", "stored", facts=facts, excused=60)

    def heard(self, number: int, ended: float, answer: str, error: str, told: bool) -> None:
        text = self._texts[number]
        if text.ended is not None:
            self._twice.append(f"n{number} was answered again")
        text.ended, text.answer, text.error = ended, answer, error
        text.told = told or any(notice in answer for notice in _NOTICES)
        self._shown += [f"{text.said!r} was answered {answer!r}" for _ in self._of_others(text.phone, answer)]

    def compare(self, memory: PhoneMemory, phones: Iterable[str] | None = None) -> None:
        """Reads all that is stored of these phones, or of all since the last figures."""
        checked = {text.phone for text in self._current} if phones is None else set(phones)
        for phone in sorted(checked):
            self._compare_conversation(memory, phone)
            self._compare_memories(memory, phone)
        if memory.database.is_sqlite:
            with memory.database.read() as connection:
                assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
                assert connection.exec_driver_sql("PRAGMA foreign_key_check").first() is None

    def figures(self) -> Figures:
        of_kind = [text for text in self._current if not text.killed]
        unanswered = [
            f"{text.said!r}: {text.error or text.answer or 'nothing'} after {text.waited:.1f} s"
            for text in of_kind
            if not text.answered
        ]
        found = Figures(
            len(self._current),
            sum(text.acknowledged for text in self._current),
            sum(text.told for text in self._current),
            sorted(set(self._lost)),
            sorted(set(self._twice)),
            sorted(set(self._shown)),
            unanswered,
            max((text.waited for text in of_kind), default=0.0),
        )
        self._begin()
        return found

    def _begin(self) -> None:
        self._first = len(self._texts)
        self._lost: list[str] = []
        self._twice: list[str] = []
        self._shown: list[str] = []

    @property
    def _current(self) -> list[Text]:
        return self._texts[self._first :]

    def _sent(self, phone: str, said: str, expected: str, **more: Any) -> Text:
        self._texts.append(Text(len(self._texts), phone, said, expected, **more))
        return self._texts[-1]

    def _of_others(self, phone: str, words: str) -> list[int]:
        return [int(found) for found in _NUMBER.findall(words) if self._texts[int(found)].phone != phone]

    def _compare_conversation(self, memory: PhoneMemory, phone: str) -> None:
        """Every acknowledged turn is there, whole, once, and none before one that ended before it began."""
        stored = [
            (record.role, record.content)
            for session in _in_order(memory, phone)
            for record in memory.sessions.messages(session)
        ]
        starts = {said: place for place, (role, said) in enumerate(stored) if role == "user"}
        acknowledged = [text for text in self._current if text.phone == phone and text.acknowledged and text.is_chat]
        for text in acknowledged:
            turn = stored[starts[text.said] :][:4] if text.said in starts else []
            if [role for role, _ in turn] != _TURN or not turn[-1][1].startswith(text.expected):
                self._lost.append(f"{text.said!r} is stored as {turn}")
        latest = 0.0
        for text in sorted(acknowledged, key=lambda text: starts.get(text.said, -1)):
            if text.said in starts and text.ended is not None and text.ended < latest:
                self._lost.append(f"{text.said!r} is not in its place")
            latest = max(latest, text.begun)
        # "n12 and think …" or "You said n12 and think …": the number that a message is about comes first.
        about = Counter((role, _NUMBER.findall(words)[0]) for role, words in stored if _NUMBER.search(words))
        self._twice += [f"n{number} of {role}, {count} times" for (role, number), count in about.items() if count > 1]
        self._shown += [f"{phone} has {words!r}" for _, words in stored for _ in self._of_others(phone, words)]

    def _compare_memories(self, memory: PhoneMemory, phone: str) -> None:
        if (held := self._held.get(phone)) is not None:
            self._compare_held(phone, held, Held.of(memory, phone))
        remembered = [each.text for each in memory.service.list_memories(phone, limit=10_000, statuses=_KEPT)]
        about = Counter(number for words in remembered for number in _NUMBER.findall(words))
        for text in self._current:
            if text.phone == phone and text.facts:
                found = about[str(text.number)]
                if text.acknowledged and found < text.facts:
                    self._lost.append(f"{found} of {text.facts} facts of {text.said!r}")
                if found > text.facts:
                    self._twice.append(f"{found} of {text.facts} facts of {text.said!r}")
        self._shown += [f"{phone} remembers {words!r}" for words in remembered for _ in self._of_others(phone, words)]

    def _compare_held(self, phone: str, wanted: Held, found: Held) -> None:
        for name, of_wanted, of_found in zip(Held._fields, wanted, found, strict=True):
            if of_wanted != of_found:
                fewer = isinstance(of_wanted, list) and len(of_found) < len(of_wanted)
                (self._lost if fewer else self._twice).append(f"{phone} has {name} {of_found}, not {of_wanted}")


def _same(answer: str) -> str:
    """But for the ids of memories, which are made up anew each time."""
    return _ID.sub("[]", answer)


def _in_order(memory: PhoneMemory, phone: str) -> list[str]:
    """The person's sessions, the first one first by the number that the database gave: clocks may have been changed."""
    with memory.database.read() as connection:
        found = session_rows.listed(connection, phone)
    return [each.session_id for each in sorted(found, key=lambda each: each.number)]
