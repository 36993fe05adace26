"""What a person is told after something was remembered: that it is new, known, or in the place of something else."""

from langmem_plugin.agent.commands.lines import one_line
from langmem_plugin.agent.replies import Replies
from langmem_plugin.memory import Memory, MemoryService
from langmem_plugin.memory.models import Remembered

_PAGE = 1_000  # letters


def remembered(service: MemoryService, made: Memory, replies: Replies) -> str:
    outcome = made.outcome if isinstance(made, Remembered) else "stored"
    if outcome == "duplicate":
        return replies.known_already.format(fact=_shown(made.text))
    if isinstance(made, Remembered) and outcome == "superseded":
        with service.database.read() as connection:
            replaced = service.repository.by_ids(connection, made.owner, made.concerned)
        if replaced:
            old = "; ".join(one_line(each.text) for each in replaced)
            return replies.remembered_instead.format(fact=_shown(made.text), old=old)
    return replies.remembered.format(fact=_shown(made.text))


def _shown(text: str) -> str:
    """Whole, but for a page of text, which nobody wants back."""
    return one_line(text) if len(text) > _PAGE else text
