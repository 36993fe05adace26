"""Read sentences from left to right, and find what each clause states about whom."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from langmem_plugin.facts.attributes import GROUPS, attribute_of
from langmem_plugin.facts.sentence_splitting import Sentence, Token, after_leads, begins, starts, stated_until
from langmem_plugin.facts.statement_patterns import Line, Match, best_match, matches, taken_apart
from langmem_plugin.facts.subject import SELF, Subject, is_a_name, is_name, looked_up, subject_at
from langmem_plugin.facts.time_expressions import moments
from langmem_plugin.facts.value_comparison import number
from langmem_plugin.languages.language_words import Language

_LONGEST_VALUE: Final = 14
_ANY_DAY: Final = datetime(2000, 1, 1, tzinfo=UTC)
_OLDEST: Final = 105
_DIALLED: Final = 5  # digits of the shortest phone number
_LONGEST_TAIL: Final = 2  # words of a value behind its last comma
_LONGEST_THING: Final = 5  # words
_DICTATED: Final = frozenset(("secrets", "identity"))  # "save my card 4111 …"
_A: Final = frozenset(("a", "an", "un", "una"))
_MEANT: Final = {"counted": "possession", "illness": "health"}
_SAID_ALONE: Final = frozenset(("identity", "money", "secrets", "body"))  # told without "is" in Hebrew
_FAR: Final = 5  # words of where or when, before "is"
_IN_VALUES: Final = frozenset((*"-&+#'₪$€£%/.@*_=", "'s"))


@dataclass(frozen=True)
class Finding:
    """One fact, which begins at the word `first` and ends before `last`. `instead_of` is the value that it corrects."""

    subject: Subject
    attribute: str
    value: tuple[Token, ...]
    first: int
    last: int
    negated: bool = False
    over: bool = False
    ahead: bool = False
    instead_of: tuple[Token, ...] = ()


class Reader:
    """The reader of one sentence's clauses; `noted` says that it is a note, in which the person is left out."""

    def __init__(self, language: Language, said_at: datetime | None, *, noted: bool) -> None:
        self._language, self._said_at, self._noted = language, said_at, noted
        self._known: Subject | None = None
        self._of_speaker = False

    def read(self, sentence: Sentence) -> tuple[Line, list[Finding]]:
        sentence = replace(sentence, tokens=taken_apart(sentence.tokens, language := self._language))
        begin, end = stated_until(sentence, language, noted=self._noted)
        line = Line(sentence.tokens[:end], language)
        found: list[Finding] = []
        done = begin
        self._of_speaker = False
        for at in starts(line.tokens, begin, language):
            place = after_leads(line.tokens, at, language)
            if at < done or place < done or place >= len(line.tokens):
                continue
            told = any(begins(line.tokens, lead, language.remember) for lead in range(at, place))
            said = self._clause(line, place, first=at == begin) or (None if told else self._scheduled(line, place))
            if said is None:
                continue
            done = said.last
            self._remember(said)
            found += self._each(said)
        return line, found if self._noted else [*found, *self._mentioned(line, begin, found)]

    def _mentioned(self, line: Line, begin: int, found: Sequence[Finding]) -> Iterator[Finding]:
        """Give each person of the speaker's, by role and name, wherever that stands: "marrying my fiancée Steph"."""
        told = " ".join(f"{each.subject.who} {' '.join(token.plain for token in each.value)}" for each in found)
        for at in range(begin, len(line.tokens)):
            if line.tokens[at].plain not in self._language.possessives or self._language.possessive_after:
                continue
            subject = subject_at(line, at)
            if subject is None or subject.role is None or subject.noun is not None or not subject.name:
                continue
            joined = subject.end < len(line.tokens) and line.tokens[subject.end].plain in self._language.joins
            name = " ".join(token.plain for token in subject.name)
            if is_name(subject.name[0], self._language) and not joined and name not in told:
                last = subject.end - (line.tokens[subject.end - 1].plain == ",")  # "my dog, Rex, is sick"
                yield Finding(replace(subject, who=SELF), subject.role, subject.name, subject.first, last)

    def _clause(self, line: Line, at: int, *, first: bool) -> Finding | None:
        subject = subject_at(line, at, known=self._known, noted=self._noted and first)
        if subject is not None:
            said = self._of(line, subject)
            if said is not None:
                return said
            if subject.role is not None and subject.noun is None:
                self._known, self._of_speaker = subject, False
            elif subject.is_speaker:
                self._of_speaker = True
            if subject.end > at and not (subject.loose or self._noted):
                return None
        speaker = Subject(SELF, at, at, at)
        if self._noted and first:
            return self._predicate(line, speaker, unsaid=True) or self._noted_of(line, at)
        if not first and self._known is not None and not self._of_speaker:
            return self._predicate(line, replace(self._known, first=at, end=at, noun=None), goes_on=True)
        if (self._of_speaker and not first) or self._is_implied(line, at, first=first):
            return self._predicate(line, speaker, goes_on=not first)
        return None

    def _is_implied(self, line: Line, at: int, *, first: bool) -> bool:
        """Tell whether a clause without its subject is the speaker's: "sold the car", "vivo en Madrid"."""
        language = self._language
        passed = language.fillers | language.negations
        word = next((token.plain for token in line.tokens[at:] if token.plain not in passed), "")
        if begins(line.tokens, at + 1, language.copulas) and not language.possessive_after:
            return False  # "love is …"
        if language.name == "es":
            return True
        if language.name == "he" and re.fullmatch(language.first_person, word):
            return True
        leading = language.events | language.implied
        return (word in leading or line.tokens[at].plain in leading) and (first or language.name == "he")

    def _of(self, line: Line, subject: Subject) -> Finding | None:
        if subject.noun is not None:
            return self._copula(line, subject)
        said = self._predicate(line, subject)
        if said is None and subject.role is not None:
            said = self._copula(line, replace(subject, noun=subject.role))
        return said

    def _predicate(
        self, line: Line, subject: Subject, *, unsaid: bool = False, goes_on: bool = False
    ) -> Finding | None:
        third = not subject.is_speaker
        found = matches(line, subject.end, third=third and not unsaid, unsaid=unsaid)
        if unsaid and line.tokens[subject.end].plain in self._language.articles - self._language.fillers:
            return None  # "in the north field": only "lives" was left out of a pattern
        found = found or self._without_to_be(line, subject, goes_on=goes_on)
        told = (self._matched(line, subject, each) for each in found)
        said = next((each for each in told if each is not None), None)
        return said or self._introduced(line, subject) or self._routine(line, subject)

    def _without_to_be(self, line: Line, subject: Subject, *, goes_on: bool) -> list[Match]:
        """Return what is said without "am": what hurts, where nobody else was named, and behind "and" what people are."""
        tokens, language = line.tokens, self._language
        found = matches(line, subject.end, third=not subject.is_speaker, unsaid=True)
        if goes_on and tokens[subject.end - 1].plain in language.joins:
            trade = {"job"} if tokens[subject.end].plain in _A else set()  # "and a nurse", but not "and cook"
            own = subject.is_speaker or not self._is_first_person(tokens[subject.end : subject.end + 1])
            return [each for each in found if own and each.attribute in GROUPS["states"] | trade]
        # "allergic to penicillin btw", but not "Dan's coming. allergic to nuts"
        opens = not tokens[0].start and subject.end == after_leads(tokens, 0, language)
        return [each for each in found if opens and each.is_open and each.attribute in GROUPS["hurting"]]

    def _matched(self, line: Line, subject: Subject, match: Match) -> Finding | None:
        first = line.token_at(match.end if match.named else match.start)
        last = line.token_at(match.end)
        if match.is_open:
            last = self._value_end(line, last, match.attribute)
        value = list(line.tokens[first:last])
        if not value:
            return None
        ends = not match.is_open and (match.negated or value[0].plain in self._language.events)
        if ends and not is_whole(line, line.token_at(match.through), self._said_at, {match.attribute}):
            return None  # the board of "I resigned from the board" is nothing that the pattern knows of
        value[0] = _bare(value[0], line.offset_in_token(match.start))
        return self._checked(line, subject, match, value, max(last, line.token_at(match.through)))

    def _introduced(self, line: Line, subject: Subject) -> Finding | None:
        """Read a name that the person gives themselves, as in "I'm Dana, …", "soy Ana y …"."""
        tokens, language = line.tokens, self._language
        at = subject.end + begins(tokens, subject.end, language.introducing)
        if not subject.is_speaker or at == subject.end or at >= len(tokens) or not is_name(tokens[at], language):
            return None
        last = at + 1 + (at + 1 < len(tokens) and is_name(tokens[at + 1], language))
        if last < len(tokens) and tokens[last].word and tokens[last].plain not in language.joins:
            return None
        return Finding(subject, "name", tuple(tokens[at:last]), subject.first, last)

    def _routine(self, line: Line, subject: Subject) -> Finding | None:
        """Read a habit, as in "I run every morning", "I never fly before noon"."""
        tokens, language = line.tokens, self._language
        if not subject.is_speaker or subject.end >= len(tokens):
            return None
        if subject.end == subject.first and not self._is_first_person(tokens[subject.end : subject.end + 2]):
            return None
        last = self._value_end(line, subject.end, "routine")
        value = list(tokens[subject.end : last])
        often = any(token.plain in language.frequencies for token in value)
        always = bool(value) and value[0].plain in language.always
        verb = value[1:] if always else value
        if not (often or always) or len(verb) < 2 or verb[0].plain in language.no_values["routine"] | language.moods:
            return None
        negated = any(token.plain in language.negations for token in value)
        match = Match("routine", 0, 0, 0, is_open=True, said=1, negated=negated, over=False, ahead=False)
        return self._checked(line, subject, match, value, last)

    def _scheduled(self, line: Line, at: int) -> Finding | None:
        """Read a thing that comes again and again: "bins go out on Tuesdays", "my choir meets every Monday"."""
        tokens, language = line.tokens, self._language
        thing = tokens[at : at + _LONGEST_THING]
        owned = any(token.plain in language.possessives for token in thing[: 4 if language.possessive_after else 1])
        known = any({token.plain, token.plain.removeprefix("ה")} & language.scheduled for token in thing)
        if self._noted or not (owned or known):
            return None
        last = self._value_end(line, at, "routine")
        said = " ".join(token.plain for token in tokens[at:last])
        again = re.search(language.recurring, said)
        if again is None or not language.objects.isdisjoint(said.split()):
            return None  # "the kids drive me mad every morning"
        shown = at + (tokens[at].plain in language.possessives or tokens[at].plain in language.articles)
        role, used = looked_up(line, shown, language.people)
        subject = Subject(role or SELF, at, shown + used, shown, role=role or None)
        return Finding(subject, "routine", tuple(tokens[subject.end : last]), at, last)

    def _is_first_person(self, said: Sequence[Token]) -> bool:
        """Recognise the first person by the verb's ending, where "I" may be left out: "siempre viajo en ventanilla"."""
        verbs = [token.plain for token in said if token.plain not in self._language.always]
        return bool(verbs) and re.fullmatch(self._language.first_person, verbs[0]) is not None

    def _copula(self, line: Line, subject: Subject) -> Finding | None:
        """Read a value that is given by "is": "my dentist is …", "my sister's name is …"."""
        tokens, language, noun = line.tokens, self._language, subject.noun or ""
        at = subject.end
        while at < len(tokens) and tokens[at].plain in language.fillers:
            at += 1
        used = begins(tokens, at, language.copulas) or (at < len(tokens) and tokens[at].plain in (":", "="))
        if not used and at < len(tokens) and tokens[at].plain in language.between:  # "my manager at the hotel is …"
            at = next((place for place in range(at, at + _FAR) if begins(tokens, place, language.copulas)), at)
            used = begins(tokens, at, language.copulas)
        dictated = at < len(tokens) and tokens[at].plain[:1].isdigit() and attribute_of(noun).category in _DICTATED
        alone = language.name == "he" and (noun in GROUPS["serving"] or attribute_of(noun).category in _SAID_ALONE)
        if not (used or dictated or alone) or (not used and noun == subject.role):
            return None
        if not used and attribute_of(noun).category == "secrets":  # "הקוד לדלת של המשרד 5580"
            at = next(
                (place for place in range(at, min(at + _FAR, len(tokens))) if tokens[place].plain[:1].isdigit()), at
            )
        at += used
        coming = tokens[at - 1].plain not in language.was
        negated = at < len(tokens) and tokens[at].plain in language.negations
        at += negated
        while at < len(tokens) and tokens[at].plain in language.fillers:
            at += 1
        if at >= len(tokens):
            return None
        last = self._value_end(line, at, noun)
        value = list(tokens[at:last])
        bare = self._without_articles(value)
        if used and tokens[at - 1].plain == "'s" and value and not (bare[0].capital or self._counts(bare[:1])):
            return None  # "my dentist's assistant", "my parents' rent"
        if noun == "name" and subject.role is not None:
            noun = subject.role
        attribute = noun
        if noun == subject.role:
            named = coming if language.name == "he" else is_a_name(self._without_articles(value), language)
            if not (named and value and value[-1].plain != "'s"):
                return None
            subject = replace(subject, who=SELF)
            if noun in GROUPS["pets"]:
                attribute, value = "pet", [*tokens[subject.shown : subject.shown + 1], *value]
        match = Match(attribute, 0, 0, 0, is_open=True, said=1, negated=negated, over=False, ahead=coming)
        return self._checked(line, subject, match, value, last)

    def _noted_of(self, line: Line, at: int) -> Finding | None:
        """Read a note of a thing: "choir practice: mondays at 18:30"."""
        colon = next(
            (place for place in range(at + 1, min(at + 4, len(line.tokens))) if line.tokens[place].plain == ":"), 0
        )
        if not colon:
            return None
        noun = " ".join(token.plain for token in line.tokens[at:colon])
        return self._copula(line, Subject(SELF, at, colon, at, noun=noun))

    def _value_end(self, line: Line, at: int, attribute: str) -> int:
        """Return the end of the value that begins at `at`: a new clause, or words that end it, but no comma alone."""
        tokens, language = line.tokens, self._language
        exact = attribute_of(attribute).category == "identity"
        for place in range(at, min(at + _LONGEST_VALUE, len(tokens))):
            token = tokens[place]
            if token.plain in language.cuts and begins(tokens, place + 1, language.names_it):
                continue  # "un perro que se llama Copo"
            if token.plain in language.cuts or token.plain == "i":
                return place
            if begins(tokens, place, language.ended_after) or begins(tokens, place, language.instead):
                return place
            following = tokens[place + 1] if place + 1 < len(tokens) else None
            goes_on = following is not None and (following.plain[:1].isdigit() or following.capital)
            if token.plain == "," and exact and not goes_on:
                return place
            if token.plain in (",", ":") or token.plain in language.joins:
                begun = after_leads(tokens, place, language)
                named = begins(tokens, begun, language.names_it)  # "a dog and his name is Rex"
                if begun >= len(tokens) or named or self._opens_clause(line, begun, comma=token.plain == ","):
                    return place
            elif (not token.word and token.plain not in _IN_VALUES) or (
                token.plain == "-" and token.start > tokens[place - 1].end
            ):
                return place
        return min(at + _LONGEST_VALUE, len(tokens))

    def _opens_clause(self, line: Line, at: int, *, comma: bool) -> bool:
        tokens, language = line.tokens, self._language
        word = tokens[at].plain
        opening = language.selves | language.possessives | language.asks | language.negations | language.opens
        if word in opening or (word in language.others and tokens[at].written != "el"):
            return True
        if any(best_match(line, at, third=third) for third in (False, True)):
            return True
        subject = subject_at(line, at)
        if subject is not None and best_match(line, subject.end, third=True):
            return True
        # A list goes on to its "and", and a value to its end ("Portland, Oregon"), but not to what is said besides.
        listed = any(token.plain in language.joins | language.listing | {","} for token in tokens[at : at + 4])
        idle = language.courtesies | language.fillers | language.common | language.moods | language.questions
        return comma and not listed and (word in idle | language.pronouns or len(tokens) - at > _LONGEST_TAIL)

    def _checked(self, line: Line, subject: Subject, match: Match, value: list[Token], last: int) -> Finding | None:
        tokens, language = line.tokens, self._language
        clause = tokens[subject.first : last + 2]
        told = not language.events.isdisjoint(token.plain for token in clause)
        brief = any(begins(clause, place, language.momentary) for place in range(len(clause)))
        if brief and not told and not self._noted and match.attribute != "event":
            return None
        ended = begins(tokens, last, language.ended_after)
        if match.attribute == "age" and (tokens[last - 1].plain == "%" or not self._ends_there(line, last)):
            return None  # "ninety days out of rehab", "I'm 6'1", "25% Italian"
        over = match.over or bool(ended and match.negated)
        # "I used to smoke" only was so; "I no longer smoke" is not so.
        no_more = not language.no_more.isdisjoint(token.plain for token in tokens[subject.end : last])
        negated = match.negated or (match.over and no_more)
        if match.attribute == "event" and not self._is_planned(clause):
            return None
        common = len(value) > 1 and not value[1].capital
        pointed = common and value[0].plain in language.pointing
        placed = common and value[0].plain in language.determiners | language.possessives
        left = placed and match.attribute == "employer" and match.negated
        at_hand = pointed if match.attribute in GROUPS["likes"] else left
        new = not language.adjectives_after.isdisjoint(token.plain for token in value[1:] if not token.capital)
        if (at_hand and not self._noted) or (match.attribute == "home" and (placed or new)):
            return None  # "I love the toppings", "I moved to the night shift", "עברתי לתפקיד חדש"
        if match.attribute == "routine" and not self._is_habit(subject, value):
            return None
        if match.named and not (value[0].capital or self._without_articles(value)[0].capital):
            return None
        value = self._trimmed(value, match)
        if negated and told and self._said_at is not None and is_timed(match.attribute):
            # "I left Google last week" ends what held until then; what was left in 2015 may hold again.
            dated = moments(value, language, self._said_at, ahead=False)
            if dated and dated[-1].last == len(value) and dated[-1].start > self._said_at - timedelta(days=730):
                value = value[: dated[0].first] or value
        if not value or not self._is_value(value, subject, match.attribute, negated=negated):
            return None
        return Finding(
            subject,
            _MEANT.get(match.attribute, match.attribute),
            tuple(value),
            subject.first,
            last + ended,
            negated=negated,
            over=over,
            ahead=match.ahead,
            instead_of=self._instead_of(line, last),
        )

    def _ends_there(self, line: Line, at: int) -> bool:
        """Tell whether a number ends before `at`: no sign, unit or thing that is counted follows."""
        if at == len(line.tokens):
            return True
        following, language = line.tokens[at], self._language
        if not following.word:
            return following.plain not in _IN_VALUES or following.start > line.tokens[at - 1].end
        known = language.common | language.fillers | language.courtesies
        plural = language.name != "he" and following.plain.endswith("s") and following.plain not in known
        return not plural and following.plain.removesuffix("s") not in language.no_values["counted"]

    def _is_habit(self, subject: Subject, value: Sequence[Token]) -> bool:
        """Tell whether it is a habit, said outright of somebody: not "keep that in mind", "I keep forgetting"."""
        language = self._language
        said_outright = subject.end > subject.first or language.drops_subject
        following = value[1].plain if len(value) > 1 else ""
        idle = language.no_values["routine"] | language.pronouns | language.pointing
        again = re.search(language.recurring, " ".join(token.plain for token in value))
        telling = following not in idle and not following.endswith("ing")
        return said_outright and bool(following) and (again is not None or telling)

    def _is_planned(self, clause: Sequence[Token]) -> bool:
        """Tell whether it is for a day that is not today nor tomorrow: what is sooner is done before it is of use."""
        if self._said_at is None:
            return False
        soon = self._said_at + timedelta(days=2)
        return any(each.start > soon for each in moments(clause, self._language, self._said_at, ahead=True))

    def _instead_of(self, line: Line, last: int) -> tuple[Token, ...]:
        """Return the value that is corrected, as in "…, not Dina", "… instead of Postgres"."""
        tokens, language = line.tokens, self._language
        for at in range(last, min(last + 2, len(tokens))):
            used = begins(tokens, at, language.instead) or int(tokens[at].plain in language.negations)
            if used and at + used < len(tokens):
                return tuple(tokens[at + used : self._value_end(line, at + used, "name")])
        return ()

    def _trimmed(self, value: list[Token], match: Match) -> list[Token]:
        """Return the value without articles before it, and times and idle words behind it."""
        language = self._language
        if match.attribute not in GROUPS["names"]:
            value = list(self._without_articles(value))
        idle = language.fillers | language.joins
        while value and ((not value[-1].word and value[-1].plain not in ("%", "'s")) or value[-1].plain in idle):
            if [token.plain for token in value[-2:-1]] == [":"]:
                break  # "UTC+2: always"
            value = value[:-1]
        return value

    def _is_value(self, value: Sequence[Token], subject: Subject, attribute: str, *, negated: bool) -> bool:
        """Tell whether the words can be a value at all: "in fear" is no home, "it" is none of anything."""
        language, first = self._language, value[0].plain
        counted = number([token.plain for token in value])
        if attribute == "age":
            return counted is not None and 0 <= counted[0] <= _OLDEST and counted[0] == int(counted[0])
        accented = language.name == "es" and value[0].written.casefold() != first  # "té", but not "te"
        if first in language.pronouns and not accented and attribute not in ("pronouns", "name", "event"):
            return False
        if attribute == "birthday":
            return self._counts(value) or not language.months.keys().isdisjoint(token.plain for token in value)
        if attribute in GROUPS["names"]:
            idle = language.common | language.moods | language.no_values["name"]
            return first not in idle and len(value) <= 3 and not (first.startswith("כש") or self._counts(value))
        if attribute == "phone" and sum(c.isdigit() for token in value for c in token.plain) < _DIALLED:
            return False
        named = language.name == "he" or self._without_articles(value)[0].capital
        uncounted = attribute in GROUPS["counted"] and not self._counts(value)
        if uncounted or (attribute in GROUPS["services"] and not named):
            return False
        if attribute == "death" and subject.is_speaker:
            return is_name(value[0], language)  # whom they had to put down; not "I'm dead tired"
        if attribute == "illness":
            return any(re.fullmatch(language.illnesses, token.plain) for token in value[:3]) and len(value) < 6
        if attribute == "counted":
            noun = [token.plain for token in value if not (token.plain[:1].isdigit() or number([token.plain]))]
            forms = {form for each in noun for form in (each, each.removesuffix("s"))}
            return 0 < len(noun) <= 2 and forms.isdisjoint(language.no_values["counted"])
        if attribute == "possession" and not negated:
            return any(is_name(token, language) or re.fullmatch(r"(?:19|20)\d\d", token.plain) for token in value[:2])
        refused = language.no_values.get(attribute, frozenset()) | language.no_values.get("", frozenset())
        kind = attribute_of(attribute).category
        if kind in ("work", "place") and first in language.months.keys() | language.weekdays.keys():
            return False
        if not (self._noted and attribute != "home") and not value[0].capital and first in refused:
            return False
        if attribute in GROUPS["hurting"] and not self._noted and any(token.plain in refused for token in value):
            return False  # "allergic to stupid people"
        if subject.noun is None:
            return not subject.loose or attribute in GROUPS["of people"]
        ordered = not language.no_values["health"].isdisjoint(subject.noun.split())
        if not self._noted and ordered and not self._is_planned(value):
            return False  # "my order is 5521"
        if attribute not in GROUPS["plans"] and re.fullmatch(r"[^\W\d_A-Z]\w{2,}(?:ing|ando|iendo)", value[0].written):
            return False  # "my car is leaking", but "my supplier is Sterling"
        favorite = not language.favorites.isdisjoint(subject.noun.split())
        counts = self._counts(value)
        if (first in language.moods and not favorite) or (kind == "money" and counted is None and not counts):
            return False
        named = is_name(value[0], language) or first in language.honorifics
        told = self._noted or not subject.loose or named or counts or favorite
        return told or re.match(language.recurring, " ".join(token.plain for token in value)) is not None

    def _counts(self, value: Sequence[Token]) -> bool:
        return any(any(c.isdigit() for c in token.plain) or number([token.plain]) for token in value)

    def _remember(self, said: Finding) -> None:
        """Keep who "he" and "she" are in what follows."""
        subject = said.subject
        self._of_speaker = subject.is_speaker and subject.role is None
        named = subject.role is not None and said.attribute == subject.role
        if named:
            who = " ".join([said.attribute, *(token.plain for token in said.value)])
            self._known = replace(subject, who=who, noun=None, name=said.value)
        elif not subject.is_speaker and subject.noun is None:
            self._known = subject

    def _each(self, said: Finding) -> list[Finding]:
        """Return the parts of "peanuts, milk and eggs", where each is a fact of its own."""
        if said.attribute not in GROUPS["listed"]:
            return [said]
        parts: list[list[Token]] = [[]]
        for token in said.value:
            if token.plain == "," or token.plain in self._language.listing:
                parts.append([])
            else:
                parts[-1].append(token)
        kept = [self._without_articles(part) for part in parts if part]
        owned = self._language.determiners | self._language.possessives | self._language.pointing
        kept = [part for part in kept if not any(token.plain in owned for token in part[1:])] or kept[:1]
        return [replace(said, value=part) for part in kept if part]

    def _without_articles(self, part: Sequence[Token]) -> tuple[Token, ...]:
        articles = self._language.articles
        while len(part) > 1 and (part[0].plain in articles or not (part[0].word or part[0].written in "$€₪£")):
            part = part[1:]
        return tuple(part)


def is_whole(line: Line, at: int, said_at: datetime | None, ended: Collection[str]) -> bool:
    """Tell whether an event is told by then and names nothing but what it ends anyhow: "I quit my job on Monday" and
    "I resigned from my job", but not "I quit my job search app", "I resigned from the board".
    """
    language, rest = line.language, line.tokens[at:]
    word = rest[0].plain if rest else ""
    timed = not all(each.first for each in moments(rest, language, said_at or _ANY_DAY, ahead=False))
    over = begins(rest, 0, language.ended_after) or begins(rest, 0, language.momentary)
    if not word[:1].isalnum() or timed or over:
        return word != "'s"
    written_on = language.name == "he" and word[0] in "מבלכ" and word not in language.common
    passed = language.governing | language.possessives
    noun = at + next((place for place, each in enumerate(rest) if each.plain not in passed), 0)
    forms = [word, word[1:], word[2:]] if written_on else [line.tokens[noun].plain]
    meant = {table[(form,)] for table in (language.people, language.attributes) for form in forms if (form,) in table}
    if meant:
        return not meant.isdisjoint(ended) and is_whole(line, noun + 1, said_at, ended)
    if word in language.governing or written_on:
        return noun > at and number([line.tokens[noun].plain]) is not None  # "at 60", "a los 65"
    goes_on = language.cuts | language.joins | language.fillers | language.selves | language.between
    return language.name != "en" or word in goes_on


def is_timed(attribute: str) -> bool:
    return attribute_of(attribute).category != "identity" and attribute not in GROUPS["untimed"]


def _bare(token: Token, letters: int) -> Token:
    """A word without its first letters."""
    return Token(token.plain[letters:], token.start + letters, token.end, token.written[letters:]) if letters else token
