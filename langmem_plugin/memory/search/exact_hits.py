"""Which of the texts that may hold a query's phrases, by their words, do: read best first, until enough are found."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from langmem_plugin.memory.search.exact_query import ExactQuery

_READ_AT_ONCE = 50
_FIRST, _MORE = 200, 8


class _Found(Protocol):
    @property
    def id(self) -> str: ...


Hit = TypeVar("Hit", bound=_Found)


def exact_hits(
    exact: ExactQuery,
    limit: int,
    ranked: Callable[[int], Sequence[Hit]],
    texts: Callable[[list[str]], Mapping[str, Iterable[str]]],
) -> dict[str, Hit]:
    """At most `limit`, by id and in their order. `ranked` gives the best so many, `texts` by id what each says."""
    held: dict[str, Hit] = {}
    looked_at, most = 0, max(_FIRST, 2 * limit)
    while limit > 0:
        hits = ranked(most)
        while looked_at < len(hits):
            part = {hit.id: hit for hit in hits[looked_at:][:_READ_AT_ONCE]}
            said = texts(list(part))
            held |= {each: hit for each, hit in part.items() if each in said and exact.holds(said[each])}
            if len(held) >= limit:
                return dict(list(held.items())[:limit])
            looked_at += len(part)
        if len(hits) < most:
            break
        most *= _MORE
    return held
