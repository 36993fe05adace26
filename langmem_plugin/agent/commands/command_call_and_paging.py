"""The call of a command, and functions that put its answer on one line or on pages."""

import re
from dataclasses import dataclass
from datetime import time, timedelta
from zoneinfo import ZoneInfo

from langmem_plugin.agent.parts_protocol import AgentParts
from langmem_plugin.agent.replying.reply_texts import Replies, typed_in
from langmem_plugin.facts.instruction_recognition import Spoken
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.logs import event_log
from langmem_plugin.memory import Memory, MemoryService
from langmem_plugin.memory.instructions.standing_instructions import Instruction, Taken
from langmem_plugin.settings import Role

log = event_log(__name__)

PAGE = 10
_LONGEST = 200
_SHORT_ID = 8
_CONDITION_WORD = re.compile(r"""["“'][^"“”']*["”']|starts with|is not|[a-z]+""", re.IGNORECASE)


@dataclass(frozen=True)
class CommandCall:
    """A command as one person gave it: `rest` is the text behind its word, or the answer to its question."""

    parts: AgentParts
    owner: OwnerKey
    rest: str
    replies: Replies

    @property
    def service(self) -> MemoryService:
        return self.parts.service

    @property
    def zone(self) -> ZoneInfo:
        return self.parts.person_settings.time_zone(self.owner)

    @property
    def role(self) -> Role:
        return self.parts.person.role(self.owner)

    def typed(self, command: str, rest: object = "") -> str:
        """Return the text to type, with the command's word in the language of the person."""
        return typed_in(self.replies, command, rest)

    def page(self, number: int, pages: int, command: str) -> list[str]:
        """Return the line that tells of the next page; no line if there is none."""
        following = self.typed(command, number + 1)
        return [self.replies.next_page.format(page=number, pages=pages, next=following)] if number < pages else []


def one_line(text: str) -> str:
    line = " ".join(text.split())
    return f"{line[:_LONGEST]}…" if len(line) > _LONGEST else line


def with_id(memory: Memory, line: str) -> str:
    """Return the line of a memory with the id that /forget takes."""
    return f"{line} [{memory.id[:_SHORT_ID]}]"


def with_day(memory: Memory, zone: ZoneInfo) -> str:
    """Return the memory's text with the day on which it was told: "tomorrow" is the one after that."""
    return f"{one_line(memory.text)} ({memory.told_at.astimezone(zone):%Y-%m-%d})"


def keep_order(parts: AgentParts, owner: OwnerKey, order: Spoken, zone: ZoneInfo, said_in: str | None = None) -> Taken:
    """Keep an order, given in `zone`, as a standing instruction. Raises as `StandingInstructions.take` does."""
    return parts.service.instructions.take(
        owner,
        order.text,
        condition=order.condition,
        priority=order.priority,
        expires_at=order.ends(parts.now().astimezone(zone)),
        said_in=said_in,
    )


def condition_told(condition: str, replies: Replies) -> str:
    """Return a condition in the language of the replies; what stands in quotes stays."""
    return _CONDITION_WORD.sub(lambda found: replies.condition_words.get(found[0].casefold(), found[0]), condition)


def instruction_told(instruction: Instruction, zone: ZoneInfo, replies: Replies) -> str:
    """Return the instruction with its condition, its priority if unusual, and its last day or instant in `zone`."""
    text = one_line(instruction.text)
    if instruction.condition is not None:
        text = replies.instruction_if.format(condition=condition_told(instruction.condition, replies), text=text)
    if instruction.priority > 1:
        text = replies.instruction_priority.format(text=text, priority=instruction.priority)
    if instruction.expires_at is not None:
        ends = instruction.expires_at.astimezone(zone)
        whole_days = ends.time() == time.min
        shown = f"{ends - timedelta(days=1):%Y-%m-%d}" if whole_days else f"{ends:%Y-%m-%d %H:%M}"
        text = replies.instruction_until.format(text=text, date=shown)
    return text


def pages_of(many: int) -> int:
    return max(-(-many // PAGE), 1)


def page_number(rest: str) -> int | None:
    """Read the number of a page: 1 for "", None for another text."""
    if not rest:
        return 1
    return int(rest) if rest.isdecimal() and len(rest) < len("10000") else None
