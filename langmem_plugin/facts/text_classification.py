"""Classify a text: as worth storing or not, and as which kind of fact; by rules, before any model is asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from langmem_plugin.facts.attributes import GROUPS, FactType, Slot, Statement
from langmem_plugin.facts.guards import is_automated, mocks, own_words
from langmem_plugin.facts.rule_extraction import is_errand, statements
from langmem_plugin.facts.sentence_splitting import Sentence, Token, after_leads, begins, sentences
from langmem_plugin.facts.statement_patterns import language_of
from langmem_plugin.facts.subject import SELF
from langmem_plugin.languages.language_words import Language

_NO_DAY: Final = datetime(2000, 1, 1, tzinfo=UTC)  # any day will do: the reading does not depend on it
_ENOUGH: Final = 2  # words that say something


@dataclass(frozen=True)
class Classification:
    """The answer to whether a text is worth storing.

    `key` and `value` are as a memory by name keeps them; `reason` says why, in words for a log or a person.
    """

    should_store: bool
    reason: str
    fact_type: FactType | None = None
    key: str | None = None
    value: str | None = None


def classify(text: str) -> Classification:
    """Tell whether `text` holds something to remember: preferences, habits, personal details, goals, standing wishes.

    Not stored: questions, tasks and wishes of the moment, moods, mere ideas, jokes, words of others and of
    machines, and what is not clear. A cheap gate before a model: it says yes to what might hold a fact.
    """
    language = language_of(text)
    if is_automated(text):
        return Classification(False, "Automated or forwarded text detected")
    if stated := statements(text, said_at=_NO_DAY):
        return _of_statement(stated[0], _whole_value(stated))
    if mocks(text):
        return Classification(False, "Joke detected")
    found = [each for each in sentences(own_words(text), language) if any(t.word for t in each.tokens)]
    told = [each for each in found if not each.asked and not is_errand(text, each.tokens, language)]
    if not told:
        asked_all = all(each.asked for each in found)
        reason = "Question" if asked_all else "Temporary instruction"
        return Classification(False, f"{reason} detected" if found else "No words detected")
    return (
        _wished(text, told, language)
        or _taste(text, told, language)
        or Classification(
            False, "Temporary instruction detected" if _asks(told[0], language) else "Nothing lasting detected"
        )
    )


def _asks(sentence: Sentence, language: Language) -> bool:
    at = after_leads(sentence.tokens, 0, language)
    return any(token.plain in language.asks for token in sentence.tokens[at : at + 1])


def _whole_value(stated: Sequence[Statement]) -> str | None:
    """Return the value of the first statement, with those that were listed with it: "tea, coffee and juice"."""
    first = stated[0]
    last = [each for each in stated if each.quote == first.quote and each.slot == first.slot][-1]
    if first.value is None or last.value is None or last is first:
        return first.value
    start, end = first.quote.find(first.value), first.quote.rfind(last.value)
    return first.quote[start : end + len(last.value)] if 0 <= start < end else first.value


def _of_statement(statement: Statement, value: str | None) -> Classification:
    slot = statement.slot or Slot(SELF, "note", single=False)
    preferred = slot.attribute in GROUPS["preferences"] and slot.who == SELF and not statement.negated
    of_whom = () if slot.who == SELF else slot.who.split()
    key = "preference" if preferred else "_".join((*of_whom, *slot.attribute.split()))
    value = f"not {value}" if statement.negated or statement.over else value
    kind = {"preference": "User preference", "decision": "Decision", "strategic": "Goal"}.get(
        statement.fact_type, "Personal detail"
    )
    return Classification(True, f"{kind} detected", statement.fact_type, key, value)


def _wished(text: str, told: Sequence[Sentence], language: Language) -> Classification | None:
    """Recognise a standing wish, as in "use a formal tone", "remind me every morning"."""
    for sentence in told:
        tokens = sentence.tokens
        at = after_leads(tokens, 0, language)
        rest = {token.plain for token in tokens[at + 1 :]}
        if at >= len(tokens) or not rest:
            continue
        manner = tokens[at].plain in language.addressed and rest & language.manners
        often = tokens[at].plain in language.asks and rest & language.frequencies
        if manner or often:
            value = text[tokens[at].start : tokens[-1].end]
            return Classification(True, "Standing wish detected", "preference", "instruction", value)
    return None


def _taste(text: str, told: Sequence[Sentence], language: Language) -> Classification | None:
    """Recognise a wish of the person's own, with what it is about, as in "I would like something spicy with lamb"."""
    for sentence in told:
        tokens = sentence.tokens
        if not any(token.plain in language.selves for token in tokens):
            continue
        for at in range(len(tokens)):
            used = begins(tokens, at, language.wishes)
            brief = any(begins(tokens, place, language.momentary) for place in range(at, len(tokens)))
            content = _content(tokens[at + used :], language)
            if used and not brief and len(content) >= _ENOUGH and tokens[at - 1].plain not in language.others:
                value = text[tokens[at + used].start : tokens[-1].end]
                return Classification(True, "User preference detected", "preference", "preference", value)
    return None


def _content(tokens: Sequence[Token], language: Language) -> list[Token]:
    idle = (
        language.courtesies | language.common | language.fillers | language.joins | language.selves | language.articles
    )
    return [token for token in tokens if token.word and token.plain not in idle]
