"""What somebody states about themselves and theirs, read out of their own words by the tables."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from langmem_plugin.facts.attributes import attribute_of
from langmem_plugin.facts.clauses import is_automated, is_invented, is_joke, unquoted
from langmem_plugin.facts.grammar import begins, language_of
from langmem_plugin.facts.joined_words import taken_apart
from langmem_plugin.facts.others_words import own_words
from langmem_plugin.facts.reader import read
from langmem_plugin.facts.reading import Reading
from langmem_plugin.facts.sensitive import is_sensitive
from langmem_plugin.facts.statement import Slot, Statement
from langmem_plugin.facts.subject import SELF
from langmem_plugin.facts.tokens import Sentence, Token, sentences
from langmem_plugin.languages.language import Language, words
from langmem_plugin.languages.plain_text import plain

_LONGEST_SENTENCE: Final = 120
_HAVING: Final = words("have|am|was|are|he|me|i've|just|nos|ya")
_OF_A_THING: Final = words("the|a|an|up|un|una|el|la|los|las|de|את")  # "we split up the bill"
_EVENT_SURE: Final = 0.9
_MOST: Final = 20  # facts of one message: nobody states more at once, and each is looked up among all that is known


def statements(text: str, *, said_at: datetime) -> list[Statement]:
    """Every fact that is plainly stated in `text`, in its order; none of a question, an idea or another's words.

    What is said twice is one fact, told where it was said last. At most 20 facts are read out of one text: the first.
    """
    return list(_statements(text, said_at, noted=False))


def statement_of(text: str, said_at: datetime | None = None) -> Statement:
    """One short fact as a memory words it, in the third person too; `slot` is None where it was not understood."""
    found = list(_statements(text, said_at, noted=True))
    whole = text.strip()
    if not found:
        return Statement(whole, whole, sensitive=is_sensitive(text))
    holding = [each for each in found if not (each.negated or each.over)]
    slotted = [each for each in holding or found if each.slot is not None]
    told = (slotted or found)[-1]
    also = tuple(replace(each, text=whole, quote=whole) for each in found if each is not told)
    return replace(told, text=whole, quote=whole, also=also)


def _statements(text: str, said_at: datetime | None, *, noted: bool) -> Iterator[Statement]:
    said = plain(text)
    if is_automated(said) or (not noted and is_invented(said)):
        return
    language = language_of(said, text)
    reading = Reading(text, language, said_at, noted)
    own = text if noted else own_words(text)
    for sentence in unquoted(list(sentences(own, language.contractions))):
        tokens = taken_apart(sentence.tokens, language)[:_LONGEST_SENTENCE]
        if noted or not is_joke(tokens, language):
            before = len(reading.found)
            read(reading, Sentence(tokens, sentence.asked))
            new = reading.found[before:]
            for event in () if sentence.asked else _life_event(text, tokens, language):
                told = [each for each in new if _same_words(each, event)]
                if noted or not told:  # in a talk what was read tells more: since when, from whom
                    reading.found[before:] = [event, *(each for each in new if each not in told)]
        if not noted and len(reading.found) >= _MOST:
            reading.found = _once(reading.found)
            if len(reading.found) >= _MOST:
                break
    yield from reading.found if noted else _once([*reading.found, *_only_mentioned(reading)])[:_MOST]


def _same_words(one: Statement, other: Statement) -> bool:
    ours, theirs = one.quote.strip(" ."), other.quote.strip(" .")
    return ours in theirs or theirs in ours


def _life_event(text: str, tokens: Sequence[Token], language: Language) -> Iterator[Statement]:
    """What has ended without being named: "I got laid off", "we broke up"; nobody else's."""
    leading = language.selves | language.fillers | {word for lead in language.leads for word in lead} | _HAVING
    for at in range(len(tokens)):
        for (attribute, value), events in language.life_events.items():
            used = begins(tokens, at, events)
            following = tokens[at + used].plain if used and at + used < len(tokens) else ""
            if used and following not in _OF_A_THING:
                quote = text[tokens[0].start : tokens[at + used - 1].end]
                kind = attribute_of(attribute)
                yield Statement(
                    quote[:1].upper() + quote[1:],
                    quote,
                    slot=Slot(SELF, attribute, kind.single),
                    value=value,
                    over=True,
                    fact_type=kind.fact_type,
                    confidence=_EVENT_SURE,
                    sensitive=is_sensitive(quote),
                    category=kind.category,
                )
                return
        if tokens[at].word and tokens[at].plain not in leading:
            return


def _only_mentioned(reading: Reading) -> Iterator[Statement]:
    """Who was named with a role and of whom nothing else is kept, by which the name is known anyhow."""
    told = " ".join(f"{each.slot.who} {plain(each.value or '')}" for each in reading.found if each.slot)
    for each in reading.mentioned:
        if plain(each.value or "") not in told:
            yield each


def _once(found: list[Statement]) -> list[Statement]:
    """Equal statements only where they were said last."""
    told: dict[tuple[object, ...], Statement] = {}
    for each in reversed(found):
        told.setdefault((plain(each.text), each.slot, plain(each.value or ""), each.negated, each.over), each)
    return list(reversed(told.values()))
