"""Things and people that serve somebody: "the oven repair guy", "tenant in flat 2", "flat 2's rent"."""

from collections.abc import Sequence
from typing import Final

from langmem_plugin.facts.grammar import begins
from langmem_plugin.facts.noun_phrases import in_plain, is_owning, noun_at
from langmem_plugin.facts.person_nouns import HONORIFICS, PUBLIC, serves
from langmem_plugin.facts.subject import SELF, Subject
from langmem_plugin.facts.tokens import Token
from langmem_plugin.languages.language import Language, words

_WHERE_OF: Final = words("in|at|of|for|from|en|de|del|para")
_AMOUNTS: Final = words("rent|fee|code|password|pin|door code|alarm code|budget|hourly rate|mortgage|username")
_WHITHER: Final = words("to|up|down|a")
_OF_A_STAY: Final = words(
    "room|hotel|promo|discount|qr|zip|area|country|booking|order|error|coupon|voucher|verification|dress|source|referral"
)
_GOES_ON: Final = words("now|btw|by|from|ahora|and")
NATIONS: Final = words(
    "german|french|english|british|irish|scottish|american|canadian|mexican|spanish|italian|greek|turkish|israeli|russian|polish|indian|chinese|japanese|korean|thai|dutch|danish|swedish|norwegian|brazilian|argentinian|african|asian|european|jewish|arab|muslim|christian|orthodox|catholic|hindu|buddhist|sikh|swedish|finnish|ukrainian|hungarian|portuguese|welsh|nigerian|ghanaian|colombian|peruvian|chilean|cuban|egyptian|lebanese|iranian|moroccan|filipino|vietnamese|romanian|czech|austrian|swiss|belgian|australian|kenyan"
)


def served_by(tokens: Sequence[Token], first: int, at: int, language: Language, *, theirs: bool) -> Subject | None:
    """As in "the oven repair guy is Stan", "the plumber i always use is Gary", "tenant in flat 2 is Mrs Osei"."""
    for end in range(at + 1, min(at + 8, len(tokens))):
        if begins(tokens, end, language.copulas):
            break
        if not tokens[end].word or tokens[end].plain in language.joins:
            return None
    else:
        return None
    used = begins(tokens, end, language.copulas)
    value = tokens[end + used : end + used + 1]
    if not value or not (value[0].capital or value[0].plain in HONORIFICS) or value[0].plain in language.common:
        return None
    head = next((place for place in range(at, end) if serves(tokens[place].plain, language)), None)
    if head is None or (tokens[head].plain in PUBLIC and theirs and head == end - 1 and head == at):
        return None
    within = tokens[head + 1 : end]
    if within and not (within[0].plain in language.selves or within[0].plain in _WHERE_OF):
        return None
    if not theirs and not within:
        return None
    if head > at and tokens[at].capital:
        return None
    if any(token.capital for token in within) and within[0].plain in ("of", "de", "del"):
        return None
    named = end + used
    while named < len(tokens) and (tokens[named].capital or tokens[named].plain in HONORIFICS or named == end + used):
        named += 1
    goes_on = named < len(tokens) and tokens[named].word
    if theirs and (value[0].plain in NATIONS or (goes_on and tokens[named].plain not in _GOES_ON | language.joins)):
        return None
    said = tokens[at : head + 1]
    placed = [token.plain for token in within if token.plain not in language.articles]
    if within and within[0].plain in _WHERE_OF and within[0].plain not in ("for", "para"):
        who = " ".join(placed[1:] if placed and placed[0] in _WHERE_OF else placed)
        return Subject(who, first, end, noun=" ".join(t.plain for t in said), shown=tuple(tokens[first:end]))
    return Subject(SELF, first, end, noun=" ".join(t.plain for t in said), loose=True, shown=tuple(tokens[first:end]))


def compound(tokens: Sequence[Token], first: int, at: int, language: Language) -> Subject | None:
    """As in "flat 2 rent is 980", "garage code is 5521", "flat 2's rent went up to 990": whose amount or code it is."""
    for place in range(at + 1, min(at + 5, len(tokens))):
        if not tokens[place - 1].word or tokens[place - 1].plain in language.possessives | language.selves:
            return None
        if begins(tokens, place, language.copulas) and tokens[place].plain != "'s":
            return None
        marked = is_owning(tokens, place)
        noun, length = noun_at(tokens, place + marked, language)
        end = place + marked + length
        if noun in _AMOUNTS and end < len(tokens) and tokens[end].plain in _WHITHER:
            used = 1 + (tokens[end].plain in ("up", "down"))
        else:
            used = begins(tokens, end, language.copulas) if noun in _AMOUNTS else 0
        if not used or end + used >= len(tokens):
            continue
        value = tokens[end + used]
        if not (any(c.isdigit() for c in value.plain) or value.written in "$€£₪"):
            return None
        if noun == "code" and not _OF_A_STAY.isdisjoint(token.plain for token in tokens[at:place]):
            return None
        who = in_plain([token for token in tokens[at:place] if token.plain not in language.articles])
        return Subject(who, first, end, noun=noun, shown=tuple(tokens[first:end])) if who else None
    return None
