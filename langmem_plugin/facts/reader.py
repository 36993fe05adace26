"""Reads sentences from left to right and finds what each clause states."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from langmem_plugin.facts.attributes import attribute_of
from langmem_plugin.facts.clauses import after_leads, starts, stated_until
from langmem_plugin.facts.finding import Finding
from langmem_plugin.facts.grammar import Match, bare, begins, best_match
from langmem_plugin.facts.moments import Moment, moments
from langmem_plugin.facts.phrasings import asked_for, changed, corrected, noted, profession, turned_round
from langmem_plugin.facts.statement import Statement
from langmem_plugin.facts.subjects import SELF, SPEAKER, Subject, subject_at
from langmem_plugin.facts.tokens import Sentence, Token
from langmem_plugin.facts.value_checks import NOT_EATEN, PARTICLES, is_value, listed
from langmem_plugin.facts.wording import UNTIMED, Wording
from langmem_plugin.facts.words import Language
from langmem_plugin.facts.words.language_table import words

_LONGEST_VALUE: Final = 14
_PAST: Final = words("lived|worked|גרתי|גרנו|עבדתי|עישנתי|vivia|trabajaba|fumaba")
_OF_PEOPLE: Final = words(
    "home|allergy|intolerance|employer|age|debt|health|school|birthday|status|job|diet|accessibility|medication|language|birthplace|like|dislike|hobby|relationship|work|routine|origin|fear"
) | {"monthly payment", "work schedule", "field of study"}
_PETS: Final = frozenset({"dog", "cat", "pet"})
_USING: Final = words("to|go|going|with|use|using|on|usar|ir|con|por|utilizar|ללכת|על|להשתמש|את|לעבוד|עם")
_YEARS_OLD: Final = words("years|yrs|yo|y/o|anos|anitos|old")
_CALLED: Final = words("named|called|llamado|llamada|llama|בשם")
_WORKING: Final = words(
    "work|worked|works|working|job|position|role|employed|hired|resigned|fired|laid|sacked|quit|trabajo|trabajamos|trabaja|trabajan|trabajar|trabajaba|empleado|empleada|renuncie|despidieron"
)
_PLACES: Final = words(
    "city|countryside|suburbs|country|village|mountains|beach|north|south|east|west|center|centre|coast|uk|us|usa|netherlands|ciudad|campo|centro|norte|sur|pueblo|afueras"
)
_SCHOOLS: Final = words(
    "school|kindergarten|preschool|daycare|college|university|nursery|primary|highschool|colegio|instituto|cole|escuela|universidad"
)
_SHOWN: Final = words("the|this|that|these|those|how|when|what|ese|esa|este|esta")
_NO_MORE: Final = words("longer|no|לא|not|anymore|עוד")
_TELLS: Final = words("do|does|did|have|has|only|been")
_EXPIRES: Final = (["expires"], ["caduca"], ["vence"])
_YOURS: Final = words("your|ur|tu|tus|su|sus|שלך")
_PLACED: Final = words(
    "home|address|work address|gym|school|employer|bank|birthday|anniversary|wedding date|deadline|due date|launch date|university|office|day"
)
_OF_MANY: Final = words("like|love|hate|enjoy|prefer")
_AS: Final = words("as|como|בתור|כ")
_CALL_ME: Final = words("call|llamame|dime|diganme|llamenme")
_NEW_CLAUSE: Final = words(
    "it|this|that|there|the|am|is|are|was|feel|think|have|has|want|would|will|with|without|in|on|for|at|eso|esto|con|sin|en|para|זה"
)
_THIS_YEAR: Final = words("this|next|year|month|week|השנה|este|ano|proximo|currently")


class Reader:
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
        begin, end = stated_until(sentence, self.language, noted=self.noted)
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
                self.found.append(self._worded(replace(said, value=each)))
            self.unnamed = (
                (len(self.found) - 1, said.first)
                if said.attribute in ("pet", "family") and len(said.value) == 1
                else None
            )
            self.known = said.subject if said.subject.who != SELF or self.known is None else self.known
            if said.subject.role is not None and said.subject.role == said.attribute:
                who = " ".join([said.attribute, *(token.plain for token in said.value)])
                self.known = replace(said.subject, who=who, noun=None, name=said.value, shown=said.value)
            self.spoke = said.subject.who == SELF and said.subject.noun is None
            self._count_no_children_named(said)
            self.children = self.children or said.attribute == "children"

    def _clause(self, at: int, *, first: bool) -> Finding | None:
        if self.tokens[at].plain in self.language.others and self.known is None:
            self.known = self._spoken_of(at)
        subject = subject_at(self.tokens, at, self.language, known=self.known, noted=self.noted and first)
        said = changed(self, at) or corrected(self, at) or (asked_for(self, at) if first else None)
        if said is not None:
            return said
        if subject is not None:
            said = self._said_of(subject) or profession(self, subject) or turned_round(self, subject)
            if said is not None:
                return said
        known = self.known or (self._spoken_of(at) if self.language.drops_subject and not first else None)
        if known is not None and known.who != SELF and not first:
            said = self.predicate(replace(known, first=at, end=at, noun=None))
            if said is not None:
                return said
        return self._implied(at, first=first)

    def _said_of(self, subject: Subject) -> Finding | None:
        if subject.noun is not None:
            return self.copula(subject, subject.noun)
        said = self.predicate(subject)
        if said is None and subject.role is not None:
            return self.copula(subject, subject.role)
        return said

    def _implied(self, at: int, *, first: bool) -> Finding | None:
        """A clause without its subject: "sold the car", "vivo en Madrid", "allergic to peanuts" in a note."""
        speaker = replace(SPEAKER, first=at, end=at)
        if self.noted and (first or not self.found):
            return self.predicate(speaker, unsaid=True) or noted(self, at) or self._routine(speaker, implied=True)
        while at + 1 < len(self.tokens) and self.tokens[at].plain in self.language.fillers - _TELLS:
            at += 1
        word = self.tokens[at].plain
        if not first and self.spoke:
            said = self.predicate(speaker)
            return said if said is not None and said.attribute not in ("hobby", "smoking", "use") else None
        if self.language.drops_subject or word in self.language.events or word in ("call", "no", "not"):
            return self.predicate(speaker)
        return None

    def predicate(self, subject: Subject, *, unsaid: bool = False) -> Finding | None:
        match = best_match(self.tokens, subject.end, self.language, third=subject.third and not unsaid, unsaid=unsaid)
        if match is None:
            return self._routine(subject)
        said = self._matched(subject, match)
        return said or self._routine(subject)

    def _matched(self, subject: Subject, match: Match) -> Finding | None:
        attribute = match.pattern.attribute
        if attribute == "possession" and match.negated and not match.pattern.mark:
            return None
        rest: tuple[Token, ...] = ()
        last = match.end
        if match.open_end and match.rest is not None:
            self.naming = attribute in ("pet", "family")
            last = self.value_end(match.end)
            self.naming = False
            rest = (match.rest, *self.tokens[match.end + 1 : last]) if last > match.end else ()
        if rest and attribute in ("pet", "family") and rest[0].plain == ",":
            rest = rest[1:]
        if (
            rest
            and (not rest[0].word or rest[0].plain in self.language.cuts or rest[0].plain in self.language.joins)
            and rest[0].written not in "$€₪£"
        ):
            if not match.value:
                return None
            rest, last = (), match.end
        if attribute in ("employer", "school"):
            last = next((at for at in range(match.end + 1, last) if self.tokens[at].plain in _AS), last)
            rest = rest[: last - match.end]
        while last > match.end and not self.tokens[last - 1].word:
            last -= 1
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
        if attribute == "allergy" and not rest and len(match.value) == 1 and match.said <= 4:
            return self._allergic(subject, match)
        matched = self.tokens[subject.end : match.end]
        if not self._fits(attribute, matched, match.value, rest, max(last, match.end)):
            return None
        said = Finding(
            subject,
            attribute,
            value,
            subject.first,
            max(last, match.end),
            negated=match.negated ^ ("-" in match.pattern.mark),
            over=match.over
            or (any(token.plain in _PAST for token in matched) and not any(t.plain == "have" for t in matched)),
            ahead="+" in match.pattern.mark,
        )
        return self.checked(said)

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
                or (not following.word and following.plain != "%")
                or following.plain in language.joins | language.cuts | language.fillers
            )
            free = free or bool(
                self._moments(self.tokens[last : last + 4], ahead=False)
                or begins(self.tokens, last, language.momentary)
            )
            return (free or begins(self.tokens, last, language.leads) > 0) and not said & {"we", "are"}
        if not rest:
            return True
        if attribute in ("like", "dislike") and rest[0].plain in _SHOWN and not rest[min(1, len(rest) - 1)].capital:
            return False  # something just shown: "I like the story"
        named = rest[0].capital or language.name == "he"
        if attribute == "name" and said & _CALL_ME and not named and not self.text.islower():
            return False  # "call me when you finish"
        if rest[0].plain in _YOURS or (attribute == "language" and rest[0].plain in _NEW_CLAUSE):
            return False
        if attribute == "use" and not self.noted:
            return False
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
            if value[place].plain in ("for", "in", "on", "en", "para") or value[place].plain[1:] == "פרויקט":
                rest = rest if value[place].plain[1:] != "פרויקט" else (bare(value[place], 1), *rest)
                while len(rest) > 1 and rest[0].plain in self.language.articles:
                    rest = rest[1:]
                return replace(subject, who=" ".join(token.plain for token in rest)), value[:place]
        return subject, value

    def copula(self, subject: Subject, noun: str) -> Finding | None:
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
        last = self.value_end(at, named=noun not in ("goal", "plan", "strategy"))
        value = self.tokens[at:last]
        attribute = noun
        if noun in ("home", "address") and value and value[0].plain[:1] == "ב" and len(value[0].plain) > 2:
            value = (bare(value[0], 1), *value[1:])
        placed = bool(value) and (
            value[0].plain in ("at", "in", "en") or (not used and value[0].plain[:1] == "ב" and len(value[0].plain) > 2)
        )
        if placed and attribute not in _PLACED and not self.noted and copula not in _EXPIRES:
            return None
        if copula in _EXPIRES:
            attribute = f"{noun} expiry"
        if subject.role and noun == "name":
            noun = attribute = subject.role
        if subject.role == noun:
            if not _is_name(value, copula, self.language):
                return None
            subject = replace(subject, who=SELF)
        if attribute in _PETS:
            kind = subject.shown[:1]
            if self.language.name == "he" and kind and kind[0].plain[:1] == "ה":
                kind = (bare(kind[0], 1),)
            attribute, value = "pet", (*kind, *value)
        said = Finding(subject, attribute, value, subject.first, last, negated=negated)
        correction = self.tokens[last : last + 2]
        if value and [token.plain for token in correction][:1] in (["not"], ["no"], ["לא"]):
            said = replace(said, instead_of=self.tokens[last + 1 : self.value_end(last + 1, named=True)])
        return self.checked(said)

    def _routine(self, subject: Subject, *, implied: bool = False) -> Finding | None:
        """What somebody does again and again: "I run every morning"."""
        if subject.loose or (subject.end > subject.first and subject.noun):
            return None
        if subject.end == subject.first and not (self.language.drops_subject or implied):
            return None
        last = self.value_end(subject.end)
        value = self.tokens[subject.end : last]
        often = [place for place in range(len(value)) if self._often(value, place)]
        if not often or len(value) < 2 or value[0].plain in self.language.moods:
            return None
        return self.checked(Finding(subject, "routine", value, subject.first, last))

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
                ):
                    end += 1
                if end > at + 1:
                    self.avoided = tuple(tokens[at:end])

    def _allergic(self, subject: Subject, match: Match) -> Finding | None:
        """As in "My son is allergic": to what was wanted left out before, else just so."""
        value = self.avoided[1:] or match.value
        said = Finding(subject, "allergy", value, subject.first, match.end, negated=match.negated, over=match.over)
        return self.checked(replace(said, avoided=self.avoided) if self.avoided else said)

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
                start = place + (token.plain == "חברת")
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

    def _count_no_children_named(self, said: Finding) -> None:
        """As in "Two kids, Mia is 6 and Leo is 3": those named say how many there are."""
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

    def _often(self, value: Sequence[Token], at: int) -> bool:
        if value[at].plain not in self.language.frequencies:
            return False
        if value[at].plain not in ("every", "cada", "todos", "todas", "כל"):
            return True
        following = value[at + 1].plain if at + 1 < len(value) else ""
        return following in self.language.periods or following in self.language.weekdays or following[:1].isdigit()

    def checked(self, said: Finding) -> Finding | None:
        tokens = self.tokens[said.first : said.last]
        told = any(token.plain in self.language.events for token in tokens)
        around = self.tokens[said.first : self._boundary(said.last)]
        brief = any(begins(around, place, self.language.momentary) for place in range(len(around)))
        if brief and not told and not self.noted:
            return None
        named_only = said.subject.loose and said.subject.noun is None
        if named_only and any(token.plain in _OF_MANY for token in tokens):
            return None  # "things like pasta"
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
        if said.over and not said.negated and self._gone(said):
            said = replace(said, negated=True)
        value = self._trimmed(said)
        if not is_value(value, said.attribute, said.subject, self.language, negated=said.negated, noted=self.noted):
            return None
        return replace(said, value=value, instead_of=said.instead_of or self._instead_of(said))

    def _instead_of(self, said: Finding) -> tuple[Token, ...]:
        """As in "…, not Dina", "… instead of Postgres"."""
        for at in range(said.first, min(said.last + 2, len(self.tokens))):
            used = begins(self.tokens, at, self.language.instead)
            if used and at + used < len(self.tokens):
                return self.tokens[at + used : self.value_end(at + used)]
        return ()

    def _worded(self, said: Finding) -> Statement:
        return Wording(self.text, self.tokens, self.language, self.said_at).statement(said)

    def _gone(self, said: Finding) -> bool:
        """Whether it is said in so many words that it is not so now: "no longer", but not "used to"."""
        tokens = self.tokens[said.first : said.last]
        return any(
            begins(tokens, place, self.language.ended) and tokens[place + 1].plain in _NO_MORE
            for place in range(len(tokens) - 1)
        )

    def _trimmed(self, said: Finding) -> tuple[Token, ...]:
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
        if attribute_of(said.attribute).category != "identity" and said.attribute not in UNTIMED - {
            "goal",
            "plan",
            "strategy",
        }:
            for moment in reversed(self._moments(value, ahead=said.ahead)):
                if moment.last == len(value) and moment.first > 0:
                    value = value[: moment.first]
        while value and (
            not value[-1].word
            or value[-1].plain in self.language.fillers | self.language.joins | {"by", "for", "before"}
        ):
            value.pop()
        return tuple(value)

    def value_end(self, at: int, *, named: bool = False) -> int:
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
                        (tokens[following].capital and self.naming)
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
        if word in _NEW_CLAUSE:
            return True
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
    if not value or len(value) > 4:
        return False
    if any(word in ("called", "named", "llama", "llaman", "נקרא", "נקראת", "קוראים") for word in copula):
        return True
    return (
        (value[0].capital or language.name == "he")
        and value[0].plain not in language.common | language.moods
        and all(token.capital or language.name == "he" for token in value if token.word)
    )
