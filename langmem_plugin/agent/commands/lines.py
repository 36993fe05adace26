"""How a memory or a message stands in a list for people: on one line, and on pages."""

from langmem_plugin.agent.replies import Replies
from langmem_plugin.memory import Memory

PAGE = 10
_LONGEST = 200
_SHORT_ID = 8


def one_line(text: str) -> str:
    line = " ".join(text.split())
    return f"{line[:_LONGEST]}…" if len(line) > _LONGEST else line


def with_id(memory: Memory, text: str) -> str:
    """With the id that /forget takes."""
    return f"{one_line(text)} [{memory.id[:_SHORT_ID]}]"


def pages_of(many: int) -> int:
    return max(-(-many // PAGE), 1)


def page_number(rest: str) -> int | None:
    """None for what is no number of a page; "" is the first."""
    if not rest:
        return 1
    return int(rest) if rest.isdecimal() and len(rest) < len("10000") else None


def typed_in(replies: Replies, command: str, rest: object) -> str:
    """What to type, with the command's word in the language of the person."""
    return f"{replies.usage[command].split()[0]} {rest}"
