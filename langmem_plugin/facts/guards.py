"""Guards against facts that must not be believed: they hold for a chat model as for the reader without one.

A reader gives facts with the words they are from; each guard looks at those words where they stand in the message.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from functools import cache
from typing import Final

from langmem_plugin.facts.others_words import own_words
from langmem_plugin.facts.patterns import is_known, language_of
from langmem_plugin.facts.sensitive import is_sensitive
from langmem_plugin.facts.values import number
from langmem_plugin.facts.whom import SERVING
from langmem_plugin.languages.language import LANGUAGES, Language, words
from langmem_plugin.languages.plain_text import is_hebrew, plain

_WORD = re.compile(r"[^\W\d_]++(?:['\"-][^\W\d_]++)*+")
_NUMBER = re.compile(r"\d++(?:[.,:]\d++)*+")
_COUNTING = re.compile(rf"{_NUMBER.pattern}|{_WORD.pattern}")
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++(?=\s|$)|\n")
_CLAUSE_END = re.compile(r"[,;:()\n–—]|(?<![.!?…])[.!?…]++(?=\s|$)")
_QUOTED = re.compile(r"\"[^\"]*\"|(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w))*+'(?!\w)")
_STEM: Final = 4  # letters by which two forms of a word are taken for one
_ALIKE: Final = 0.75
_LONGEST_CORRECTION: Final = 8  # words
_LONGEST_BARE_CORRECTION: Final = 2  # words of a correction that shares no number and no name with what it corrects
_LONGEST_PLACE: Final = 31
_YEARS_NEAR: Final = range(-1, 4)
_IDLE: Final = words(
    "in|on|at|to|of|the|a|an|is|my|and|en|de|la|el|los|las|un|una|es|mi|con|por|at's|it's|he's|she's|it"
)


@dataclass(frozen=True)
class Claim:
    """A fact that somebody read in a message, and the words of that message that it is from."""

    text: str
    quote: str
    about_speaker: bool = True


def unbelieved(claim: Claim, message: str, said_on: date, *, heard: str = "", following: str = "") -> str | None:
    """Return the reason why a claim is not believed, None where nothing speaks against it.

    `said_on` is the person's own day. `heard` is what else was said to which the fact may refer by name: the
    question that was answered, the person's own messages before it; `following` is the person's next message, which
    may take this one back.
    """
    said = _Said(message, claim.quote)
    return (
        ("asked not to keep it" if asks_not_to_keep(message) or _refuses_last(following) else None)
        or said.foreign()
        or (said.by_another(claim) if claim.about_speaker else None)
        or said.denied(claim.text)
        or ("is what somebody else thinks" if said.embedded() else None)
        or _taken_back(claim, said, following)
        or _unsaid(claim.text, said, heard, said_on)
    )


def asks_not_to_keep(message: str) -> bool:
    """Tell whether the person asks that their words are not remembered: "don't save this", "no lo
    guardes", "אל תשמור".
    """
    return _found("keeps_not", message) is not None


def corrects(message: str) -> bool:
    """Tell whether the message may take back what the same person said just before: "sorry i meant 8",
    "*Bath", "not me".
    """
    return bool(_is_correction(message) or _contrast(message) or _found("not_me", message)) or _refuses_last(message)


def is_corrected(fact: str, quote: str, following: str) -> bool:
    """Tell whether the message after the quote takes the fact back."""
    return _taken_back(Claim(fact, quote), _Said(quote, quote), following) is not None


def laughs(message: str) -> bool:
    return _found("laughs", message) is not None


def sensitive_beyond(text: str, quote: str, marked: bool) -> bool:
    """Tell whether a fact is sensitive: its reader says so, or the tables do, of the fact or of its words."""
    return marked or is_sensitive(text) or is_sensitive(quote)


class _Said:
    """A quote where it stands in its message, both in plain letters."""

    def __init__(self, message: str, quote: str) -> None:
        self.written = message
        self.message = _flat(message)
        self.quote = _flat(quote)
        self.language = language_of(self.message, message)
        self.start = max(self.message.find(self.quote), 0)
        self.end = min(self.start + len(self.quote), len(self.message))

    def foreign(self) -> str | None:
        """Return the reason where the words are foreign: pasted, cited in quotation marks, or made up for a play."""
        own = _flat(own_words(self.written))
        if self.quote and " ".join(self.quote.split()) not in " ".join(own.split()):
            return "is pasted"
        for found in _QUOTED.finditer(self.message):
            if found.start() <= self.start and self.end <= found.end() and len(self.quote.split()) > 1:
                return "is cited"
        if _pattern("plays").search(self.message[: self.end]):
            return "is a part that is played"
        if self._asked():
            return "is asked"
        return "is a mere idea" if self._supposed() else None

    def embedded(self) -> bool:
        """Tell whether the quote is what others think or say of the speaker: "he wrote down that I'm a widow"."""
        guards, lead = self.language.guards, self.message[self._clause_start() : self.start]
        joined = self.language.name == "he"  # "that" is written onto the next word
        own = self.quote.removeprefix("ש") if joined else self.quote
        that = re.search(rf"(?<!\w)(?:{guards['that']})\s*\Z", lead)
        if that is None or (joined and own == self.quote) or not self._first_person(own.partition(" ")[0]):
            return False
        matrix = lead[: that.start()]
        known = rf"(?<!\w)(?:{guards['owns']}|{guards['experts']})(?!\w)"
        return any(map(str.isalpha, matrix)) and re.search(known, matrix) is None

    def _asked(self) -> bool:
        """Tell whether the quote asks, as in "am I allergic to cats?"; not what a question takes for granted: "what can
        my vegan son eat?".
        """
        start = self._clause_start()
        clause = self.message[start : self.end]
        asks = re.match(rf"\s*(?:{self.language.guards['asks']})\s*", clause)
        return asks is not None and start + asks.end() >= self.start

    def _supposed(self) -> bool:
        clause = self.message[self._clause_start() : self.end].lstrip()
        return re.match(rf"(?:{self.language.guards['supposes']})\b(?!\W*$)", clause) is not None

    def by_another(self, claim: Claim) -> str | None:
        """Return the reason where the words, or the wish, are another's, and the fact does not say whose."""
        if re.match(rf"(?:(?:y|and|que|that) )?(?:{self.language.guards['third']})(?!\w)", self.quote):
            return "is said of somebody else"
        if self._of_another(claim.text):
            return "is said of somebody else"
        paragraph = self.message.rfind("\n", 0, self.start) + 1
        for kind, more, end in (
            ("speaks", "", self.end),
            ("cites", r"(?!\w)[^:.!?\n]{0,40}:", self.end),
            ("hangs", r"\W{0,3}\Z", self.start),
        ):
            before = self.message[paragraph:end]
            for found in _pattern(kind, more).finditer(before):
                if paragraph + found.end() <= self.start + 1 and not self._own_again(found, before):
                    who = before[max(0, found.start() - _LONGEST_PLACE) : found.end()]
                    if not _pattern("experts", r"(?!\w)").search(who) and not _names(claim.text, who):
                        return "is another's words"
        wish = _pattern("wants").search(self.message[self.sentence_start() : self.end])
        if wish is not None:
            at = self.sentence_start() + wish.start()
            if not _names(claim.text, self.message[max(0, at - _LONGEST_PLACE) : at]):
                return "is another's wish"
        after = self.message[self.end :]
        if re.match(
            r"[\"']?,? (?:(?:said|says|asked) (?!i\b)\w+|(?!i\b|we\b|nobody\b|every)\w+ (?:said|says|asked|wrote)\b)",
            after,
        ):
            return "is another's words"
        return None

    def _of_another(self, fact: str) -> bool:
        """Tell whether the clause begins with somebody whom the fact leaves out, without the speaker in it."""
        clause = self.message[self._clause_start() : self.end]
        language = self.language
        found = re.match(rf"\W*(?:\w+ )??(?P<who>{_people(language)})(?!\w)", clause) or re.match(
            rf"\W*(?P<who>[^\W\d_]+) (?:{language.guards['third']})(?!\w)", clause
        )
        if found is None or not language.selves.isdisjoint(_words(clause[: found.start("who")])):
            return False  # "אני בת 52"
        theirs = re.sub(r"^ שלי|^ שלנו", "", clause[found.end("who") :])  # "השכן שלי"
        if self._first_person(theirs):
            return False
        role = _roles(language).get(found["who"]) or _roles(language).get(found["who"].removesuffix("s"))
        if role is None and not re.search(rf"(?<!\w){found['who'].capitalize()}(?!\w)", self.written):
            return False
        told = f" {' '.join(_words(fact))} ".replace("'s ", " ")
        roles = {phrase for each in LANGUAGES for phrase, meant in _roles(each).items() if meant == role}
        named = any(f" {phrase} " in told for phrase in roles) or _names(fact, found["who"])
        following = [word.capitalize() for word in _words(clause[found.end("who") :])[:2]]  # "my eldest, Ella, is 17"
        named |= any(word[:1].isupper() and word in fact and word in self.written for word in following)
        if role in SERVING and found["who"] in self.quote:
            return False  # "the landlord put the rent up to 1,100"
        return not named and (role is not None or not is_known(found["who"], language))

    def _first_person(self, said: str) -> bool:
        language = self.language
        begun = re.split(rf"(?<!\w)(?:{language.guards['that']}|{'|'.join(language.joins)})(?!\w)", said)
        own = language.selves | language.objects | language.possessives
        named = any(word.partition("'")[0] in own or _bare(word) in language.selves for word in _words(said))
        return named or any(re.fullmatch(language.first_person, words[0]) for part in begun if (words := _words(part)))

    def _own_again(self, found: re.Match[str], before: str) -> bool:
        """Tell whether the person speaks for themselves again: "…, but I", in a sentence that cites
        nobody with a colon.
        """
        rest = before[found.end() :]
        if _SENTENCE_END.search(rest) and not found.group().rstrip().endswith((":", "like")) and ":" not in rest[:2]:
            return True
        return re.search(r"(?<!\w)(?:but (?:i|we|my)|pero (?:yo|a mi)|אבל אני)(?!\w)", rest) is not None

    def denied(self, fact: str) -> str | None:
        """Return the reason where the clause of the quote denies something that the fact does not, or denies a denial."""
        nearest = max(self._clauses(), key=lambda clause: len(_stems(clause) & _stems(fact)), default="")
        clause = re.sub(rf"(?<!\w)(?:{self.language.guards['denies_not']})", " ", nearest)
        if re.search(r"(?<!\w)(?:not that|no es que|לא ש)(?!\w)", clause):
            return "denies a denial"
        after = re.match(r" (?:no|not|לא)(?=[,.;!]|$)", self.message[self.end :])  # "alergias no, gracias"
        if after or (_denials(clause, self.language) and not _says_denial(fact, clause, self.language)):
            return "leaves out that it is not so"
        if re.search(rf"(?<!\w)(?:{self.language.guards['unreal']})(?!\w)", clause) and not _found("unreal_told", fact):
            return "leaves out that it is only wished"
        return None

    def _clauses(self) -> list[str]:
        # Not what follows: "we're in Leeds now, not Manchester" denies nothing of Leeds.
        told = self.message[self._clause_start() : self.end]
        return [part for part in re.split(_clause_border(self.language), told) if part.strip()]

    def _clause_start(self) -> int:
        return max((end for end in _clause_ends(self.message[: self.start], self.language)), default=0)

    def sentence_start(self) -> int:
        return max((found.end() for found in _SENTENCE_END.finditer(self.message[: self.start])), default=0)


def _taken_back(claim: Claim, said: _Said, following: str) -> str | None:
    """Return the reason where the same breath, or the next message, takes back the value that the claim holds."""
    is_short = len(following.split()) <= _LONGEST_CORRECTION
    if _found("jokes", said.message[said.end :]) or (is_short and _found("jokes", following)):
        return "was taken back"
    text, following = said.message, _flat(following)
    if claim.about_speaker and is_short and _found("not_me", following):
        return "is about somebody else"
    if _is_correction(following) or _contrast(following):
        if any(_same(word, held) for word in _contrast(following) for held in _words(claim.text)):
            return "was corrected"
        text = f"{text}\n{following}"
    capitals = {
        _flat(word) for word in re.findall(r"\w++", f"{said.written} {following}") if any(map(str.isupper, word))
    }
    for found in _correcting().finditer(text):
        if found.end() <= said.start or _pattern("idle").match(text, found.start()):
            continue
        old, new = text[: found.start()], _replacement(text, found)
        gone = [] if _pattern("idle").match(new) else _given_up(old, new, capitals)
        if gone and any(_same(word, held) for word in gone for held in _words(claim.text)):
            return "was corrected"
    return None


def _replacement(text: str, found: re.Match[str]) -> str:
    """Return the words that a correcting word puts in place of others: those after it, or before it at
    a sentence's end.
    """
    ended = _SENTENCE_END.search(text, found.end())
    after = text[found.end() : ended.start() if ended else len(text)].strip(" ,:;-")
    if after:
        return after
    before = text[: found.start()]
    start = max((end.end() for end in _CLAUSE_END.finditer(before)), default=0)
    return before[start:].strip(" ,")


def _given_up(old: str, new: str, capitals: set[str]) -> list[str]:
    """Return the values of `old` that `new` stands for: its last number, its last name, or else its last word."""
    told = _words(new)
    if not told or len(told) > _LONGEST_CORRECTION:
        return []
    start = max((end.end() for end in list(_SENTENCE_END.finditer(old.rstrip(" .!?…\n")))[-1:]), default=0)
    before = [word for word in _words(old[start:].removesuffix(new)) if word not in _IDLE] or _words(old)
    gone = []
    for is_one in (_is_number, capitals.__contains__):
        ours, theirs = [word for word in told if is_one(word)], [word for word in before if is_one(word)]
        if ours and theirs:
            gone += [theirs[-1]]
    if not gone and len([word for word in told if word not in _IDLE]) <= _LONGEST_BARE_CORRECTION and before:
        gone = [before[-1]]
    return [word for word in gone if not any(_same(word, each) for each in told)]


def _contrast(message: str) -> list[str]:
    """Return the names that a short message denies: the "Levi" of "It's not Levi, it's Cohen"."""
    said = _flat(message)
    if len(said.split()) > _LONGEST_CORRECTION:
        return []
    found = re.match(
        r"(?:no,? )?(?:it'?s |he'?s |she'?s |that'?s |is |i'?m )?(?:not|no es|no soy|no|לא) ([^\W\d_]+|\d+)[,.;]? (?:it'?s |but |es |soy |sino |אלא )?\w",
        said,
    )
    turned = re.fullmatch(r"[^\W_]++,? (?:not|y no|ולא) ([^\W_]++)[.!]*+", said)  # "7 not 6"
    return [each[1] for each in (found, turned) if each]


def _is_correction(message: str) -> bool:
    """Tell whether the message is short, and begins or ends as a correction does."""
    said = _flat(message).strip()
    if not said or len(said.split()) > _LONGEST_CORRECTION + 2:
        return False
    found = list(_correcting().finditer(said))
    return bool(found) and (found[0].start() == 0 or not said[found[-1].end() :].strip(" .!?"))


@cache
def _correcting() -> re.Pattern[str]:
    words = "|".join(each.guards["corrects"] for each in LANGUAGES)
    return re.compile(rf"(?:^|(?<=\n))\*(?=\w)|(?<!\w)(?:{words})(?!\w)")


def _refuses_last(following: str) -> bool:
    return asks_not_to_keep(following) and len(following.split()) <= _LONGEST_CORRECTION


def _unsaid(fact: str, said: _Said, heard: str, said_on: date) -> str | None:
    """Return the reason where the fact holds a number or a name that nobody said.

    A day may be counted from when it was said, where a time was named.
    """
    evidence = f"{said.message[said.sentence_start() : _sentence_end(said.message, said.end)]} {_flat(heard)}"
    stated = _numbers(evidence)
    dated = _names_time(evidence)
    bare = _flat(fact).replace(said_on.isoformat(), " ")
    for found in _NUMBER.finditer(bare):
        if not (_one_number(found.group()) & stated) and not (dated and _of_a_date(bare, found, said_on, evidence)):
            return "holds a number that was not said"
    if any(counted > 1 and counted not in stated for counted in _counted(_NUMBER.sub(" ", bare))):
        return "holds a number that was not said"
    told = [*_words(said.message), *_words(_flat(heard))]
    for name in _WORD.findall(fact)[1:]:
        bare = _flat(name).removesuffix("'s")
        if name[:1].isupper() and not _is_calendar(bare) and not any(_alike(bare, word) for word in told):
            return "holds a name that was not said"
    return None


def _of_a_date(fact: str, found: re.Match[str], said_on: date, evidence: str) -> bool:
    """Tell whether it is a year, a number beside a month, or a part of a written date."""
    around = (
        _words(fact[max(0, found.start() - 12) : found.start()])[-2:] + _words(fact[found.end() : found.end() + 14])[:2]
    )
    written = found.group()
    if any(mark in written for mark in ",:"):
        return False
    if len(written) == len("2026"):
        year = int(written) - said_on.year
        return year in _YEARS_NEAR or (year < 0 and _pattern("since", r"(?!\w)").search(evidence) is not None)
    if re.search(r"\d-$", fact[: found.start()]) or re.match(r"-\d", fact[found.end() :]):
        return True
    return len(written) <= 2 and any(_is_month(word) for word in around)


@cache
def _times() -> frozenset[str]:
    """Return the words of a time that a day is counted by."""
    named = {word for each in LANGUAGES for cells in each.times.values() for cell in cells for word in cell}
    return frozenset(named | {name for each in LANGUAGES for name in (*each.months, *each.weekdays)}) - _IDLE - {"from"}


def _names_time(text: str) -> bool:
    told = _words(text)
    return (
        any(word in _times() or _bare(word) in _times() for word in told)
        or _pattern("when", r"(?!\w)").search(text) is not None
        or re.search(r"\d[/.-]\d|\d(?:st|nd|rd|th)\b|\b(?:el|del) \d|ב-?\d", text) is not None
    )


def _is_month(word: str) -> bool:
    return any(word in each.months or _bare(word) in each.months for each in LANGUAGES)


def _is_calendar(word: str) -> bool:
    return _is_month(word) or any(
        word in each.weekdays or word.removesuffix("s") in each.weekdays for each in LANGUAGES
    )


def _bare(word: str) -> str:
    """Return the word without the letter that Hebrew writes onto it."""
    return word[1:] if "א" <= word[:1] <= "ת" and word[0] in "בהולמשכ" and len(word) > 3 else word


def _numbers(text: str) -> set[float]:
    found: set[float] = set()
    for written in _NUMBER.findall(text):
        found |= _one_number(written)
    return found | set(_counted(text))


def _counted(text: str) -> Iterator[float]:
    """Give the numbers that are said in words: 42 of "forty-two", and not 40 and 2."""
    told = [part for word in _COUNTING.findall(text) for part in word.split("-")]
    at = 0
    while at < len(told):
        counted = number(told[at:]) or number([_bare(told[at]), *told[at + 1 : at + 8]])
        at += counted[1] if counted else 1
        if counted:
            yield counted[0]


def _one_number(written: str) -> set[float]:
    """Return the numbers that may be meant: by "1,5" and "5,000", and the parts of "07:30" and "3.5"."""
    forms = {written.replace(",", ""), written.replace(",", "."), *re.split(r"[.,:]", written)} if written else set()
    return {float(each) for each in forms if each.count(".") <= 1 and each.replace(".", "").isdigit()}


def _number_word(word: str) -> int | None:
    return _number_words().get(word, _number_words().get(_bare(word)))


@cache
def _number_words() -> dict[str, int]:
    return {word: meant for each in reversed(LANGUAGES) for word, meant in each.numbers.items()}


def _is_number(word: str) -> bool:
    return word[:1].isdigit() or (_number_word(word) or 0) > 1


def _denials(clause: str, language: Language) -> set[str]:
    joined = "ו?" if language.name == "he" else ""
    return set(re.findall(rf"(?<!\w){joined}(?:{language.guards['denies']})(?!\w)", clause))


def _says_denial(fact: str, clause: str, spoken: Language) -> bool:
    """Tell whether a fact has a word of denial, or one that its clause lacks: "avoids meat" of "I don't eat meat"; but
    not "quit smoking" of "I failed to quit smoking".
    """
    told, language = _flat(fact), language_of(_flat(fact), fact)
    if ours := _denials(told, language) | _denials(told, spoken):
        own = re.split(rf"(?<!\w)(?:{'|'.join(spoken.selves)})(?!\w)", clause)[-1]
        return not ours < _denials(own, spoken)
    held = _stems(clause)
    return any(
        found.group()[:_STEM] not in held or " " in found.group()
        for each in (language, language_of(clause, clause))
        for found in re.finditer(rf"(?<!\w)(?:{each.guards['denying']})(?!\w)", told)
    )


def _clause_ends(text: str, language: Language) -> list[int]:
    return [found.end() for found in re.finditer(_clause_border(language), text)]


@cache
def _roles(language: Language) -> dict[str, str]:
    """Return the role of each phrase that names somebody; in Hebrew also with "the" written onto it."""
    serving = {phrase: meant for phrase, meant in language.attributes.items() if meant in SERVING}
    found = {" ".join(phrase): role for phrase, role in {**language.people, **serving}.items()}
    return found | ({f"ה{phrase}": role for phrase, role in found.items()} if language.name == "he" else {})


@cache
def _people(language: Language) -> str:
    plural = "" if language.name == "he" else "s?"
    return "|".join(f"{re.escape(role)}{plural}" for role in sorted(_roles(language), key=len, reverse=True))


@cache
def _clause_border(language: Language) -> str:
    joins = "|".join(sorted(map(re.escape, language.joins - {"que", "q", "ya", "as", "ו"}), key=len, reverse=True))
    hebrew = r"|\s(?=ו(?:אני|אנחנו|הוא|היא|גם|לא|אין|יש)(?!\w))" if language.name == "he" else ""
    return rf"{_CLAUSE_END.pattern}|(?<!\w)(?:{joins})(?!\w){hebrew}"


def _sentence_end(text: str, at: int) -> int:
    found = _SENTENCE_END.search(text, at)
    return found.start() if found else len(text)


def _names(fact: str, who: str) -> bool:
    """Tell whether the fact says of whom it is."""
    return any(
        _same(word, held) for word in _words(who) if len(word) > 2 and word not in _IDLE for held in _words(fact)
    )


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _words(text) if word not in _IDLE}


def _same(one: str, other: str) -> bool:
    if _is_number(one) or _is_number(other):
        return bool(_numbers(one) & _numbers(other))
    return (
        one == other
        or (min(len(one), len(other)) >= _STEM and one[:_STEM] == other[:_STEM])
        or _bare(one) == _bare(other)
        or (is_hebrew(one) and one[:-1] == other[:-1] and {one[-1], other[-1]} <= set("יוהך"))  # "אשתי", "אשתו"
    )


def _alike(name: str, word: str) -> bool:
    """Tell whether the two are the same name, but for how it is typed."""
    if (
        name == word
        or _bare(name) == _bare(word)
        or word.startswith(name)
        or (name.startswith(word) and len(word) >= _STEM)
    ):
        return True
    return len(name) >= _STEM and SequenceMatcher(None, name, word).ratio() >= _ALIKE


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['\"][^\W_]+)*", _flat(text))


def _found(kind: str, message: str) -> re.Match[str] | None:
    return _pattern(kind).search(_flat(message))


@cache
def _pattern(kind: str, more: str = "") -> re.Pattern[str]:
    """Return a pattern of the words of one kind of every language: people mix them."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(each.guards[kind] for each in LANGUAGES)}){more}")


def _flat(text: str) -> str:
    """Return the text in plain letters, with one kind of space and nothing that no screen shows."""
    shown = "".join(letter for letter in plain(text) if unicodedata.category(letter) != "Cf")
    return re.sub(r"[^\S\n]+", " ", shown)
