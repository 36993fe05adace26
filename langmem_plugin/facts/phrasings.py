"""Ways to say a fact that are not a subject and what is said of it: changes, corrections, standing wishes, notes."""

from dataclasses import replace
from typing import Final

from langmem_plugin.facts.checking import checked
from langmem_plugin.facts.clauses import after_leads
from langmem_plugin.facts.copulas import copula
from langmem_plugin.facts.finding import Finding
from langmem_plugin.facts.grammar import bare, begins
from langmem_plugin.facts.noun_phrases import attribute_at
from langmem_plugin.facts.person_nouns import ends_as_one, is_profession, serves
from langmem_plugin.facts.predicates import predicate
from langmem_plugin.facts.reading import Reading
from langmem_plugin.facts.subject import SELF, SPEAKER, Subject
from langmem_plugin.facts.subjects import subject_at
from langmem_plugin.facts.tokens import Token
from langmem_plugin.facts.value_span import value_end
from langmem_plugin.languages.language import words

_WHERE: Final = (
    ("where", "i", "work"),
    ("where", "we", "work"),
    ("where", "i", "live"),
    ("where", "we", "live"),
    ("donde", "trabajo"),
    ("donde", "vivo"),
)


_PARTS_OF_WORK: Final = words("מחלקת|צוות|מחלקה|תחום|אגף")
_HERE: Final = words("here|aqui|פה|כאן")
# What an assistant is told to do or to leave, besides how it is to write.
_TOLD: Final = words(
    "get|schedule|book|add|put|order|suggest|recommend|remind|pick|choose|set|call|play|plan|buy|send|share|mention|assume|round|text|message|wake|include|trust|delete|cc|charge"
    "|pongas|llames|mandes|uses|escribas|recomiendes|reserves|recuerdes|sugieras|tutea|tuteame|trateme|ponme|reserva|recomienda|sugiere"
    "|תקבע|תקבעי|תזמין|תזמיני|תציע|תציעי|תמליץ|תמליצי|תשים|תשימי|תתקשר|תתקשרי|לקבוע|להזמין|להציע|לשלוח"
)
_NOT: Final = words("dont|no|אל|לא")
_WITH_ME: Final = words("me|us|conmigo|me|לי|איתי|אליי|אלי")
_OF_SPEECH: Final = words("write|keep|use|be|talk|speak|escribe|תכתוב|תכתבי|תדבר|תדברי")
_YOUR_WORDS: Final = words("answers|replies|messages|texts|respuestas|mensajes|תשובות|הודעות")
_WHENEVER: Final = (("when", "you"), ("whenever", "you"), ("with", "me"), ("cuando", "me"), ("כשאתה",), ("כשאת",))
_ME_SAID: Final = words("i|my|me|mi|mis|yo|soy")
_HOW_WELL: Final = words("good|decent|great|average|bad|terrible|better|best|awful|lousy|mediocre|poor|keen|fast|slow")
_AT_WORK: Final = words("in|at|for|with|on|from|of|by|and|who|en|de|del|para|y")
_BEING: Final = words("am|are|is|'s|soy|somos|es|son")


def changed(reading: Reading, at: int) -> Finding | None:
    """As in "I switched dentists, it's Dr. Amir now", "I have a new phone number, it's …"."""
    start = at + (reading.tokens[at].plain in reading.language.selves)
    used = begins(reading.tokens, start, reading.language.switched)
    if not used:
        return None
    noun, length = attribute_at(reading.tokens, start + used, reading.language)
    if not noun:
        return None
    place = after_leads(reading.tokens, start + used + length, reading.language)
    said = begins(reading.tokens, place, reading.language.it_is)
    named = reading.tokens[place - 1].plain in (",", ":") and reading.tokens[place : place + 1] != ()
    if place + said >= len(reading.tokens) or not (said or (named and reading.tokens[place].capital)):
        return None
    last = value_end(reading, place + said, named=True)
    subject = Subject(SELF, at, place + said, noun=noun)
    shown = reading.tokens[start + used : start + used + length]
    return checked(reading, Finding(replace(subject, shown=shown), noun, reading.tokens[place + said : last], at, last))


def corrected(reading: Reading, at: int) -> Finding | None:
    """As in "It's Dana, not Dina": a value whose slot only what it corrects can tell."""
    used = begins(reading.tokens, at, (("it", "is"), ("its",), ("זה",), ("es",), ("se", "llama")))
    if not used or at + used >= len(reading.tokens):
        return None
    last = value_end(reading, at + used, named=True)
    mark = last + (last < len(reading.tokens) and reading.tokens[last].plain == ",")
    if (
        not (mark < len(reading.tokens) - 1 and reading.tokens[mark].plain in reading.language.negations)
        or last - at - used > 4
    ):
        return None
    value = reading.tokens[at + used : last]
    exact = value[0].capital or any(c.isdigit() for c in value[0].plain) or reading.text.islower()
    if reading.tokens[mark].plain == "never" or not (exact or reading.language.name == "he"):
        return None
    end = value_end(reading, mark + 1, named=True)
    return Finding(
        replace(SPEAKER, first=at, end=at),
        "",
        reading.tokens[at + used : last],
        at,
        end,
        instead_of=reading.tokens[mark + 1 : end],
    )


def asked_for(reading: Reading, at: int) -> Finding | None:
    """A standing wish: "always answer me in short messages"."""
    used = begins(reading.tokens, at, reading.language.instructed)
    if used and at + used < len(reading.tokens):
        used += reading.tokens[at + used].plain in ("me", "nos")  # "nunca me llames por la mañana"
    if (
        not used
        or at + used >= len(reading.tokens)
        or reading.tokens[at + used].plain not in reading.language.addressed | _TOLD
    ):
        return _told_always(reading, at)
    if [token.plain for token in reading.tokens[at + used : at + used + 2]] == ["give", "up"]:
        return None
    last = value_end(reading, at + used)
    return checked(
        reading, Finding(replace(SPEAKER, first=at, end=at), "instruction", reading.tokens[at:last], at, last)
    )


def _told_always(reading: Reading, at: int) -> Finding | None:
    """As in "use metric with me always", "don't use exclamation marks when you write for me", "tutéame siempre"."""
    tokens, language = reading.tokens, reading.language
    verb = at + (2 if [t.plain for t in tokens[at : at + 2]] == ["do", "not"] else tokens[at].plain in _NOT)
    if verb >= len(tokens) or tokens[verb].plain not in language.addressed | _TOLD:
        return None
    last = next((place for place in range(verb + 1, len(tokens)) if tokens[place].plain in (",", ";")), len(tokens))
    rest = tokens[verb + 1 : last]
    standing = any(token.plain in language.always for token in (*rest[:2], *rest[-2:]))
    manner = any(token.plain in language.manners for token in rest)
    for_good = any(begins(rest, place, _WHENEVER) for place in range(len(rest)))
    manner = manner and tokens[verb].plain not in language.asks - _OF_SPEECH
    if not (standing or (manner and any(t.plain in _WITH_ME | _YOUR_WORDS for t in rest)) or for_good):
        return None
    return checked(
        reading,
        Finding(replace(SPEAKER, first=at, end=at), "instruction", tokens[at:last], at, last, negated=verb > at),
    )


_CALLING: Final = (("call", "me"), ("calls", "me"), ("me", "llaman"), ("me", "llama"), ("me", "dicen"), ("me", "dice"))
_LONGEST_CALLER: Final = 4
_PRONOUNS: Final = words("they/them|she/her|he/him|she/they|he/they|elle|ella/elle")


def called(reading: Reading, at: int) -> Finding | None:
    """By whatever name others know the speaker: "the kids call me Baba", "todos me dicen Chayo", "I'm they/them"."""
    tokens, language = reading.tokens, reading.language
    speaker = replace(SPEAKER, first=at, end=at)
    for place in range(at, min(at + _LONGEST_CALLER, len(tokens))):
        used = begins(tokens, place, _CALLING)
        if used and place > at and place + used < len(tokens) and tokens[place + used].capital:
            last = value_end(reading, place + used, named=True)
            return checked(reading, Finding(speaker, "nickname", tokens[place + used : last], at, last))
        if not tokens[place].word or tokens[place].plain in language.negations | {"nobody", "nadie"}:
            break
    for place in range(at, len(tokens) - 2):
        said = "".join(token.plain for token in tokens[place : place + 3])
        if said in _PRONOUNS and not _ME_SAID.isdisjoint(t.plain for t in tokens[at:place]):
            return checked(reading, Finding(speaker, "pronouns", tokens[place : place + 3], at, place + 3))
    return None


def profession(reading: Reading, subject: Subject) -> Finding | None:
    """As in "My partner is a paediatric nurse"."""
    at, negated = subject.end, False
    if at < len(reading.tokens) and reading.tokens[at].plain in _BEING:
        at += 1
    elif reading.language.name != "he" or subject.noun is not None or subject.loose:
        return None
    while at < len(reading.tokens) and (
        reading.tokens[at].plain in reading.language.fillers or reading.tokens[at].plain in reading.language.negations
    ):
        negated ^= reading.tokens[at].plain in reading.language.negations
        at += 1
    last = value_end(reading, at) if at < len(reading.tokens) else at
    value = reading.tokens[at:last]
    if reading.language.name == "en":
        value = value[: next((place for place, token in enumerate(value) if token.plain in _AT_WORK), len(value))]
    named = [place for place, token in enumerate(value[:5]) if is_profession(token.plain, reading.language)]
    if not named and not subject.loose and value and (reading.language.drops_subject or value[0].plain in ("a", "an")):
        ends = next((at for at, token in enumerate(value) if token.plain in _AT_WORK), len(value))
        head = ends - 1 if reading.language.name == "en" else 0
        named = [head] if 0 <= head < 4 and ends_as_one(value[head].plain, reading.language) else []
    if not named or (value[0].plain not in ("a", "an", "the") and subject.third and reading.language.name == "en"):
        return None
    if value and value[0].plain.endswith("ing"):
        return None
    if not _HOW_WELL.isdisjoint(token.plain for token in value[: named[-1]]):
        return None  # "a decent cook"
    if reading.language.name == "en":
        value = value[: named[-1] + 1]
    elif named[0] > 0 and value[0].plain not in reading.language.articles:
        return None  # what somebody is stands first
    else:
        value = value[: next((at for at, token in enumerate(value) if at and _is_place(token)), len(value))]
    return checked(reading, Finding(subject, "job", value, subject.first, at + len(value), negated=negated))


def employed_there(reading: Reading, said: Finding) -> Finding | None:
    """The employer of "I'm a supervisor at Lidl", once the job is read."""
    at = said.last
    if said.attribute != "job" or said.negated or said.over or at >= len(reading.tokens):
        return None
    if reading.language.name == "he" and reading.tokens[at].plain[:1] != "ב" and at + 1 < len(reading.tokens):
        at += 1  # "נהג משאית בחברת דרכים"
    word = reading.tokens[at]
    attached = reading.language.name == "he" and word.plain[:1] == "ב" and len(word.plain) > 2
    first = at if attached else at + 1
    if not attached and (word.plain not in ("at", "en") or first >= len(reading.tokens)):
        return None
    if not (attached or reading.tokens[first].capital or reading.tokens[first].plain in ("el", "la")):
        return None
    value = reading.tokens[first : value_end(reading, first)]
    if bare(word, 1).plain in _PARTS_OF_WORK:
        return None
    after = first + len(value)
    if [token.plain for token in reading.tokens[after:]] == ["'s"]:
        value = reading.tokens[first:]  # "at St Luke's"
    if attached:
        value = (bare(word, 1), *value[1:])
    return checked(reading, Finding(replace(said.subject), "employer", value, said.first, first + len(value)))


def here(reading: Reading, at: int) -> Finding | None:
    """As in "Vegan here, …", "type 1 diabetic here": what somebody says of themselves, without themselves."""
    for end in range(at + 1, min(at + 5, len(reading.tokens))):
        if reading.tokens[end].plain in _HERE:
            if end + 1 < len(reading.tokens) and reading.tokens[end + 1].word:
                return None
            return predicate(reading, replace(SPEAKER, first=at, end=at), unsaid=True)
        if not reading.tokens[end].word:
            return None
    return None


def turned_round(reading: Reading, subject: Subject) -> Finding | None:
    """As in "Priya Nair is my accountant", "Brightwave is where I work"."""
    at = subject.end
    used = begins(reading.tokens, at, reading.language.copulas)
    if not used or not subject.name or subject.noun is not None:
        return None
    place = at + used
    where = begins(reading.tokens, place, _WHERE)
    if where:
        attribute = "employer" if reading.tokens[place + where - 1].plain.startswith(("work", "trabaj")) else "home"
        return checked(
            reading,
            Finding(
                replace(SPEAKER, first=subject.first, end=subject.first),
                attribute,
                subject.name,
                subject.first,
                place + where,
            ),
        )
    if place >= len(reading.tokens) or reading.tokens[place].plain not in reading.language.possessives:
        return None
    owned = subject_at(reading.tokens, place, reading.language)
    noun, length = attribute_at(reading.tokens, place + 1, reading.language)
    if not noun and (owned is None or not owned.role):
        noun, length = _plain_noun(reading, place + 1)
    if owned is not None and owned.role and owned.noun is None:
        noun, length = owned.role, owned.end - place - 1
    if not noun:
        return None
    value = subject.name
    if noun in ("dog", "cat", "pet"):
        noun, value = "pet", (*value, *reading.tokens[place + 1 : place + 1 + length])
    return checked(
        reading,
        Finding(
            replace(SPEAKER, first=subject.first, end=subject.first),
            noun,
            value,
            subject.first,
            place + 1 + length,
        ),
    )


def _plain_noun(reading: Reading, at: int) -> tuple[str | None, int]:
    """The "drummer" of "Lena is our drummer now": up to where the clause ends."""
    end = at
    while end < min(at + 3, len(reading.tokens)) and reading.tokens[end].word:
        if reading.tokens[end].plain in reading.language.cuts | reading.language.fillers | reading.language.joins:
            break
        end += 1
    said = reading.tokens[at:end]
    stops = end == len(reading.tokens) or not reading.tokens[end].word or end < at + 3
    if not said or not stops or any(token.capital for token in said) or not serves(said[-1].plain, reading.language):
        return None, 0
    return " ".join(token.plain for token in said), end - at


def noted(reading: Reading, at: int) -> Finding | None:
    """What only notes say: "Choir practice: Mondays", "The billing project uses Postgres as its database"."""
    the = at + (reading.tokens[at].plain in reading.language.articles)
    while the + 1 < len(reading.tokens) and reading.tokens[the].plain in ("new", "nuevo", "nueva"):
        the += 1
    for end in range(the + 1, min(the + 4, len(reading.tokens))):
        if not reading.tokens[end - 1].word:
            return None
        who = " ".join(token.plain for token in reading.tokens[the:end])
        thing = Subject(who, at, end, shown=reading.tokens[the:end])
        if reading.tokens[end].plain in ("uses", "usa", "utiliza"):
            last = value_end(reading, end + 1) if end + 1 < len(reading.tokens) else end + 1
            value = reading.tokens[end + 1 : last]
            turn = next((place for place, token in enumerate(value) if token.plain in ("as", "como")), len(value))
            noun = " ".join(
                token.plain
                for token in value[turn + 1 :]
                if token.plain not in reading.language.articles | {"its", "their", "su"}
            )
            return checked(reading, Finding(thing, noun or "use", value[:turn], at, last))
        if end == the + 1:
            said = predicate(reading, replace(thing, name=reading.tokens[the:end], loose=True))
            if said is not None and said.attribute == "age":
                return said
        if begins(reading.tokens, end, reading.language.copulas) or reading.tokens[end].plain == ":":
            monthly = any(token.plain in ("month", "mes", "לחודש") for token in reading.tokens[end:])
            if monthly and reading.tokens[end].plain == ":":
                return copula(reading, replace(thing, noun="monthly payment"), "monthly payment")
            return copula(reading, replace(thing, who=SELF, noun=who), who)
    return predicate(reading, replace(SPEAKER, first=at, end=at, third=True), unsaid=True)


def _is_place(token: Token) -> bool:
    """Where what somebody is comes to where: "en el hospital", "במלון"."""
    return token.plain == "en" or (token.plain[:1] == "ב" and len(token.plain) > 2)
