"""What somebody states about themselves and theirs, read out of their own words by the tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from langmem_plugin.facts.attributes import attribute_of
from langmem_plugin.facts.clauses import after_leads, is_automated, is_joke, starts, stated_until, unquoted
from langmem_plugin.facts.grammar import Match, bare, begins, best_match, language_of, patterns
from langmem_plugin.facts.moments import Moment, moments
from langmem_plugin.facts.sensitive import is_sensitive
from langmem_plugin.facts.statement import Slot, Statement
from langmem_plugin.facts.subjects import SELF, SPEAKER, Subject, attribute_at, subject_at
from langmem_plugin.facts.tokens import Sentence, Token, plain, sentences
from langmem_plugin.facts.value_checks import NOT_EATEN, PARTICLES, is_value, listed
from langmem_plugin.facts.words import LANGUAGES, Language

_LONGEST_VALUE: Final = 14
_LONGEST_SENTENCE: Final = 120
_ENGLISH, _HEBREW, _SPANISH = LANGUAGES
_PAST: Final = frozenset("lived worked גרתי גרנו עבדתי עישנתי vivia trabajaba fumaba".split())
_OF_PEOPLE: Final = frozenset(
    "home allergy intolerance employer age debt health school birthday status job diet accessibility medication language "
    "birthplace like dislike hobby relationship work routine origin fear".split()
) | {"monthly payment", "work schedule", "field of study"}
_ME: Final = frozenset("me us לי לנו nos".split())
_PETS: Final = frozenset({"dog", "cat", "pet"})
_BE: Final = frozenset(("am", "are", "been", "'m", "'re"))


_TELLING: Final = frozenset(("do", "does", "did", "only"))
_UNTIMED: Final = frozenset("anniversary deadline routine goal plan strategy".split()) | {
    "due date",
    "launch date",
    "wedding date",
    "passport expiry",
}
_LONGEST_TIME: Final = 6
_SURE: Final = 0.9
_LESS_SURE: Final = 0.8
_USING: Final = frozenset("to go going with use using on usar ir con por utilizar ללכת על להשתמש את לעבוד עם".split())
_AGED: Final = frozenset("בן בת בני בנות".split())
_YEARS_OLD: Final = frozenset("years yrs yo y/o anos anitos old".split())
_CALLED: Final = frozenset("named called llamado llamada llama בשם".split())
_WORKING: Final = frozenset(
    "work worked works working job position role employed hired resigned fired laid sacked quit trabajo trabajamos trabaja trabajan "
    "trabajar trabajaba empleado empleada renuncie despidieron".split()
)
_PLACES: Final = frozenset(
    "city countryside suburbs country village mountains beach north south east west center centre coast uk us usa netherlands "
    "ciudad campo centro norte sur pueblo afueras".split()
)
_SCHOOLS: Final = frozenset(
    "school kindergarten preschool daycare college university nursery primary highschool colegio instituto cole escuela universidad".split()
)
_WHERE: Final = (
    ("where", "i", "work"),
    ("where", "we", "work"),
    ("where", "i", "live"),
    ("where", "we", "live"),
    ("donde", "trabajo"),
    ("donde", "vivo"),
)
_THIS_YEAR: Final = frozenset("this next year month week השנה este ano proximo currently".split())


@dataclass(frozen=True)
class _Said:
    """One fact as found: its words, before it is made a statement."""

    subject: Subject
    attribute: str
    value: tuple[Token, ...]
    first: int
    last: int
    negated: bool = False
    over: bool = False
    ahead: bool = False
    instead_of: tuple[Token, ...] = ()
    avoided: tuple[Token, ...] = ()


def statements(text: str, *, said_at: datetime) -> list[Statement]:
    """Every fact that is plainly stated in `text`, in its order; none of a question, an idea or another's words."""
    return list(_statements(text, said_at, noted=False))


def statement_of(text: str, said_at: datetime | None = None) -> Statement:
    """One short fact as a memory words it, in the third person too; `slot` is None where it was not understood."""
    found = list(_statements(text, said_at, noted=True))
    whole = text.strip()
    if not found:
        return Statement(whole, whole, sensitive=is_sensitive(text))
    holding = [each for each in found if not (each.negated or each.over)]
    slotted = [each for each in holding or found if each.slot is not None]
    return replace((slotted or found)[-1], text=whole, quote=whole)


def _statements(text: str, said_at: datetime | None, *, noted: bool) -> Iterator[Statement]:
    said = plain(text)
    if is_automated(said):
        return
    language = language_of(said, text)
    reader = _Reader(text, language, said_at, noted=noted)
    for sentence in unquoted(list(sentences(text, language.contractions))):
        tokens = _unjoined(sentence.tokens, language)[:_LONGEST_SENTENCE]
        if noted or not is_joke(tokens, language):
            reader.read(Sentence(tokens, sentence.asked))
    yield from reader.found


class _Reader:
    """Reads one sentence after the other from left to right, remembering who and what was spoken of."""

    def __init__(self, text: str, language: Language, said_at: datetime | None, *, noted: bool) -> None:
        self.text, self.language, self.said_at, self.noted = text, language, said_at, noted
        self.tokens: tuple[Token, ...] = ()
        self.found: list[Statement] = []
        self.known: Subject | None = None
        self.children = False
        self.naming = False
        self.spoke = False
        self.avoided: tuple[Token, ...] = ()
        self.unnamed: tuple[int, int] | None = None

    def read(self, sentence: Sentence) -> None:
        begin, end = stated_until(sentence, self.language)
        self._avoid(sentence.tokens)
        self.tokens = sentence.tokens[:end]
        done, self.spoke = begin, False
        for at in starts(self.tokens, begin, self.language):
            if at < done:
                continue
            place = after_leads(self.tokens, at, self.language)
            if place < done or place >= len(self.tokens):
                continue
            if self._named_now(place):
                continue
            said = self._clause(place, first=at == begin)
            if said is None:
                continue
            done = said.last
            for each in listed(said.value, said.attribute, self.language):
                self.found.append(self._statement(replace(said, value=each)))
            self.unnamed = (
                (len(self.found) - 1, said.first)
                if said.attribute in ("pet", "family") and len(said.value) == 1
                else None
            )
            self.known = said.subject if said.subject.who != SELF or self.known is None else self.known
            self.spoke = said.subject.who == SELF and said.subject.noun is None
            self._count_no_children_named(said)
            self.children = self.children or said.attribute == "children"

    def _clause(self, at: int, *, first: bool) -> _Said | None:
        if self.tokens[at].plain in self.language.others and self.known is None:
            self.known = self._spoken_of(at)
        subject = subject_at(self.tokens, at, self.language, known=self.known)
        said = self._change(at) or self._correction(at) or (self._asked_for(at) if first else None)
        if said is not None:
            return said
        if subject is not None:
            said = self._said_of(subject) or self._profession(subject) or self._turned_round(subject)
            if said is not None:
                return said
        known = self.known or (self._spoken_of(at) if self.language.drops_subject and not first else None)
        if known is not None and known.who != SELF and not first:
            said = self._predicate(replace(known, first=at, end=at, noun=None))
            if said is not None:
                return said
        return self._implied(at, first=first)

    def _said_of(self, subject: Subject) -> _Said | None:
        if subject.noun is not None:
            return self._copula(subject, subject.noun)
        said = self._predicate(subject)
        if said is None and subject.role is not None:
            return self._copula(subject, subject.role)
        return said

    def _implied(self, at: int, *, first: bool) -> _Said | None:
        """A clause without its subject: "sold the car", "vivo en Madrid", "allergic to peanuts" in a note."""
        speaker = replace(SPEAKER, first=at, end=at)
        if self.noted and (first or not self.found):
            return self._predicate(speaker, unsaid=True) or self._noted(at)
        word = self.tokens[at].plain
        if not first and self.spoke:
            return self._predicate(speaker)
        if self.language.drops_subject or word in self.language.events or word in ("call", "no", "not"):
            return self._predicate(speaker)
        return None

    def _predicate(self, subject: Subject, *, unsaid: bool = False) -> _Said | None:
        match = best_match(self.tokens, subject.end, self.language, third=subject.third and not unsaid, unsaid=unsaid)
        if match is None:
            return self._routine(subject)
        said = self._matched(subject, match)
        return said or self._routine(subject)

    def _matched(self, subject: Subject, match: Match) -> _Said | None:
        attribute = match.pattern.attribute
        rest: tuple[Token, ...] = ()
        last = match.end
        if match.open_end and match.rest is not None:
            self.naming = attribute == "pet"
            last = self._value_end(match.end)
            self.naming = False
            rest = (match.rest, *self.tokens[match.end + 1 : last]) if last > match.end else ()
        if rest and attribute == "pet" and rest[0].plain == ",":
            rest = rest[1:]
        if (
            rest
            and (not rest[0].word or rest[0].plain in self.language.cuts or rest[0].plain in self.language.joins)
            and rest[0].written not in "$€₪£"
        ):
            if not match.value:
                return None
            rest, last = (), match.end
        value = match.value if _is_whole(match) else (*match.value, *rest)
        if [token.plain for token in value] in (["it"], ["them"]) and attribute in (
            "allergy",
            "dislike",
            "intolerance",
        ):
            value = self._meant(subject.first)
        if attribute == "decision":
            plan = subject
            using = bool(value) and {token.plain for token in value[:3]} & (_USING - {"to", "go", "ir", "going"})
            subject, value = self._decided(subject, value)
            if subject is plan and not using:
                return None
        if attribute == "wake-up time":
            attribute += self._day_kind()
        if attribute == "allergy" and not rest and len(match.value) == 1 and match.said <= 4:  # noqa: PLR2004
            return self._allergic(subject, match)
        matched = self.tokens[subject.end : match.end]
        if not self._fits(attribute, matched, match.value, rest, max(last, match.end)):
            return None
        said = _Said(
            subject,
            attribute,
            value,
            subject.first,
            max(last, match.end),
            negated=match.negated ^ ("-" in match.pattern.mark),
            over=match.over
            or any(token.plain in _PAST for token in matched)
            and not any(t.plain == "have" for t in matched),
            ahead="+" in match.pattern.mark,
        )
        return self._checked(said)

    def _fits(
        self, attribute: str, matched: Sequence[Token], held: Sequence[Token], rest: Sequence[Token], last: int
    ) -> bool:
        """Whether what follows the pattern leaves it its meaning: not "fired up", "5 minutes", "left the keys"."""
        language = self.language
        following = self.tokens[last] if last < len(self.tokens) else None
        if following is not None and not rest and following.plain in PARTICLES:
            return False
        said = {token.plain for token in matched}
        if attribute == "age" and "de" in said and not self.children:
            return False
        if attribute == "age" and not said & _YEARS_OLD:
            free = (
                following is None
                or not following.word
                or following.plain in language.joins | language.cuts | language.fillers
            )
            free = free or bool(
                self._moments(self.tokens[last : last + 4], ahead=False)
                or begins(self.tokens, last, language.momentary)
            )
            return (free or begins(self.tokens, last, language.leads) > 0) and not said & {"we", "are"}
        if not rest:
            return True
        named = rest[0].capital or language.name == "he"
        bare_rest = [token for token in rest if token.plain not in language.articles] or list(rest)
        if held and bare_rest[0].plain in language.pronouns and attribute not in ("relationship", "diet"):
            return False
        if attribute == "pet":
            return named or bool(said & _CALLED) or rest[0].plain in language.joins
        if attribute == "employer" and not said & _WORKING:
            return named
        if (
            attribute in ("home", "field of study", "name")
            and rest[0].plain in language.articles | {"next"}
            and attribute != "home"
        ):
            return False
        if attribute == "home" and rest[0].plain in language.articles | {"next"}:
            return bare_rest[0].capital or bool({token.plain for token in rest} & _PLACES)
        if attribute == "school":
            return (
                any(token.capital for token in rest)
                or bool({t.plain for t in (*rest, *held)} & _SCHOOLS)
                or language.name == "he"
            )
        return not (attribute in ("diet", "drinking") and rest[0].plain in NOT_EATEN)

    def _decided(self, subject: Subject, value: tuple[Token, ...]) -> tuple[Subject, tuple[Token, ...]]:
        """What was decided, and for what: "to go with Postgres for the billing project"."""
        while len(value) > 1 and value[0].plain in _USING:
            value = value[1:]
        for place in range(1, len(value) - 1):
            rest = value[place + 1 :]
            if value[place].plain in ("for", "in", "on", "en", "para") or value[place].plain[1:] in ("פרויקט",):
                rest = rest if value[place].plain[1:] != "פרויקט" else (bare(value[place], 1), *rest)
                while len(rest) > 1 and rest[0].plain in self.language.articles:
                    rest = rest[1:]
                return replace(subject, who=" ".join(token.plain for token in rest)), value[:place]
        return subject, value

    def _copula(self, subject: Subject, noun: str) -> _Said | None:
        at, negated = subject.end, False
        while at < len(self.tokens) and self.tokens[at].plain in self.language.fillers:
            at += 1
        while at < len(self.tokens) and self.tokens[at].plain in _THIS_YEAR:
            at += 1
        used = begins(self.tokens, at, self.language.copulas)
        if not used and self.noted and at < len(self.tokens) and self.tokens[at].plain == ":":
            used = 1
        if not used and (self.language.name != "he" or subject.role == noun):
            return None
        copula = [token.plain for token in self.tokens[at : at + used]]
        at += used
        while at < len(self.tokens) and (
            self.tokens[at].plain in self.language.fillers or self.tokens[at].plain in self.language.negations
        ):
            negated ^= self.tokens[at].plain in self.language.negations
            at += 1
        if at >= len(self.tokens):
            return None
        last = self._value_end(at, named=noun not in ("goal", "plan", "strategy"))
        value = self.tokens[at:last]
        attribute = noun
        if noun in ("home", "address") and value and value[0].plain[:1] == "ב" and len(value[0].plain) > 2:  # noqa: PLR2004
            value = (bare(value[0], 1), *value[1:])
        if copula in (["expires"], ["caduca"], ["vence"]):
            attribute = f"{noun} expiry"
        if subject.role and noun == "name":
            subject, attribute, noun = replace(subject, who=SELF), subject.role, subject.role
        if subject.role == noun:
            if not _is_name(value, copula, self.language):
                return None
            subject = replace(subject, who=SELF)
        if attribute in _PETS:
            attribute, value = "pet", (*subject.shown[:1], *value)
        said = _Said(subject, attribute, value, subject.first, last, negated=negated)
        correction = self.tokens[last : last + 2]
        if value and [token.plain for token in correction][:1] in (["not"], ["no"], ["לא"]):
            said = replace(said, instead_of=self.tokens[last + 1 : self._value_end(last + 1, named=True)])
        return self._checked(said)

    def _routine(self, subject: Subject) -> _Said | None:
        """What somebody does again and again: "I run every morning"."""
        if subject.loose or (subject.end > subject.first and subject.noun):
            return None
        if subject.end == subject.first and not self.language.drops_subject:
            return None
        last = self._value_end(subject.end)
        value = self.tokens[subject.end : last]
        often = [place for place in range(len(value)) if self._often(value, place)]
        if not often or len(value) < 2 or value[0].plain in self.language.moods:  # noqa: PLR2004
            return None
        return self._checked(_Said(subject, "routine", value, subject.first, last))

    def _avoid(self, tokens: Sequence[Token]) -> None:
        """Remembers what was wanted left out: "a recipe without nuts"."""
        for at, token in enumerate(tokens[:-1]):
            if token.plain in self.language.without:
                end = at + 1
                while (
                    end < len(tokens)
                    and tokens[end].word
                    and end - at < 3
                    and tokens[end].plain not in self.language.joins | self.language.cuts
                ):  # noqa: PLR2004
                    end += 1
                if end > at + 1:
                    self.avoided = tuple(tokens[at:end])

    def _allergic(self, subject: Subject, match: Match) -> _Said | None:
        """ "My son is allergic": to what was wanted left out before, else just so."""
        value = self.avoided[1:] or match.value
        said = _Said(subject, "allergy", value, subject.first, match.end, negated=match.negated, over=match.over)
        return self._checked(replace(said, avoided=self.avoided) if self.avoided else said)

    def _named_now(self, at: int) -> bool:
        """Takes "her name is Waffles" for the name of the pet that was just spoken of."""
        used = begins(self.tokens, at, self.language.names_it)
        if (
            self.unnamed is None
            or not used
            or at + used >= len(self.tokens)
            or not self.tokens[at + used].written[:1].isalpha()
        ):
            return False
        place, name = self.unnamed[0], self.tokens[at + used]
        held = self.found[place]
        beginning = self.text.find(held.quote)
        self.found[place] = replace(
            held,
            text=f"{held.text}, {name.written}",
            quote=self.text[beginning : name.end],
            value=f"{held.value} {name.written}",
        )
        self.unnamed = None
        return True

    def _spoken_of(self, at: int) -> Subject | None:
        """Who was named earlier in the sentence without anything being said that is kept."""
        for place in range(at):
            token = self.tokens[place]
            if (
                token.plain in self.language.possessives
                or (token.capital and token.plain not in self.language.common)
                or token.plain == "חברת"
            ):
                start = place + (token.plain in ("חברת",))
                end = start
                while end < at and (self.tokens[end].capital or end == start) and self.tokens[end].word:
                    end += 1
                subject = subject_at(self.tokens, place, self.language)
                if subject is not None and subject.noun is None and subject.who != SELF:
                    return subject
                name = self.tokens[start:end]
                if name and token.plain not in self.language.possessives:
                    who = " ".join(each.plain for each in name)
                    return Subject(who, place, end, name=name, loose=True, shown=name)
        return None

    def _change(self, at: int) -> _Said | None:
        """ "I switched dentists, it's Dr. Amir now", "I have a new phone number, it's …"."""
        start = at + (self.tokens[at].plain in self.language.selves)
        used = begins(self.tokens, start, self.language.switched)
        if not used:
            return None
        noun, length = attribute_at(self.tokens, start + used, self.language)
        if not noun:
            return None
        place = after_leads(self.tokens, start + used + length, self.language)
        said = begins(self.tokens, place, self.language.it_is)
        if not said or place + said >= len(self.tokens):
            return None
        last = self._value_end(place + said, named=True)
        subject = Subject(SELF, at, place + said, noun=noun)
        shown = self.tokens[start + used : start + used + length]
        return self._checked(_Said(replace(subject, shown=shown), noun, self.tokens[place + said : last], at, last))

    def _correction(self, at: int) -> _Said | None:
        """ "It's Dana, not Dina": a value whose slot only what it corrects can tell."""
        used = begins(self.tokens, at, (("it", "is"), ("its",), ("זה",), ("es",), ("se", "llama")))
        if not used or at + used >= len(self.tokens):
            return None
        last = self._value_end(at + used, named=True)
        mark = last + (last < len(self.tokens) and self.tokens[last].plain == ",")
        if (
            not (mark < len(self.tokens) - 1 and self.tokens[mark].plain in self.language.negations)
            or last - at - used > 4
        ):  # noqa: PLR2004
            return None
        end = self._value_end(mark + 1, named=True)
        return _Said(
            replace(SPEAKER, first=at, end=at),
            "",
            self.tokens[at + used : last],
            at,
            end,
            instead_of=self.tokens[mark + 1 : end],
        )

    def _asked_for(self, at: int) -> _Said | None:
        """A standing wish: "always answer me in short messages"."""
        used = begins(self.tokens, at, self.language.instructed)
        if not used or at + used >= len(self.tokens) or self.tokens[at + used].plain not in self.language.addressed:
            return None
        last = self._value_end(at + used)
        return self._checked(_Said(replace(SPEAKER, first=at, end=at), "instruction", self.tokens[at:last], at, last))

    def _profession(self, subject: Subject) -> _Said | None:
        """ "My partner is a paediatric nurse"."""
        at, negated = subject.end, False
        if at >= len(self.tokens) or self.tokens[at].plain not in ("am", "are", "is", "'s"):
            return None
        at += 1
        while at < len(self.tokens) and (
            self.tokens[at].plain in self.language.fillers or self.tokens[at].plain in self.language.negations
        ):
            negated ^= self.tokens[at].plain in self.language.negations
            at += 1
        last = self._value_end(at) if at < len(self.tokens) else at
        value = self.tokens[at:last]
        words = [
            place for place, token in enumerate(value[:5]) if token.plain.removesuffix("s") in self.language.professions
        ]
        if not words or value[0].plain not in ("a", "an", "the") and subject.third:
            return None
        value = value[: words[-1] + 1]
        return self._checked(_Said(subject, "job", value, subject.first, at + len(value), negated=negated))

    def _turned_round(self, subject: Subject) -> _Said | None:
        """ "Priya Nair is my accountant", "Brightwave is where I work"."""
        at = subject.end
        used = begins(self.tokens, at, self.language.copulas)
        if not used or not subject.name or subject.noun is not None:
            return None
        place = at + used
        where = begins(self.tokens, place, _WHERE)
        if where:
            attribute = "employer" if self.tokens[place + where - 1].plain.startswith(("work", "trabaj")) else "home"
            return self._checked(
                _Said(
                    replace(SPEAKER, first=subject.first, end=subject.first),
                    attribute,
                    subject.name,
                    subject.first,
                    place + where,
                )
            )
        if place >= len(self.tokens) or self.tokens[place].plain not in self.language.possessives:
            return None
        owned = subject_at(self.tokens, place, self.language)
        noun, length = attribute_at(self.tokens, place + 1, self.language)
        if owned is not None and owned.role and owned.noun is None:
            noun, length = owned.role, owned.end - place - 1
        if not noun:
            return None
        return self._checked(
            _Said(
                replace(SPEAKER, first=subject.first, end=subject.first),
                noun,
                subject.name,
                subject.first,
                place + 1 + length,
            )
        )

    def _noted(self, at: int) -> _Said | None:
        """What only notes say: "Choir practice: Mondays", "The billing project uses Postgres as its database"."""
        the = at + (self.tokens[at].plain in self.language.articles)
        for end in range(the + 1, min(the + 4, len(self.tokens))):
            who = " ".join(token.plain for token in self.tokens[the:end])
            thing = Subject(who, at, end, shown=self.tokens[the:end])
            if self.tokens[end].plain in ("uses", "usa", "utiliza"):
                last = self._value_end(end + 1) if end + 1 < len(self.tokens) else end + 1
                value = self.tokens[end + 1 : last]
                turn = next((place for place, token in enumerate(value) if token.plain in ("as", "como")), len(value))
                noun = " ".join(
                    token.plain
                    for token in value[turn + 1 :]
                    if token.plain not in self.language.articles | {"its", "their", "su"}
                )
                return self._checked(_Said(thing, noun or "use", value[:turn], at, last))
            if begins(self.tokens, end, self.language.copulas) or self.tokens[end].plain == ":":
                monthly = any(token.plain in ("month", "mes", "לחודש") for token in self.tokens[end:])
                if monthly and self.tokens[end].plain == ":":
                    return self._copula(replace(thing, noun="monthly payment"), "monthly payment")
                return self._copula(replace(thing, who=SELF, noun=who), who)
        return self._predicate(replace(SPEAKER, first=at, end=at, third=True), unsaid=True)

    def _count_no_children_named(self, said: _Said) -> None:
        """ "Two kids, Mia is 6 and Leo is 3": those named say how many there are."""
        if self.children and said.attribute == "age":
            self.found = [each for each in self.found if each.slot is None or each.slot.attribute != "children"]

    def _meant(self, at: int) -> tuple[Token, ...]:
        """What "it" is: the last thing named before the clause at `at`."""
        while at > 0:
            token = self.tokens[at - 1]
            if token.word and not begins(self.tokens, at - 1, self.language.leads):
                known = (
                    token.plain
                    in self.language.common | self.language.pronouns | self.language.fillers | self.language.cuts
                )
                return () if known else (token,)
            at -= 1
        return ()

    def _day_kind(self) -> str:
        """Whether weekdays or the weekend are meant: two different times to get up."""
        for at in range(len(self.tokens)):
            used = begins(self.tokens, at, tuple(self.language.day_kinds))
            if used:
                return f" on {self.language.day_kinds[tuple(token.plain for token in self.tokens[at : at + used])]}"
        return ""

    def _instead_of(self, said: _Said) -> str | None:
        if said.instead_of:
            return self.text[said.instead_of[0].start : said.instead_of[-1].end]
        for at in range(said.first, min(said.last + 2, len(self.tokens))):
            used = begins(self.tokens, at, self.language.instead)
            if used and at + used < len(self.tokens):
                return self.text[self.tokens[at + used].start : self.tokens[self._value_end(at + used) - 1].end]
        return None

    def _often(self, value: Sequence[Token], at: int) -> bool:
        if value[at].plain not in self.language.frequencies:
            return False
        if value[at].plain not in ("every", "cada", "todos", "todas", "כל"):
            return True
        following = value[at + 1].plain if at + 1 < len(value) else ""
        return following in self.language.periods or following in self.language.weekdays or following[:1].isdigit()

    def _checked(self, said: _Said) -> _Said | None:
        tokens = self.tokens[said.first : said.last]
        told = any(token.plain in self.language.events for token in tokens)
        around = self.tokens[said.first : self._boundary(said.last)]
        brief = any(begins(around, place, self.language.momentary) for place in range(len(around)))
        if brief and not told and not self.noted:
            return None
        named_only = said.subject.loose and said.subject.noun is None
        if named_only and said.attribute not in _OF_PEOPLE:
            return None
        if (
            named_only
            and said.attribute == "age"
            and not (self.children or self.noted or len(tokens) > len(said.subject.name) + 2)
        ):
            return None
        ended = begins(self.tokens, said.last, self.language.ended_after)
        if ended and said.negated:
            said = replace(said, over=True, last=said.last + ended)
        if said.over and said.attribute != "smoking":
            said = replace(said, negated=True) if not said.negated and self._gone(said) else said
        value = self._trimmed(said)
        if not is_value(value, said.attribute, said.subject, self.language, negated=said.negated, noted=self.noted):
            return None
        return replace(said, value=value)

    def _gone(self, said: _Said) -> bool:
        return any(
            begins(self.tokens[said.first : said.last], place, self.language.ended)
            for place in range(said.last - said.first)
        )

    def _trimmed(self, said: _Said) -> tuple[Token, ...]:
        """The value without articles before it and times after it."""
        value = list(said.value)
        if (
            said.attribute == "allergy"
            and [token.plain for token in value][-1:]
            and value[-1].plain in ("allergic", "allergy")
            and len(value) > 1
        ):
            value.pop()
        while len(value) > 1 and (value[0].plain in self.language.articles or not value[0].word):
            if value[0].written in "$€₪£":
                break
            value.pop(0)
        if attribute_of(said.attribute).category != "identity" and said.attribute not in _UNTIMED - {"goal", "plan", "strategy"}:
            for moment in reversed(self._moments(value, ahead=said.ahead)):
                if moment.last == len(value) and moment.first > 0:
                    value = value[: moment.first]
        while value and (
            not value[-1].word or value[-1].plain in self.language.fillers | self.language.joins | {"by", "for", "before"}
        ):
            value.pop()
        return tuple(value)

    def _value_end(self, at: int, *, named: bool = False) -> int:
        """Where what began at `at` ends: at a new clause, at words that end it, at a mark that is not of a list."""
        tokens, language = self.tokens, self.language
        for place in range(at + 1, min(at + _LONGEST_VALUE, len(tokens))):
            token = tokens[place]
            if token.plain in language.cuts or (named and token.plain in language.negations):
                return place
            if token.plain == "i":
                return place
            if (
                begins(tokens, place, language.ended_after)
                or begins(tokens, place, language.instructed)
                or begins(tokens, place, tuple(language.day_kinds))
            ):
                return place
            if begins(tokens, place, language.instead) or (named and token.plain in language.asks):
                return place
            if not token.word and token.plain not in "-&+#'₪$€£%/,.@*_" and not (named and token.plain == ":"):
                return place
            if token.plain == "," or token.plain in language.joins:
                following = after_leads(tokens, place, language)
                if (
                    token.plain == ","
                    and following < len(tokens)
                    and (
                        tokens[following].capital
                        and self.naming
                        or tokens[following].plain in ("half", "quarter")
                        or ":" in tokens[following].plain
                    )
                ):
                    continue
                if following >= len(tokens) or self._opens_clause(following, comma=token.plain == ","):
                    return place
            if token.plain == "-" and token.start > tokens[place - 1].end:
                return place
        return min(at + _LONGEST_VALUE, len(tokens))

    def _opens_clause(self, at: int, *, comma: bool) -> bool:
        tokens, language = self.tokens, self.language
        word = tokens[at].plain
        if (
            word in language.selves
            or word in language.possessives
            or word in language.asks
            or word in language.negations
        ):
            return True
        if word in language.others and not (word == "el" and tokens[at].written == "el"):
            return True
        third = self.known is not None and self.known.third
        if (
            best_match(tokens, at, language, third=False)
            or (third and best_match(tokens, at, language, third=True))
            or best_match(tokens, at, language, third=True)
        ):
            return True
        if subject_at(tokens, at, language) is not None:
            return True
        # A list goes on to its "and"; anything else after a comma is no part of the value.
        return comma and not any(token.plain in language.joins or token.plain == "," for token in tokens[at : at + 4])

    def _boundary(self, at: int) -> int:
        for place in range(at, len(self.tokens)):
            if self.tokens[place].plain in (",", ";", ":") or self.tokens[place].plain in self.language.joins:
                return place
        return len(self.tokens)

    def _moments(self, tokens: Sequence[Token], *, ahead: bool) -> list[Moment]:
        return moments(tokens, self.language, self.said_at, ahead=ahead) if self.said_at is not None else []

    def _statement(self, said: _Said) -> Statement:
        kind = attribute_of(said.attribute)
        timed = [] if kind.category == "identity" or said.attribute in _UNTIMED else self._timed(said)
        last = max([said.last, *(said.first + moment.last for moment in timed)])
        start = self.tokens[said.first].start
        quote = self.text[min(start, said.avoided[0].start) if said.avoided else start : self.tokens[last - 1].end]
        value = _written(self.text, said.value)
        valid_from = next((moment.start for moment in timed if moment.kind in ("since", "at")), None)
        valid_to = next((moment.end for moment in timed if moment.kind == "until"), None)
        if said.over and valid_from is not None:
            valid_from, valid_to = None, valid_from
        subject = said.subject
        wording = self._wording(said, timed, last)
        if said.avoided:
            wording += {"en": " to ", "es": " a ", "he": " ל"}[self.language.name] + value
        theirs = subject.who != SELF and kind.fact_type == "personal" and subject.role is not None
        return Statement(
            text=wording,
            quote=quote,
            slot=Slot(subject.who, said.attribute, kind.single) if said.attribute else None,
            value=value,
            negated=said.negated,
            over=said.over,
            fact_type="relationship" if theirs else kind.fact_type,
            confidence=_LESS_SURE if subject.loose or subject.first == subject.end else _SURE,
            sensitive=kind.sensitive or is_sensitive(quote),
            category=kind.category,
            valid_from=valid_from,
            valid_to=valid_to,
            instead_of=self._instead_of(said),
        )

    def _timed(self, said: _Said) -> list[Moment]:
        """The times said within the fact or right after it."""
        tokens = self.tokens[said.first : said.last + _LONGEST_TIME]
        return [each for each in self._moments(tokens, ahead=said.ahead) if each.first <= said.last - said.first]

    def _wording(self, said: _Said, timed: Sequence[Moment], last: int) -> str:
        """The person's own words, without themselves, and with every time made absolute."""
        subject, tokens, language = said.subject, self.tokens, self.language
        parts: list[str] = []
        at = subject.end
        if subject.shown and subject.shown[0].start < tokens[subject.first].start:
            parts = [self.text[subject.shown[0].start : subject.shown[-1].end]]  # whom "he" or "she" stands for
        elif subject.shown and said.attribute:
            at = subject.first
        else:
            while at < last - 1 and self._is_idle(at):
                at += 1
        moved = {said.first + moment.first: moment for moment in timed}
        while at < last:
            moment = moved.get(at)
            if moment is not None:
                parts.append(moment.text)
                at = said.first + moment.last
                continue
            token, following = tokens[at], at + 1
            left_out = (at < subject.end and token.plain in language.possessives) or (
                token.plain in _ME and said.attribute in ("debt", "monthly payment")
            )
            if not left_out:
                while (
                    following < last and following not in moved and tokens[following].start == tokens[following - 1].end
                ):
                    following += 1
                parts.append(self.text[token.start : tokens[following - 1].end])
            at = following
        wording = " ".join(" ".join(part.split()) for part in parts if part.strip())
        for mark in (" ,", " .", " 's"):
            wording = wording.replace(mark, mark[1:])
        return wording[:1].upper() + wording[1:]

    def _is_idle(self, at: int) -> bool:
        """A word before the fact that a note does without: "am", "also", "'ve"."""
        token = self.tokens[at]
        if begins(self.tokens, at, self.language.ended):
            return False
        if token.plain in ("have", "has", "would"):
            return token.written[:1] == "'" or token.start == token.end
        return token.plain in _BE or token.start == token.end or token.plain in self.language.fillers - _TELLING


def _written(text: str, value: Sequence[Token]) -> str:
    """The words of a value as they were written, whatever stands between them left out where it is far."""
    if value[-1].end - value[0].start <= sum(token.end - token.start for token in value) + 2 * len(value):
        return text[value[0].start : value[-1].end]
    return " ".join(token.written for token in value)


def _is_whole(match: Match) -> bool:
    """Whether the words of the pattern are the value, and what follows only says more ("vegan since May")."""
    return bool(match.value) and match.pattern.attribute in (
        "diet",
        "relationship",
        "religion",
        "job-",
        "accessibility",
        "smoking",
        "medication",
        "status",
        "age",
    )


def _is_name(value: Sequence[Token], copula: Sequence[str], language: Language) -> bool:
    if not value or len(value) > 4:  # noqa: PLR2004
        return False
    if any(word in ("called", "named", "llama", "llaman", "נקרא", "נקראת") for word in copula):
        return True
    return (
        value[0].capital
        and value[0].plain not in language.common
        and all(token.capital for token in value if token.word)
    )


def _unjoined(tokens: tuple[Token, ...], language: Language) -> tuple[Token, ...]:
    """Hebrew writes "and" and "that" onto the next word: they are words of their own here."""
    if language.name == "en" and [token.plain for token in tokens[:3]] == ["were", "no", "longer"]:
        return (
            replace(tokens[0], plain="we"),
            replace(tokens[0], plain="are", start=tokens[0].end, written=""),
            *tokens[1:],
        )
    if language.name != "he":
        return tokens
    found: list[Token] = []
    known = _hebrew_starts()
    for place, token in enumerate(tokens):
        following = tokens[place + 1].plain if place + 1 < len(tokens) else ""
        rest = token.plain[1:]
        if (
            token.plain[:1] in ("ו", "ש")
            and len(rest) > 1
            and (
                (following in _AGED and token.plain[0] == "ו")
                or rest in known
                or (rest[:1] == "ה" and rest[1:] in known)
            )
            and token.plain not in known | _HEBREW.possessives | _HEBREW.common | _HEBREW_TIMES
        ):
            found.append(Token(token.plain[0], token.start, token.start + 1, token.written[:1]))
            found.append(Token(rest, token.start + 1, token.end, token.written[1:]))
        else:
            found.append(token)
    return tuple(found)


_HEBREW_TIMES: Final = frozenset(_HEBREW.weekdays) | frozenset(
    word for cells in _HEBREW.times.values() for cell in cells for word in cell
)


def _hebrew_starts() -> frozenset[str]:
    people = frozenset(phrase[0] for phrase in _HEBREW.people)
    return (
        people
        | _HEBREW.selves
        | _HEBREW.others
        | frozenset(patterns(_HEBREW))
        | frozenset(phrase[0] for phrase in _HEBREW.attributes)
    )
