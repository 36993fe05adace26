"""Whether a text is worth storing at all, and as what: by rules, before any model is asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from langmem_plugin.facts.clauses import after_leads, is_automated, is_joke, unquoted
from langmem_plugin.facts.extraction import statements
from langmem_plugin.facts.grammar import begins, language_of
from langmem_plugin.facts.others_words import own_words
from langmem_plugin.facts.statement import FactType, Statement
from langmem_plugin.facts.subject import SELF
from langmem_plugin.facts.tokens import Sentence, Token, sentences
from langmem_plugin.facts.values import number
from langmem_plugin.languages.language import Language, words
from langmem_plugin.languages.plain_text import plain

_NO_DAY: Final = datetime(2000, 1, 1, tzinfo=UTC)  # what is said does not depend on when
_TASTES: Final = frozenset({"like", "dislike", "preference", "diet", "drinking"})
_ENOUGH: Final = 2  # words that say something
_BEFORE: Final = 3  # words: "please don't forget", "that I need"
_AT_AN_HOUR: Final = words("at|by|around|las|la|ב|בשעה|לשעה")
_OF_AN_HOUR: Final = words("am|pm|o'clock")


@dataclass(frozen=True)
class Classification:
    """`key` and `value` are as a memory by name keeps them, `reason` says why in words for a log or a person."""

    should_store: bool
    reason: str
    fact_type: FactType | None = None
    key: str | None = None
    value: str | None = None


def classify(text: str, *, asked: str | None = None) -> Classification:
    """Whether `text` holds something to remember: preferences, habits, personal details, goals, standing wishes.

    `asked` is what it answers, where that is known: "Italian or Asian" is a preference after "Which cuisine do you
    like?". Not stored: questions, tasks and wishes of the moment, moods, mere ideas, jokes, words of others and of
    machines, and what is not clear. A cheap gate before a model: it says yes to what might hold a fact.
    """
    said = plain(text)
    language = language_of(said, text)
    if is_automated(said):
        return Classification(False, "Automated or forwarded text detected")
    found = list(unquoted(list(sentences(own_words(text), language.contractions))))
    if not any(token.word for sentence in found for token in sentence.tokens):
        return Classification(False, "No words detected")
    if stated := statements(text, said_at=_NO_DAY):
        return _of_statement(stated[0], _whole_value(stated))
    lasting = [sentence for sentence in found if not _is_errand(sentence.tokens, language)]
    if not lasting:
        return Classification(False, "Temporary instruction detected")
    return _of_wording(text, lasting, language, asked)


def _of_wording(text: str, found: Sequence[Sentence], language: Language, asked: str | None) -> Classification:
    return (
        _wished(text, found, language)
        or _refused(found, language)
        or _answer(text, found, language, asked)
        or _taste(text, found, language)
        or Classification(False, _why_not(found, language))
    )


def _whole_value(stated: Sequence[Statement]) -> str | None:
    """The value of the first statement, with those that were listed with it: "tea, coffee and juice"."""
    first = stated[0]
    last = [each for each in stated if each.quote == first.quote and each.slot == first.slot][-1]
    if first.value is None or last.value is None or last is first:
        return first.value
    start, end = first.quote.find(first.value), first.quote.rfind(last.value)
    return first.quote[start : end + len(last.value)] if 0 <= start < end else first.value


def _of_statement(statement: Statement, value: str | None) -> Classification:
    slot = statement.slot
    if slot is None:
        return Classification(True, "Correction detected", "note", "note", value)
    if slot.attribute in _TASTES and slot.who == SELF and not statement.negated:
        key = "preference"
    else:
        key = "_".join(([] if slot.who == SELF else slot.who.split()) + slot.attribute.split())
    value = f"not {value}" if statement.negated or statement.over else value
    kind = {"preference": "User preference", "decision": "Decision", "strategic": "Goal"}.get(
        statement.fact_type, "Personal detail"
    )
    return Classification(True, f"{kind} detected", statement.fact_type, key, value)


def _wished(text: str, found: Sequence[Sentence], language: Language) -> Classification | None:
    """As in "Remember that …", "from now on …", "use a formal tone", "remind me every morning"."""
    for sentence in found:
        tokens = sentence.tokens
        for at in range(min(len(tokens), 3)):
            used = begins(tokens, at, language.remember)
            if used and len(tokens) - at - used >= _ENOUGH and not sentence.asked:
                value = text[tokens[at + used].start : tokens[-1].end]
                return Classification(True, "Request to remember detected", "note", "note", value)
        at = after_leads(tokens, 0, language)
        if at >= len(tokens) or sentence.asked:
            continue
        standing = begins(tokens, at, language.instructed) or begins(tokens, 0, language.instructed)
        manner = tokens[at].plain in language.addressed and any(
            token.plain in language.manners for token in tokens[at + 1 :]
        )
        often = tokens[at].plain in language.asks and any(
            token.plain in language.frequencies for token in tokens[at + 1 :]
        )
        if len(tokens) - at > 1 and (standing or manner or often):
            beginning = 0 if begins(tokens, 0, language.instructed) else at
            value = text[tokens[beginning].start : tokens[-1].end]
            return Classification(True, "Standing wish detected", "preference", "instruction", value)
    return None


def _is_errand(tokens: Sequence[Token], language: Language) -> bool:
    """As in "remember that I need a taxi at 5": wanted at one moment, and done once; not with "every Monday"."""
    used = next((at + used for at in range(_BEFORE) if (used := begins(tokens, at, language.remember))), 0)
    if not used or any(token.plain in language.frequencies for token in tokens):
        return False
    places = range(used, len(tokens))
    needed = any(begins(tokens, at, language.needs) for at in places[:_BEFORE])
    return needed and any(begins(tokens, at, language.momentary) or _is_hour(tokens, at) for at in places)


def _is_hour(tokens: Sequence[Token], at: int) -> bool:
    """As in "at 5", "5 pm", "a las 5", "ב-5", "בחמש"."""
    said = tokens[at].plain
    bare = said.removeprefix("ב")
    if not (bare[:1].isdigit() or number([bare])):
        return False
    before = [token.plain for token in tokens[max(0, at - 2) : at] if token.word][-1:]
    after = [token.plain for token in tokens[at + 1 : at + 2]]
    return bare != said or not _AT_AN_HOUR.isdisjoint(before) or not _OF_AN_HOUR.isdisjoint([*after, bare[-2:]])


def _refused(found: Sequence[Sentence], language: Language) -> Classification | None:
    if any(is_joke(sentence.tokens, language) for sentence in found):
        return Classification(False, "Joke detected")
    if all(sentence.asked for sentence in found):
        return Classification(False, "Question detected")
    return None


def _answer(text: str, found: Sequence[Sentence], language: Language, asked: str | None) -> Classification | None:
    """What is answered to a question about the person is about them; thanks and "no preference" tell nothing."""
    if asked is None or "?" not in asked:
        return None
    telling = [sentence for sentence in found if not sentence.asked and _tells(sentence.tokens, language)]
    if not telling:
        return None
    value = " ".join(text[each.tokens[0].start : each.tokens[-1].end] for each in telling)
    return Classification(True, "Answer about the user detected", "preference", "preference", value)


def _tells(tokens: Sequence[Token], language: Language) -> bool:
    content = _content(tokens, language)
    declined = any(begins(tokens, at, language.declined) for at in range(len(tokens)))
    return bool(content) and not (declined and len(content) <= _ENOUGH)


def _taste(text: str, found: Sequence[Sentence], language: Language) -> Classification | None:
    """As in "I would like something spicy with lamb": a wish of the person's own, with what it is about."""
    for sentence in found:
        tokens = sentence.tokens
        if sentence.asked or not any(token.plain in language.selves for token in tokens):
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


def _why_not(found: Sequence[Sentence], language: Language) -> str:
    tokens = [token for sentence in found for token in sentence.tokens]
    at = after_leads(tokens, 0, language)
    first = tokens[min(at, len(tokens) - 1)]
    if any(begins(tokens, place, language.momentary) for place in range(len(tokens))):
        return "Temporary instruction detected" if first.plain in language.asks else "Temporary state detected"
    if any(begins(tokens, place, language.conditional) for place in range(len(tokens))):
        return "Mere idea detected"
    if first.plain in language.asks or first.plain in language.questions:
        return "Temporary instruction detected"
    if any(token.plain in language.moods for token in tokens):
        return "Emotional statement or small talk detected"
    return "Unclear information"
