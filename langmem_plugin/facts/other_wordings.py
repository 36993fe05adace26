"""Facts said without naming what they are of: "we buy our flour from X" of a supplier, "I raised the rent to 990"."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from langmem_plugin.facts.checking import checked
from langmem_plugin.facts.clauses import after_leads
from langmem_plugin.facts.finding import Finding
from langmem_plugin.facts.grammar import bare, begins
from langmem_plugin.facts.meaning_phrases import MAKERS
from langmem_plugin.facts.reading import Reading
from langmem_plugin.facts.subject import SPEAKER
from langmem_plugin.facts.subjects import subject_at
from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.value_span import value_end
from langmem_plugin.languages.language import phrases, words

_MADE: Final = {"line": "carrier", "bank": "bank"}
_SWITCHED: Final = phrases(
    "switched to|switched over to|moved to|changed to|moved over to|me cambie a|nos cambiamos a|me pase a|cambie a"
)
_BUYING: Final = words("buy|get|order|source|purchase|compramos|compro|pedimos|קונים|קונה|מזמינים|מזמין|מזמינה")
_FROM: Final = words("from|a|de|en")
_COMING: Final = (("comes", "from"), ("come", "from"), ("viene", "de"), ("is", "from"))
_SUPPLYING: Final = words(
    "supplies|supply|does|handles|makes|fixes|cuts|cleans|walks|grooms|services|delivers|bakes|prints|teaches|minds|suministra|provee|מספק|מספקת"
)
_BRINGING: Final = (("nos", "lo", "trae"), ("nos", "la", "trae"), ("nos", "los", "trae"), ("nos", "las", "trae"))
_ALL: Final = words("all|our|my|the|most|of|todo|toda|el|la|los|las|nuestro|nuestra|mi|את|כל|שלנו")
_SETTING: Final = words(
    "raised|lowered|increased|decreased|put|changed|set|bumped|cut|dropped|reduced|subi|subimos|baje|bajamos|cambie|cambiamos|subido|bajado|העליתי|העלינו|הורדתי|הורדנו|שיניתי|שינינו"
)
_WHITHER: Final = words("to|a|at|ל")
_AGAIN: Final = words("up|down|back|again|from|de|desde|now")
_LONGEST_ITEM: Final = 3


def supplied(reading: Reading, at: int) -> Finding | None:
    """As in "we buy all our flour from Millbrook", "our bread comes from Ruiz", "Millbrook supplies our flour"."""
    tokens, language = reading.tokens, reading.language
    for place in range(at, min(at + 6, len(tokens) - 1)):
        word = tokens[place].plain
        if word in _BUYING:
            if place > at and not any(t.plain in language.selves for t in tokens[at:place]):
                return None
            if place == at and not language.drops_subject and language.name != "he":
                return None
            return _bought(reading, at, place)
        if word in _SUPPLYING and place > at and tokens[at].capital:
            mine = tokens[place + 1 : place + 2]
            last = value_end(reading, place + 1)
            if mine and (mine[0].plain in language.possessives or mine[0].plain in ("me", "us")):
                return _supply(reading, at, last, tokens[place + 1 : last], tokens[at:place])
            return None
        if tuple(t.plain for t in tokens[place : place + 2]) in _COMING:
            owned = any(t.plain in language.possessives for t in tokens[at:place])
            start = place + 2
            if not owned or start >= len(tokens) or not tokens[start].capital:
                return None
            last = value_end(reading, start)
            return _supply(reading, at, last, tokens[at:place], tokens[start:last])
        if tuple(t.plain for t in tokens[place : place + 3]) in _BRINGING and place + 3 < len(tokens):
            last = value_end(reading, place + 3)
            return _supply(reading, at, last, tokens[at:place], tokens[place + 3 : last])
    return None


def _bought(reading: Reading, at: int, verb: int) -> Finding | None:
    tokens = reading.tokens
    if reading.language.name == "he":
        for place in range(verb + 1, min(verb + 4, len(tokens))):
            if tokens[place].plain[:1] == "מ" and len(tokens[place].plain) > 3:
                item = [token for token in (*tokens[at:verb], *tokens[verb + 1 : place]) if token.plain[:1] == "ה"]
                last = value_end(reading, place)
                value = (bare(tokens[place], 1), *tokens[place + 1 : last])
                return _supply(reading, at, last, [bare(token, 1) for token in item], value)
        return None
    for place in range(verb + 1, min(verb + 7, len(tokens) - 1)):
        ours = tokens[verb + 1].plain in _ALL
        if tokens[place].plain in _FROM and tokens[place + 1].capital and place > verb + 2 and ours:
            last = value_end(reading, place + 1)
            return _supply(reading, at, last, tokens[verb + 1 : place], tokens[place + 1 : last])
    return None


def _supply(reading: Reading, at: int, last: int, item: Sequence[Token], value: Sequence[Token]) -> Finding | None:
    said = [token.plain for token in item if token.word and token.plain not in _ALL | reading.language.possessives]
    if not 0 < len(said) <= _LONGEST_ITEM or not value or any(word in reading.language.pronouns for word in said):
        return None
    subject = replace(SPEAKER, first=at, end=at)
    return checked(reading, Finding(subject, f"{' '.join(said)} supplier", tuple(value), at, last))


def switched_maker(reading: Reading, at: int) -> Finding | None:
    """As in "switched to Verizon last week": what it is of is told by whose it is."""
    place = at
    while (
        place < len(reading.tokens)
        and reading.tokens[place].plain in reading.language.selves | reading.language.fillers
    ):
        place += 1
    used = begins(reading.tokens, place, _SWITCHED)
    if not used or place + used >= len(reading.tokens):
        return None
    token = reading.tokens[place + used]
    last = place + used + 1
    kind = next((attribute for name, attribute in _MADE.items() if token.plain in MAKERS[name]), None)
    if kind is None or (last < len(reading.tokens) and reading.tokens[last].capital):
        return None
    return checked(reading, Finding(replace(SPEAKER, first=at, end=place), kind, (token,), at, last))


def mistaken(reading: Reading, at: int) -> Finding | None:
    """As in "I got mum's birthday wrong, it's 4 March"."""
    tokens, language = reading.tokens, reading.language
    verb = at + 1
    if verb + 4 >= len(tokens) or tokens[at].plain not in language.selves or tokens[verb].plain not in ("got", "had"):
        return None
    wrong = next((place for place in range(verb + 2, min(verb + 7, len(tokens))) if tokens[place].plain == "wrong"), 0)
    if not wrong:
        return None
    told = Token("is", tokens[wrong].start, tokens[wrong].end, tokens[wrong].written)
    subject = subject_at((*tokens[:wrong], told, *tokens[wrong + 1 :]), verb + 1, language)
    place = after_leads(tokens, wrong + 1, language)
    said = begins(tokens, place, language.it_is)
    if subject is None or subject.noun is None or subject.end != wrong or not said or place + said >= len(tokens):
        return None
    last = value_end(reading, place + said, named=True)
    subject = replace(subject, first=at, end=place + said)
    return checked(reading, Finding(subject, subject.noun or "", tokens[place + said : last], at, last))


def set_anew(reading: Reading, at: int) -> Finding | None:
    """As in "I raised flat 2's rent to 990", "I've put my rate up to 70", "subí mi tarifa a 45"."""
    tokens, language = reading.tokens, reading.language
    place = at
    while place < len(tokens) and tokens[place].plain in language.selves | language.fillers | _HAVING:
        place += 1
    if place + 3 >= len(tokens) or tokens[place].plain not in _SETTING:
        return None
    place += 1
    place += tokens[place].plain in ("up", "down")
    subject = subject_at(tokens, place, language)
    if subject is None or subject.noun is None:
        return None
    end = subject.end
    while end < len(tokens) and tokens[end].plain in _AGAIN:
        end += 1
    if end + 1 >= len(tokens) or tokens[end].plain not in _WHITHER:
        return None
    last = value_end(reading, end + 1, named=True)
    value = tokens[end + 1 : last]
    if not any(c.isdigit() for token in value for c in token.plain):
        return None
    said = Finding(replace(subject, first=at), subject.noun, value, at, last)
    return checked(reading, said)


_HAVING: Final = words("have|has|he|hemos|ha")
