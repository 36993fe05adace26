"""How a memory or a message stands in a list for people: on one line, and on pages."""

from datetime import time, timedelta
from zoneinfo import ZoneInfo

from langmem_plugin.agent.replying.replies import Replies
from langmem_plugin.memory import Memory
from langmem_plugin.memory.instructions.instructions import Instruction

PAGE = 10
_LONGEST = 200
_SHORT_ID = 8


def one_line(text: str) -> str:
    line = " ".join(text.split())
    return f"{line[:_LONGEST]}…" if len(line) > _LONGEST else line


def with_id(memory: Memory, text: str) -> str:
    """The text with the id that /forget takes."""
    return f"{one_line(text)} {short_id(memory)}"


def short_id(memory: Memory) -> str:
    return f"[{memory.id[:_SHORT_ID]}]"


def instruction_told(instruction: Instruction, zone: ZoneInfo, replies: Replies) -> str:
    """The instruction with its condition, its priority if unusual, and its last day or instant in their zone."""
    text = one_line(instruction.text)
    if instruction.condition is not None:
        text = replies.instruction_if.format(condition=instruction.condition, text=text)
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
    """Reads a page's number; None for another text; "" is the first."""
    if not rest:
        return 1
    return int(rest) if rest.isdecimal() and len(rest) < len("10000") else None


def typed_in(replies: Replies, command: str, rest: object) -> str:
    """The text to type, with the command's word in the language of the person."""
    return f"{replies.usage[command].split()[0]} {rest}"
