"""Takes a question that asks for several things apart: "what do I owe Acme and when is Dana's birthday?"

Rules over words: no model, no I/O, the same text always gives the same parts. A question in another language than
English, Spanish and Hebrew stays whole, as does whatever the rules are not sure about.
"""

import functools
import re
from collections.abc import Sequence
from typing import NamedTuple, Self

from langmem_plugin.memory.search.asking_words import ASKING_WORDS, AskingWords
from langmem_plugin.memory.search.tokenizer import language_of, terms

MOST_PARTS = 4
_LONGEST = 600  # characters; what is longer is a story and no question
_SHORTEST_CLAUSE = 3  # words
_LONGEST_PHRASE = 6
_LONGEST_ITEM = 6  # words of a thing in a list
_TOKEN = re.compile(r"[^\W_]++(?:['’\"״׳.:\-][^\W_]++)*+['’]?|[?!;.](?=[\s?!.)\"”»]|$)|[^\w\s?!;.]|\n")
_MAY_JOIN = re.compile(  # what no compound question is without
    r"[,;&\n]|[?!.]\s*+\S|\b(?:and|plus|also|as\s++well|y|e|además|también|גם|ו[א-ת]++)\b", re.IGNORECASE
)
_ENDS = frozenset("?!;\n.")
_POSSESSIVE = ("'s", "s'", "’s", "s’")
_TITLES = frozenset(["dr", "mr", "mrs", "ms", "st", "prof", "sr", "sra", "srta", "no", "nr"])


class Token(NamedTuple):
    text: str
    plain: str  # in small letters, its apostrophes straight
    quoted: bool

    @classmethod
    def of(cls, text: str, *, quoted: bool = False) -> Self:
        return cls(text, text.casefold().replace("’", "'"), quoted)

    @property
    def possessive(self) -> bool:
        return self.text.endswith(_POSSESSIVE) and self.plain not in _NOT_POSSESSIVE

    @property
    def named(self) -> bool:
        return self.text[0].isupper() and self.plain not in _NOT_NAMES


_NOT_POSSESSIVE = frozenset(["what's", "who's", "where's", "when's", "how's", "it's", "that's", "there's", "he's", "she's", "let's"])
_NOT_NAMES = frozenset(["i", "i'm", "i'd", "i've", "i'll"])

Tokens = tuple[Token, ...]


@functools.lru_cache(maxsize=1024)
def parts_of(text: str) -> tuple[str, ...]:
    """What is asked, one question each, in order and at most four; the text alone where it asks for one thing.

    What a later part leaves out is filled in from the one before it: "and Mia's?" becomes "when is Mia's birthday".
    """
    if len(text) > _LONGEST or not _MAY_JOIN.search(text):
        return (text,)
    words = ASKING_WORDS.get(language_of(text))
    if words is None:
        return (text,)
    parts = _Parts(words).of(_tokens(text, words))
    return parts if len(parts) > 1 else (text,)


def _tokens(text: str, words: AskingWords) -> list[Token]:
    tokens: list[Token] = []
    quoted = False
    for match in _TOKEN.finditer(text):
        token = Token.of(match[0], quoted=quoted)
        if token.text in '"“”«»':
            quoted = not quoted
        rest = token.plain.removeprefix(words.prefixed_join)
        if rest != token.plain and words.prefixed_join and _is_function_word(rest, words):
            tokens += [Token.of(words.prefixed_join, quoted=quoted), Token.of(token.text[1:], quoted=quoted)]
        else:
            tokens.append(token)
    return tokens


def _is_function_word(plain: str, words: AskingWords) -> bool:
    return any(plain in each for each in (words.asks, words.before_asks, words.prepositions)) or any(
        request.startswith(f"{plain} ") or request == plain for request in words.requests
    )


class _Parts:
    def __init__(self, words: AskingWords) -> None:
        self._words = words

    def of(self, tokens: Sequence[Token]) -> tuple[str, ...]:
        parts: list[Tokens] = []
        context: Tokens = ()
        for sentence, asked in self._sentences(tokens):
            clauses = [self._without_lead_in(each) for each in self._clauses(sentence, asked=asked)]
            for number, bare in enumerate(clauses):
                if _spelled(bare) in self._words.small_talk or not bare:
                    continue
                leads_up = not parts and any(map(self._opens, filter(None, clauses[number + 1 :])))
                if self._begins_question(bare, leads_up=leads_up) or (
                    asked and not leads_up and self._says_itself(bare, parts)
                ):
                    if parts and (about := self._about(bare, parts[-1])):
                        parts.append(about)
                        continue
                    things = [context + thing if n == 0 else thing for n, thing in enumerate(self._things(bare))]
                    context = ()
                    self._add(parts, things)
                elif asked and parts:
                    parts.append(self._completed(bare, parts[-1]))
                elif parts:  # a remark after a question
                    parts[-1] += (_COMMA, *bare)
                else:
                    context += (*bare, _COMMA)
        return tuple(_written(part) for part in _at_most(parts, MOST_PARTS))

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
            if parts and (not _content(thing) or not _content(parts[-1])):
                parts[-1] += (_COMMA, *thing)
            else:
                parts.append(self._pointed(thing, parts[-1]) if parts else thing)

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
            after = self._after_join(sentence, place)
            if after is None:
                continue
            opens = self._opens(sentence[after:], comma=sentence[after - 1].text == ",")
            if not opens and not (asked and self._alike(sentence[begun:place], sentence[after:])):
                continue
            if _content(sentence[begun:place]) or self._says_nothing(sentence[begun:place]):
                clauses.append(sentence[begun:place])
                begun = after
        return [each for each in [*clauses, sentence[begun:]] if each]

    def _alike(self, left: Tokens, right: Tokens) -> bool:
        """ "¿Ruth toma café y Omar come carne?": each with a name that does something."""
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

    def _after_join(self, tokens: Tokens, place: int) -> int | None:
        """Where what is joined at `place` begins; None where nothing is joined."""
        after = place
        while after < len(tokens) and (tokens[after].text == "," or tokens[after].plain in self._words.joins):
            after += 1
        if after == place and _spelled(tokens[place : place + 3]) == "as well as":
            after += 3
        return after if place < after < len(tokens) else None

    def _opens(self, tokens: Sequence[Token], *, comma: bool = False) -> bool:
        """Whether a question or a request begins here."""
        words, first = self._words, tokens[0].plain
        second = tokens[1].plain if len(tokens) > 1 else ""
        if self._request(tokens):
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

    def _request(self, tokens: Sequence[Token]) -> int:
        """How many words the request takes that `tokens` begin with."""
        request = _leading(tokens, self._words.requests)
        size = len(request.split())
        return 0 if size in (0, len(tokens)) or self._is_task(request, tokens[size].plain) else size

    def _is_task(self, request: str, following: str) -> bool:
        """ "remind me to call", "necesito comprar": something to do and not to know."""
        words = self._words
        if request in words.wishes and following not in words.determiners:
            return True
        return following in words.before_task or following.endswith(words.task_endings)

    def _without_lead_in(self, clause: Tokens) -> Tokens:
        while clause:
            if clause[0].text == ",":
                clause = clause[1:]
                continue
            lead_in = _leading(clause, self._words.lead_ins)
            if not lead_in:
                break
            clause = clause[len(lead_in.split()) :]
        return clause

    def _says_nothing(self, clause: Tokens) -> bool:
        bare = self._without_lead_in(clause)
        return not bare or _spelled(bare) in self._words.small_talk

    def _things(self, clause: Tokens) -> list[Tokens]:
        """One question for each of the things it lists, each in the frame of the whole."""
        if any(token.plain in self._words.of_both for token in clause):
            return [clause]
        return self._of_owners(clause) or self._listed(clause) or [clause]

    def _of_owners(self, clause: Tokens) -> list[Tokens]:
        """ "my sister's and my brother's addresses", "Dana's birthday, Mia's and Ruth's" """
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
            frame, tail = first[: self._owner_ending(first, len(first))], rests[-1]
            return [first + tail, *(frame + item[:owner] + tail for item, owner in zip(items, owners, strict=True))]
        return [] if rests[-1] else [first, *(self._completed(item, first) for item in items)]

    def _cuts(self, clause: Tokens) -> list[tuple[int, int]]:
        """Where something is joined on: (its join, what follows)"""
        cuts: list[tuple[int, int]] = []
        for place in range(1, len(clause)):
            if clause[place].quoted or (cuts and place < cuts[-1][1]):
                continue
            after = self._after_join(clause, place)
            if after is not None:
                cuts.append((place, after))
        return cuts

    def _owner_at(self, clause: Tokens, start: int) -> int | None:
        """Where an owner that begins at `start` ends: "my brother's" """
        for place in range(start, min(start + 3, len(clause))):
            if clause[place].possessive:
                return place + 1
        return None

    def _owner_ending(self, clause: Tokens, end: int) -> int:
        """Where an owner that ends before `end` begins."""
        return end - 2 if end > 1 and clause[end - 2].plain in self._words.determiners else end - 1

    def _listed(self, clause: Tokens) -> list[Tokens]:
        """ "my dentist, my gym and my plumber", "the phones of the plumber and of the baker" """
        cuts = self._cuts(clause)
        request = self._request(clause)
        if not cuts or (cuts[0][0] < 2 and not request):  # noqa: PLR2004
            return self._prefixed_list(clause, request)
        items = _between(clause, cuts)
        start = self._first_item(clause, cuts[0][0], items, request)
        if start is None or any(not 0 < len(item) <= _LONGEST_ITEM for item in items):
            return self._prefixed_list(clause, request)
        frame = clause[:start]
        if not self._asks_for_things(frame):
            return []
        items = [self._without_article(item) for item in items]
        return [clause[: cuts[0][0]], *(frame + item for item in items)]

    def _first_item(self, clause: Tokens, end: int, items: Sequence[Tokens], request: int) -> int | None:
        """Where the first of the things listed begins; None where they are no list."""
        words = self._words
        leading = [self._without_article(item)[0].plain for item in items if item]
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
        """ "tell me the name of the shop and the code", but not "the names of the shop and the baker" """
        first, nearest = starts[-1], starts[0]
        begins = request or (2 if self._is_of_things(clause[:2]) else 1 if clause[0].plain.endswith("'s") else 0)
        if first == nearest or first != begins:
            return None
        heads = clause[nearest - 2].plain if nearest > 1 else ""
        shares = heads.endswith("s") and clause[nearest - 1].plain in self._words.prepositions
        return nearest if shares and not self._words.weak_determiners else first

    def _without_article(self, item: Tokens) -> Tokens:
        """ "el de Mia" as "de Mia" """
        words = self._words
        elliptic = len(item) > 2 and item[0].plain in words.weak_determiners  # noqa: PLR2004
        return item[1:] if elliptic and item[1].plain in words.prepositions else item

    def _prefixed_list(self, clause: Tokens, request: int) -> list[Tokens]:
        """ "תזכיר לי את הרופא, המכון והמוסך": where "and" is a prefix only the comma and the last word tell."""
        join, commas = self._words.prefixed_join, [n for n, token in enumerate(clause) if token.text == ","]
        if not join or not request or not commas:
            return []
        last = next((n for n in range(len(clause) - 1, commas[-1], -1) if clause[n].plain.startswith(join)), None)
        if last is None:
            return []
        start = request
        while start < commas[0] and _is_function_word(clause[start].plain, self._words):
            start += 1
        if clause[start].plain.startswith(self._words.before_task_prefix):  # "to buy milk, eggs and bread"
            return []
        ends = [*commas, last]
        begins = [start, *(comma + 1 for comma in commas)]
        items = [clause[begin:end] for begin, end in zip(begins, ends, strict=True)]
        items.append((Token.of(clause[last].text[1:]), *clause[last + 1 :]))
        return [clause[:start] + item for item in items] if all(items) else []

    def _asks_for_things(self, frame: Tokens) -> bool:
        """Not so where the things listed are who does something: "how do the dog and the cat get on?" """
        if not frame or frame[-1].plain not in self._words.auxiliaries:
            return bool(frame)
        return self._is_of_things(frame)

    def _is_of_things(self, frame: Tokens) -> bool:
        """ "where are" """
        return (
            len(frame) == 2  # noqa: PLR2004
            and frame[0].plain in self._words.asks
            and frame[1].plain in self._words.being
        )

    def _completed(self, fragment: Tokens, before: Tokens) -> Tokens:
        """What is left of a question, in the words of the one before: "and Kenji's?", "¿y a Kenji?" """
        words = self._words
        fragment = self._without_article(fragment)
        if fragment[-1].possessive:
            place = next((n for n in range(len(before) - 1, -1, -1) if before[n].possessive), None)
            if place is not None:
                return before[: self._owner_ending(before, place + 1)] + fragment + before[place + 1 :]
        preposition = words.prepositions.get(fragment[0].plain)
        if preposition is not None:
            place = next(
                (n for n in range(len(before) - 1, 0, -1) if words.prepositions.get(before[n].plain) == preposition),
                None,
            )
            if place is not None:
                determined = before[place + 1].plain in words.determiners if place + 1 < len(before) else False
                return before[:place] + fragment + before[place + 2 + determined :]
        return (*before, _COMMA, *fragment)

    def _about(self, clause: Tokens, before: Tokens) -> Tokens:
        """ "what about Mia's?" in the words of the question before it; () where it has no place there."""
        size = len(_leading(clause, self._words.abouts).split())
        fragment = clause[size:]
        if not size or not fragment:
            return ()
        name = self._name_in(before)
        if fragment[-1].possessive or not name or not all(token.named for token in fragment):
            return self._completed(fragment, before) if fragment[-1].possessive else ()
        place = next(n for n in range(len(before) - 1, 0, -1) if before[n].text.startswith(name[-1].text))
        owner = "'s" if before[place].possessive else ""
        return (
            *before[: place - len(name) + 1],
            *fragment[:-1],
            Token.of(fragment[-1].text + owner),
            *before[place + 1 :],
        )

    def _pointed(self, part: Tokens, before: Tokens) -> Tokens:
        """The part with what it points back to: "when is it due" with "the rent"."""
        words = self._words
        place = next(
            (n for n, token in enumerate(part) if token.plain in words.pronouns | words.possessive_pronouns), None
        )
        if words.inverts:
            if place is None or any(token.named for token in part[1:place]):
                return part
            name, thing = self._name_in(before), self._thing_in(before)
            if part[place].plain in ("it", "its"):
                meant = thing or (name if before[-1].named else ())
            else:
                meant = name or thing
            if not meant:
                return (*before, _COMMA, *part)
            following = part[place + 1].plain if place + 1 < len(part) else ""
            owner = part[place].plain in words.possessive_pronouns and (
                part[place].plain != "her" or (following and following not in words.prepositions)
            )
            if owner:
                meant = (*meant[:-1], Token.of(f"{meant[-1].text}'s"))
            return (*part[:place], *meant, *part[place + 1 :])
        if self._stands_alone(part, place):
            return part
        meant = self._name_in(before) or self._thing_in(before) or self._without_question_words(before)
        return (*part, *meant)

    def _without_question_words(self, part: Tokens) -> Tokens:
        start = self._request(part)
        while start < len(part) - 1 and part[start].plain in self._words.asks | self._words.before_asks:
            start += 1
        return part[start:]

    def _stands_alone(self, part: Tokens, pronoun: int | None) -> bool:
        """Where the verb tells who: whether the part names what it is about."""
        words = self._words
        if not words.determiners:
            return pronoun is None
        of_oneself = any(token.plain.endswith(("o", "é", "mos")) and token.plain not in words.asks for token in part)
        named = any(token.named for token in part)
        determined = any(
            token.plain in words.determiners and not (n and part[n - 1].plain in ("se", "me", "te"))
            for n, token in enumerate(part[:-1])
        )
        return of_oneself or named or determined

    def _name_in(self, part: Tokens) -> Tokens:
        """The last name in it, not its first word."""
        last = next((n for n in range(len(part) - 1, 0, -1) if self._is_name(part[n])), None)
        if last is None:
            return self._hebrew_object(part)
        first = last
        while first > 1 and self._is_name(part[first - 1]) and not part[first - 1].possessive:
            first -= 1
        return (*part[first:last], _without_possessive(part[last]))

    def _is_name(self, token: Token) -> bool:
        return token.named and token.plain not in self._words.asks | self._words.determiners

    def _hebrew_object(self, part: Tokens) -> Tokens:
        """Hebrew has no capitals: what stands behind a preposition."""
        if not self._words.prefixed_join:
            return ()
        last = next((n for n in range(len(part) - 2, 0, -1) if part[n].plain in self._words.prepositions), None)
        return () if last is None else part[last + 1 : last + 2]

    def _may_be_of_thing(self, token: Token) -> bool:
        words = self._words
        return token.text != "," and token.plain not in words.auxiliaries | words.joins | words.asks

    def _thing_in(self, part: Tokens) -> Tokens:
        last = next((n for n in range(len(part) - 2, -1, -1) if part[n].plain in self._words.determiners), None)
        if last is None:
            return ()
        end = last + 1
        while end < min(last + 3, len(part)) and self._may_be_of_thing(part[end]):
            end += 1
        while end < len(part) and part[end - 1].plain in self._words.prepositions:
            end += 1
        return tuple(_without_possessive(token) for token in part[last:end])


def _between(clause: Tokens, cuts: Sequence[tuple[int, int]]) -> list[Tokens]:
    """What is joined on, one after the other."""
    ends = [place for place, _ in cuts[1:]] + [len(clause)]
    return [clause[after:end] for (_, after), end in zip(cuts, ends, strict=True)] if cuts else []


_COMMA = Token.of(",")


def _at_most(parts: Sequence[Tokens], most: int) -> list[Tokens]:
    """The last one holds what is left over."""
    if len(parts) <= most:
        return list(parts)
    rest: Tokens = ()
    for part in parts[most - 1 :]:
        rest += (*part, _COMMA)
    return [*parts[: most - 1], rest[:-1]]


def _content(tokens: Sequence[Token]) -> bool:
    return bool(terms(" ".join(token.text for token in tokens)))


def _spelled(tokens: Sequence[Token]) -> str:
    return " ".join(token.plain for token in tokens)


def _leading(tokens: Sequence[Token], phrases: Sequence[str]) -> str:
    """The first of the phrases that the tokens begin with; "" for none."""
    beginning = _spelled(tokens[:_LONGEST_PHRASE]) + " "
    return next((phrase for phrase in phrases if beginning.startswith(f"{phrase} ")), "")


def _without_possessive(token: Token) -> Token:
    return Token.of(token.text[:-2]) if token.plain.endswith("'s") else token


def _written(tokens: Sequence[Token]) -> str:
    return " ".join(token.text for token in tokens).replace(" ,", ",").strip(" ,")
