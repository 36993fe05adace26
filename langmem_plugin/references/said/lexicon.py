"""Every form of a language table with its grammatical kinds, to be looked up by its words."""

from functools import lru_cache

from langmem_plugin.references.text.tokens import tokens
from langmem_plugin.references.words import Comparison, Language

Value = int | Comparison | tuple[str, ...]
Kinds = dict[str, Value]
"""The kinds of a form with the number, comparison or field names that each carries."""
Lexicon = dict[tuple[str, ...], Kinds]


@lru_cache(maxsize=8)
def lexicon(language: Language) -> tuple[Lexicon, int]:
    """The forms by their words, and of how many words the longest is."""
    table: Lexicon = {}

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


def look_up(words: tuple[str, ...], table: Lexicon, language: Language) -> tuple[Kinds | None, bool]:
    """The kinds of some words, also behind prefix letters, and whether those make it definite."""
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
