"""An utterance with every word marked by its grammatical kinds, from the language tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from rapidfuzz.distance import OSA

from langmem_plugin.references.text.tokens import Token, normal, tokens
from langmem_plugin.references.words import LANGUAGES, Comparison, Language, phrases

Value = int | Comparison | tuple[str, ...]


@dataclass
class Mark:
    """A word, or several read as one, with its kinds. `values` holds the number, comparison or field names
    of a kind.
    """

    text: str
    start: int
    end: int
    kinds: frozenset[str] = frozenset()
    values: Mapping[str, Value] = field(default_factory=dict)
    definite: bool = False

    def has(self, *kinds: str) -> bool:
        return any(kind in self.kinds for kind in kinds)

    def number(self, kind: str) -> int:
        value = self.values[kind]
        if not isinstance(value, int):
            raise TypeError(f"{kind} holds no number")
        return value


_MISTYPED = {"ordinal", "marker", "comparison", "last", "penultimate", "both", "except"}
_MOST_DIGITS = 100
_SPANISH_MARKS = frozenset("áéíóúñ¿¡")
_Entry = dict[str, Value]
_Trie = dict[tuple[str, ...], _Entry]


@lru_cache(maxsize=8)
def _trie(language: Language) -> tuple[_Trie, int]:
    table: _Trie = {}

    def put(form: str, kind: str, value: Value = 0) -> None:
        table.setdefault(tuple(token.text for token in tokens(form)), {}).setdefault(kind, value)

    for kind, forms in language.kinds.items():
        for form in forms:
            put(form, kind)
    for form, number in language.ordinals.items():
        put(form, "ordinal", number)
    for form, number in language.cardinals.items():
        put(form, "cardinal", number)
    for form, comparison in language.comparisons.items():
        put(form, "comparison", comparison)
    for form, names in language.attributes.items():
        put(form, "attribute", names)
    for form in language.weekdays:
        put(form, "weekday")
    for form in language.months:
        put(form, "month")
    return table, max(len(key) for key in table)


@lru_cache(maxsize=8)
def _typos(language: Language) -> tuple[str, ...]:
    """Single words worth recognising when mistyped."""
    return tuple(
        key[0]
        for key, kinds in _trie(language)[0].items()
        if len(key) == 1
        and len(key[0]) >= 4
        and key[0].isalpha()
        and (kinds.keys() & _MISTYPED or key[0] == "everything")
    )


def spoken(text: str) -> Language:
    """The language an utterance is written in: by script, else by its function words; English when in
    doubt.
    """
    english, hebrew, spanish = LANGUAGES
    if any("\u05d0" <= letter <= "\u05ea" for letter in text):
        return hebrew
    words = [token.text for token in tokens(text) if token.word]
    accented = bool(words) and not _SPANISH_MARKS.isdisjoint(text.lower())
    scores = []
    for language in (english, spanish):
        table = _trie(language)[0]
        scores.append(sum((word in language.stop) + ((word,) in table) for word in words))
    scores[1] += sum(_has_enclitic(word, word) for word in words)
    return spanish if scores[1] + 2 * accented > scores[0] else english


def marked(text: str, known: frozenset[str] = frozenset()) -> tuple[list[Mark], Language]:
    """The utterance as marks, longest phrases first. Words in `known` (those of the items shown) are never
    taken for typos.
    """
    language = spoken(text)
    table, longest = _trie(language)
    fallback = _trie(LANGUAGES[0])[0] if language is not LANGUAGES[0] else {}
    found = tokens(text)
    marks: list[Mark] = []
    index = 0
    while index < len(found):
        token = found[index]
        for size in range(min(longest, len(found) - index), 0, -1):
            words = tuple(token.text for token in found[index : index + size])
            entry, definite = _lookup(words, table, language)
            if entry is None and (size > 1 or not language.prefixes):
                entry = fallback.get(words) if language.prefixes else None
            if (
                entry is not None
                and language.name == "es"
                and "á" in text[found[index].start : found[index].end].lower()
            ):
                entry = {kind: value for kind, value in entry.items() if kind != "this"}  # "está" is a verb
            if entry is not None:
                marks.append(_mark(text, found[index], found[index + size - 1], entry, definite))
                index += size
                break
        else:
            following = found[index + 1].text if index + 1 < len(found) else ""
            marks.append(_single(text, token, language, known, before_one=following in ("one", "ones")))
            index += 1
    return marks, language


def _is_number(text: str) -> bool:
    """Whether all are digits, and no more of them than anybody counts or numbers with."""
    return text.isdecimal() and len(text) <= _MOST_DIGITS


def _lookup(words: tuple[str, ...], table: _Trie, language: Language) -> tuple[_Entry | None, bool]:
    entry = table.get(words)
    if entry is not None or not language.prefixes:
        return entry, False
    first = words[0]
    for length in (1, 2, 3):
        if len(first) - length < 2 or not all(letter in language.prefixes for letter in first[:length]):
            break
        entry = table.get((first[length:], *words[1:]))
        if entry is not None:
            definite = first[length - 1] in language.articles
            if first[0] == "מ" and "cardinal" not in entry:
                return {**entry, "from": 0}, definite
            return entry, definite
    return None, False


def _mark(text: str, first: Token, last: Token, entry: _Entry, definite: bool) -> Mark:
    return Mark(normal(text[first.start : last.end]), first.start, last.end, frozenset(entry), entry, definite)


def _single(text: str, token: Token, language: Language, known: frozenset[str], *, before_one: bool = False) -> Mark:
    mark = Mark(token.text, token.start, token.end)
    value = token.text
    if value.startswith("#") and _is_number(value[1:]):
        return Mark(value, token.start, token.end, frozenset({"label"}), {"label": int(value[1:])})
    if _is_number(value):
        return Mark(value, token.start, token.end, frozenset({"cardinal", "digit"}), {"cardinal": int(value)})
    if value[:1].isdigit():
        digits = value.rstrip("abcdefghijklmnopqrstuvwxyzºª°")
        if _is_number(digits) and len(digits) < len(value):
            return Mark(value, token.start, token.end, frozenset({"ordinal"}), {"ordinal": int(digits)})
        return Mark(value, token.start, token.end, frozenset({"value"}))
    if not token.word:
        return Mark(value, token.start, token.end, frozenset({"punctuation"}))
    if len(value) == 1 and value.isascii():
        return Mark(value, token.start, token.end, frozenset({"letter"}), {"letter": ord(value) - 96})
    if language.enclitics and _has_enclitic(text[token.start : token.end], value):
        plural = value.endswith("s")
        kind = "them" if plural else "it"
        return Mark(value, token.start, token.end, frozenset({kind, "enclitic"}), {kind: 0})
    if len(value) >= (3 if before_one else 4) and value not in known and value not in language.stop:
        for form in _typos(language):
            if form[0] == value[0] and abs(len(form) - len(value)) <= 1:
                distance = OSA.distance(form, value, score_cutoff=1)
                if distance == 1 and (
                    before_one
                    or len(value) >= 6
                    or (len(form) >= 6 and form in language.kinds["marker"])
                    or len(form) == len(value) == 5
                    or sorted(form) == sorted(value)
                ):
                    if form + "s" == value and form not in language.kinds["marker"]:
                        continue
                    entry = _trie(language)[0][(form,)]
                    return Mark(value, token.start, token.end, frozenset(entry), entry)
    if language.articles and len(value) > 3 and value[0] == language.articles[0]:
        mark.definite = True
    return mark


_VERBS = frozenset(
    phrases(
        "guarda|pide|manda|envia|agrega|anade|abre|borra|elimina|compra|reserva|muestra|pon|haz|da|dame|cancela|llama|comparte|cambia|mueve|toma|escoge|elige|quita|apunta|imprime|repite|lee|mira|prueba|sube|baja|usa|marca|busca|confirma|ordena"
    )
)


def _has_enclitic(written: str, value: str) -> bool:
    for pronoun in ("los", "las", "lo", "la"):
        if value.endswith(pronoun):
            verb = value[: -len(pronoun)]
            for object_pronoun in ("me", "nos", "te", "se", ""):
                bare = verb[: len(verb) - len(object_pronoun)] if verb.endswith(object_pronoun) else ""
                if bare in _VERBS or (len(bare) > 3 and bare.endswith(("ar", "er", "ir", "ando", "iendo"))):
                    return True
            return any(letter in "áéíóú" for letter in written.lower()) and len(verb) > 2
    return False
