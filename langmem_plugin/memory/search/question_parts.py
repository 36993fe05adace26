"""Takes a question that asks for several things apart: "what do I owe Acme and when is Dana's birthday?"

Rules over words: no model, no I/O, the same text always gives the same parts. A question in another language than
English, Spanish and Hebrew stays whole, as does whatever the rules are not sure about.
"""

import re
from collections.abc import Sequence

from langmem_plugin.memory.search.asking_words import ASKING_WORDS, AskingWords
from langmem_plugin.memory.search.left_out_words import LeftOutWords
from langmem_plugin.memory.search.listed_things import ListedThings
from langmem_plugin.memory.search.question_words import (
    COMMA,
    Token,
    Tokens,
    after_join,
    content,
    request_in,
    spelled,
    tokens_of,
    without_lead_in,
    written,
)
from langmem_plugin.memory.search.tokenizer import language_of

MOST_PARTS = 4
_LONGEST = 600  # characters; what is longer is a story and no question
_SHORTEST_CLAUSE = 3  # words
_MAY_JOIN = re.compile(  # what no compound question is without
    r"[,;&\n]|[?!.]\s*+\S|\b(?:and|plus|also|as\s++well|y|e|además|también|גם|ו[א-ת]++)\b", re.IGNORECASE
)
_ENDS = frozenset("?!;\n.")
_TITLES = frozenset(["dr", "mr", "mrs", "ms", "st", "prof", "sr", "sra", "srta", "no", "nr"])


def parts_of(text: str) -> tuple[str, ...]:
    """What is asked, one question each, in order and at most four; the text alone where it asks for one thing.

    What a later part leaves out is filled in from the one before it: "and Mia's?" becomes "when is Mia's birthday".
    """
    if len(text) > _LONGEST or not _MAY_JOIN.search(text):
        return (text,)
    words = ASKING_WORDS.get(language_of(text))
    if words is None:
        return (text,)
    parts = _Parts(words).of(tokens_of(text, words))
    return parts if len(parts) > 1 else (text,)


class _Parts:
    def __init__(self, words: AskingWords) -> None:
        self._words = words
        self._left_out = LeftOutWords(words)
        self._listed = ListedThings(words, self._left_out)

    def of(self, tokens: Sequence[Token]) -> tuple[str, ...]:
        parts: list[Tokens] = []
        context: Tokens = ()
        for sentence, asked in self._sentences(tokens):
            clauses = [without_lead_in(self._words, each) for each in self._clauses(sentence, asked=asked)]
            for number, bare in enumerate(clauses):
                if spelled(bare) in self._words.small_talk or not bare:
                    continue
                leads_up = not parts and any(map(self._opens, filter(None, clauses[number + 1 :])))
                if self._begins_question(bare, leads_up=leads_up) or (
                    asked and not leads_up and self._says_itself(bare, parts)
                ):
                    if parts and (about := self._left_out.about(bare, parts[-1])):
                        parts.append(about)
                        continue
                    things = [context + thing if n == 0 else thing for n, thing in enumerate(self._listed.things(bare))]
                    context = ()
                    self._add(parts, things)
                elif asked and parts:
                    parts.append(self._left_out.completed(bare, parts[-1]))
                elif parts:  # a remark after a question
                    parts[-1] += (COMMA, *bare)
                else:
                    context += (*bare, COMMA)
        return tuple(written(part) for part in _at_most(parts, MOST_PARTS))

    def _begins_question(self, clause: Tokens, *, leads_up: bool) -> bool:
        words = self._words
        following = clause[1].plain if len(clause) > 1 else ""
        if leads_up and clause[0].plain in words.conditions and following not in words.auxiliaries | words.being:
            return False  # "if nobody is home, who has the key?"
        return self._opens(clause) or clause[0].plain in words.asks_without_accents

    def _says_itself(self, clause: Tokens, parts: Sequence[Tokens]) -> bool:
        """Of a clause with a question mark that no question word opens: whether it needs none before it."""
        if clause[-1].possessive or clause[0].plain in self._words.prepositions:
            return False
        return len(clause) >= (_SHORTEST_CLAUSE if parts else 1)

    def _add(self, parts: list[Tokens], things: Sequence[Tokens]) -> None:
        for thing in things:
            if parts and (not content(thing) or not content(parts[-1])):
                parts[-1] += (COMMA, *thing)
            else:
                parts.append(self._left_out.pointed(thing, parts[-1]) if parts else thing)

    def _sentences(self, tokens: Sequence[Token]) -> list[tuple[Tokens, bool]]:
        """Each with whether it is a question by its mark."""
        sentences: list[tuple[Tokens, bool]] = []
        held: list[Token] = []
        for token in tokens:
            ends = token.text in _ENDS and not token.quoted
            if ends and token.text == "." and held and held[-1].plain in _TITLES:
                continue
            if ends or token.text in "¿¡":
                if held:
                    sentences.append((tuple(held), token.text == "?"))
                held = []
            else:
                held.append(token)
        return [*sentences, (tuple(held), False)] if held else sentences

    def _clauses(self, sentence: Tokens, *, asked: bool) -> list[Tokens]:
        """Cut where a join or a comma is followed by a question of its own."""
        clauses: list[Tokens] = []
        begun = 0
        for place in range(1, len(sentence)):
            if place < begun or sentence[place].quoted:
                continue
            after = after_join(self._words, sentence, place)
            if after is None:
                continue
            opens = self._opens(sentence[after:], comma=sentence[after - 1].text == ",")
            if not opens and not (asked and self._alike(sentence[begun:place], sentence[after:])):
                continue
            if content(sentence[begun:place]) or self._says_nothing(sentence[begun:place]):
                clauses.append(sentence[begun:place])
                begun = after
        return [each for each in [*clauses, sentence[begun:]] if each]

    def _alike(self, left: Tokens, right: Tokens) -> bool:
        """As in "¿Ruth toma café y Omar come carne?": each with a name that does something."""
        return all(
            len(side) >= _SHORTEST_CLAUSE
            and side[0].named
            and not side[0].possessive
            and not side[1].named
            and side[1].text.isalpha()
            and side[1].plain not in self._words.joins
            and side[1].plain not in self._words.prepositions
            for side in (left, right)
        )

    def _opens(self, tokens: Sequence[Token], *, comma: bool = False) -> bool:
        """Whether a question or a request begins here."""
        words, first = self._words, tokens[0].plain
        second = tokens[1].plain if len(tokens) > 1 else ""
        if request_in(self._words, tokens):
            return True
        if first in words.auxiliaries:
            return second in words.subjects or (len(tokens) > 1 and tokens[1].named)
        if first in words.before_asks and second in words.asks:
            return True
        if comma and words.inverts and first in words.asks:  # else a relative clause: ", when we were in Rome"
            return "'" in first or (
                first in words.asks_after_comma
                and any(each.plain in words.auxiliaries for each in tokens[1:4])
                and not (first in ("which", "who") and second in words.auxiliaries)
            )
        return first in (words.asks_after_comma if comma else words.asks)

    def _says_nothing(self, clause: Tokens) -> bool:
        bare = without_lead_in(self._words, clause)
        return not bare or spelled(bare) in self._words.small_talk


def _at_most(parts: Sequence[Tokens], most: int) -> list[Tokens]:
    """The last one holds what is left over."""
    if len(parts) <= most:
        return list(parts)
    rest: Tokens = ()
    for part in parts[most - 1 :]:
        rest += (*part, COMMA)
    return [*parts[: most - 1], rest[:-1]]
