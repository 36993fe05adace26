"""A question that lists what it asks for: "my dentist, my gym and my plumber"."""

from collections.abc import Sequence

from langmem_plugin.memory.search.asking_words import AskingWords
from langmem_plugin.memory.search.left_out_words import LeftOutWords
from langmem_plugin.memory.search.question_words import (
    Token,
    Tokens,
    after_join,
    is_function_word,
    owner_ending,
    request_in,
    without_article,
)

_LONGEST_ITEM = 6  # words


def _between(clause: Tokens, cuts: Sequence[tuple[int, int]]) -> list[Tokens]:
    """What is joined on, one after the other."""
    ends = [place for place, _ in cuts[1:]] + [len(clause)]
    return [clause[after:end] for (_, after), end in zip(cuts, ends, strict=True)] if cuts else []


class ListedThings:
    def __init__(self, words: AskingWords, left_out: LeftOutWords) -> None:
        self._words = words
        self._left_out = left_out

    def things(self, clause: Tokens) -> list[Tokens]:
        """One question for each of the things it lists, each in the frame of the whole."""
        if any(token.plain in self._words.of_both for token in clause):
            return [clause]
        return self._of_owners(clause) or self._listed(clause) or [clause]

    def _of_owners(self, clause: Tokens) -> list[Tokens]:
        """As in "my sister's and my brother's addresses", or "Dana's birthday, Mia's and Ruth's"."""
        cuts = self._cuts(clause)
        items = _between(clause, cuts)
        if not items:
            return []
        owners = [self._owner_at(item, 0) for item in items]
        if None in owners:
            return []
        rests = [item[owner:] for item, owner in zip(items, owners, strict=True)]
        first = clause[: cuts[0][0]]
        if any(rests[:-1]):
            return []
        if first[-1].possessive and rests[-1]:
            frame, tail = first[: owner_ending(self._words, first, len(first))], rests[-1]
            return [first + tail, *(frame + item[:owner] + tail for item, owner in zip(items, owners, strict=True))]
        return [] if rests[-1] else [first, *(self._left_out.completed(item, first) for item in items)]

    def _cuts(self, clause: Tokens) -> list[tuple[int, int]]:
        """Where something is joined on: (its join, what follows)"""
        cuts: list[tuple[int, int]] = []
        for place in range(1, len(clause)):
            if clause[place].quoted or (cuts and place < cuts[-1][1]):
                continue
            after = after_join(self._words, clause, place)
            if after is not None:
                cuts.append((place, after))
        return cuts

    def _owner_at(self, clause: Tokens, start: int) -> int | None:
        """Where an owner such as "my brother's" ends that begins at `start`."""
        for place in range(start, min(start + 3, len(clause))):
            if clause[place].possessive:
                return place + 1
        return None

    def _listed(self, clause: Tokens) -> list[Tokens]:
        """As in "my dentist, my gym and my plumber", or "the phones of the plumber and of the baker"."""
        cuts = self._cuts(clause)
        request = request_in(self._words, clause)
        if not cuts or (cuts[0][0] < 2 and not request):  # noqa: PLR2004
            return self._prefixed_list(clause, request)
        items = _between(clause, cuts)
        start = self._first_item(clause, cuts[0][0], items, request)
        if start is None or any(not 0 < len(item) <= _LONGEST_ITEM for item in items):
            return self._prefixed_list(clause, request)
        frame = clause[:start]
        if not self._asks_for_things(frame):
            return []
        items = [without_article(self._words, item) for item in items]
        return [clause[: cuts[0][0]], *(frame + item for item in items)]

    def _first_item(self, clause: Tokens, end: int, items: Sequence[Tokens], request: int) -> int | None:
        """Where the first of the things listed begins; None where they are no list."""
        words = self._words
        leading = [without_article(self._words, item)[0].plain for item in items if item]
        shared = {words.prepositions.get(each) for each in leading}
        if len(shared) == 1 and None not in shared:
            [preposition] = shared
            return next(
                (n for n in range(end - 1, 0, -1) if words.prepositions.get(clause[n].plain) == preposition), None
            )
        determined = [each for each in leading if each in words.determiners]
        starts = [n for n in range(end - 1, 0, -1) if clause[n].plain in words.determiners]
        if len(determined) == len(items) and starts:
            weak = [each for each in [clause[starts[0]].plain, *determined] if each in words.weak_determiners]
            if weak and not request:
                return None
            whole = self._whole_first_item(clause, starts, request)
            return starts[0] if whole is None else whole
        return request if request and len(items) > 1 else None

    def _whole_first_item(self, clause: Tokens, starts: Sequence[int], request: int) -> int | None:
        """As in "tell me the name of the shop and the code", but not in "the names of the shop and the baker"."""
        first, nearest = starts[-1], starts[0]
        begins = request or (2 if self._is_of_things(clause[:2]) else 1 if clause[0].plain.endswith("'s") else 0)
        if first == nearest or first != begins:
            return None
        heads = clause[nearest - 2].plain if nearest > 1 else ""
        shares = heads.endswith("s") and clause[nearest - 1].plain in self._words.prepositions
        return nearest if shares and not self._words.weak_determiners else first

    def _prefixed_list(self, clause: Tokens, request: int) -> list[Tokens]:
        """As in "תזכיר לי את הרופא, המכון והמוסך": where "and" is a prefix only the comma and the last word tell."""
        join, commas = self._words.prefixed_join, [n for n, token in enumerate(clause) if token.text == ","]
        if not join or not request or not commas:
            return []
        last = next((n for n in range(len(clause) - 1, commas[-1], -1) if clause[n].plain.startswith(join)), None)
        if last is None:
            return []
        start = request
        while start < commas[0] and is_function_word(clause[start].plain, self._words):
            start += 1
        if clause[start].plain.startswith(self._words.before_task_prefix):  # "to buy milk, eggs and bread"
            return []
        ends = [*commas, last]
        begins = [start, *(comma + 1 for comma in commas)]
        items = [clause[begin:end] for begin, end in zip(begins, ends, strict=True)]
        items.append((Token.of(clause[last].text[1:]), *clause[last + 1 :]))
        return [clause[:start] + item for item in items] if all(items) else []

    def _asks_for_things(self, frame: Tokens) -> bool:
        """Not so in "how do the dog and the cat get on?", where the things listed do something."""
        if not frame or frame[-1].plain not in self._words.auxiliaries:
            return bool(frame)
        return self._is_of_things(frame)

    def _is_of_things(self, frame: Tokens) -> bool:
        """As in "where are"."""
        return (
            len(frame) == 2  # noqa: PLR2004
            and frame[0].plain in self._words.asks
            and frame[1].plain in self._words.being
        )
