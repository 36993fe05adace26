"""The words of a question as the rules read them, and the phrases that questions are made of."""

import re
from collections.abc import Sequence
from typing import NamedTuple, Self

from langmem_plugin.memory.search.asking_words import AskingWords
from langmem_plugin.memory.search.tokenizer import terms

_LONGEST_PHRASE = 6  # words
_TOKEN = re.compile(r"[^\W_]++(?:['’\"״׳.:\-][^\W_]++)*+['’]?|[?!;.](?=[\s?!.)\"”»]|$)|[^\w\s?!;.]|\n")
_POSSESSIVE = ("'s", "s'", "’s", "s’")
_NOT_POSSESSIVE = frozenset("what's who's where's when's how's it's that's there's he's she's let's".split())  # noqa: SIM905
_NOT_NAMES = frozenset(["i", "i'm", "i'd", "i've", "i'll"])


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


Tokens = tuple[Token, ...]
COMMA = Token.of(",")


def tokens_of(text: str, words: AskingWords) -> list[Token]:
    tokens: list[Token] = []
    quoted = False
    for match in _TOKEN.finditer(text):
        token = Token.of(match[0], quoted=quoted)
        if token.text in '"“”«»':
            quoted = not quoted
        rest = token.plain.removeprefix(words.prefixed_join)
        if rest != token.plain and words.prefixed_join and is_function_word(rest, words):
            tokens += [Token.of(words.prefixed_join, quoted=quoted), Token.of(token.text[1:], quoted=quoted)]
        else:
            tokens.append(token)
    return tokens


def is_function_word(plain: str, words: AskingWords) -> bool:
    return any(plain in each for each in (words.asks, words.before_asks, words.prepositions)) or any(
        request.startswith(f"{plain} ") or request == plain for request in words.requests
    )


def after_join(words: AskingWords, tokens: Tokens, place: int) -> int | None:
    """Where what is joined at `place` begins; None where nothing is joined."""
    after = place
    while after < len(tokens) and (tokens[after].text == "," or tokens[after].plain in words.joins):
        after += 1
    if after == place and spelled(tokens[place : place + 3]) == "as well as":
        after += 3
    return after if place < after < len(tokens) else None


def request_in(words: AskingWords, tokens: Sequence[Token]) -> int:
    """How many words the request takes that `tokens` begin with."""
    request = leading(tokens, words.requests)
    size = len(request.split())
    return 0 if size in (0, len(tokens)) or _is_task(words, request, tokens[size].plain) else size


def _is_task(words: AskingWords, request: str, following: str) -> bool:
    """As in "remind me to call", "necesito comprar": something to do and not to know."""
    if request in words.wishes and following not in words.determiners:
        return True
    return following in words.before_task or following.endswith(words.task_endings)


def without_lead_in(words: AskingWords, clause: Tokens) -> Tokens:
    while clause:
        if clause[0].text == ",":
            clause = clause[1:]
            continue
        lead_in = leading(clause, words.lead_ins)
        if not lead_in:
            break
        clause = clause[len(lead_in.split()) :]
    return clause


def without_article(words: AskingWords, item: Tokens) -> Tokens:
    """Of "el de Mia" what is "de Mia"."""
    elliptic = len(item) > 2 and item[0].plain in words.weak_determiners  # noqa: PLR2004
    return item[1:] if elliptic and item[1].plain in words.prepositions else item


def owner_ending(words: AskingWords, clause: Tokens, end: int) -> int:
    """Where an owner that ends before `end` begins."""
    return end - 2 if end > 1 and clause[end - 2].plain in words.determiners else end - 1


def content(tokens: Sequence[Token]) -> bool:
    return bool(terms(" ".join(token.text for token in tokens)))


def spelled(tokens: Sequence[Token]) -> str:
    return " ".join(token.plain for token in tokens)


def written(tokens: Sequence[Token]) -> str:
    return " ".join(token.text for token in tokens).replace(" ,", ",").strip(" ,")


def leading(tokens: Sequence[Token], phrases: Sequence[str]) -> str:
    """The first of the phrases that the tokens begin with; "" for none."""
    beginning = spelled(tokens[:_LONGEST_PHRASE]) + " "
    return next((phrase for phrase in phrases if beginning.startswith(f"{phrase} ")), "")


def without_possessive(token: Token) -> Token:
    return Token.of(token.text[:-2]) if token.plain.endswith("'s") else token
