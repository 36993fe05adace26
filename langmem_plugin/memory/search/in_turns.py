"""One list of what answers several questions: the parts of a compound question take turns."""

from collections.abc import Sequence

from langmem_plugin.memory.models import Found


def in_turns(answers: Sequence[tuple[int | None, Found]], limit: int) -> list[Found]:
    """Best first, at most `limit`, each memory once; of each answer which part it answers, None for the talk around.

    Where nothing was asked in parts the score alone decides. Else each part gives its best that is not there yet,
    then each its next, so that no part crowds out another; the talk around gives its first after theirs.
    """
    by_part: dict[int | None, dict[str, Found]] = {}
    for part, each in answers:
        best = by_part.setdefault(part, {})
        held = best.get(each.memory.id)
        if held is None or held.score < each.score:
            best[each.memory.id] = each
    queues = [
        sorted(by_part[part].values(), key=lambda each: each.score, reverse=True)[::-1]  # equals in their order
        for part in sorted(by_part, key=lambda part: (part is None, part))
    ]
    chosen: dict[str, Found] = {}
    while len(chosen) < limit and any(queues):
        for queue in queues:
            while queue and queue[-1].memory.id in chosen:
                queue.pop()
            if queue and len(chosen) < limit:
                best_left = queue.pop()
                chosen[best_left.memory.id] = best_left
    return list(chosen.values())
