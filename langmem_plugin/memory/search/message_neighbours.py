"""What stands around a found message in its talk: the question before an answer, the answer after a question."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.memory.models import Filter
from langmem_plugin.memory.search.corpus import Corpus

_A_DAY = 86_400_000_000  # microseconds; where years of talk are one session, what was said days apart are two talks


class Around(NamedTuple):
    """Ids of the messages just before a message and just after it, in the order they were said."""

    before: Sequence[str] = ()
    after: Sequence[str] = ()


def around(corpus: Corpus, found: Iterable[str], neighbours: int, where: Filter, now: datetime) -> dict[str, Around]:
    """By id of what is found: of the same session, within a day of it, and let through by the filter.

    Half of the neighbours stand before the message; of an odd number the last comes after it.
    """
    columns = corpus.columns
    created, sessions = columns["created"], columns["session"]
    fits = corpus.fitting(where, now)
    before, after = neighbours // 2, neighbours - neighbours // 2
    talks: dict[int, NDArray[np.intp]] = {}
    result = {}
    for message_id in found if neighbours > 0 else ():
        row = corpus.row_of(message_id)
        session = int(sessions[row])
        if session not in talks:
            rows = np.flatnonzero(columns["live"] & (sessions == session))
            talks[session] = rows[np.argsort(created[rows], kind="stable")]
        talk = talks[session]
        place = int(np.flatnonzero(talk == row)[0])
        beside = talk[max(place - before, 0) : place], talk[place + 1 : place + 1 + after]
        near = fits & (np.abs(created - created[row]) <= _A_DAY)
        result[message_id] = Around(*([corpus.ids[each] for each in side if near[each]] for side in beside))
    return result


def once(shown: Sequence[str], near: Mapping[str, Around]) -> dict[str, Around]:
    """The same for what is shown, best first, without what is shown itself.

    A message between two of them goes with the better.
    """
    given = set(shown)
    result = {}
    for message_id in shown:
        result[message_id] = Around(
            *([each for each in side if each not in given] for side in near.get(message_id, Around()))
        )
        given.update(*result[message_id])
    return result
