"""Negation and modality of a fact in its sentence: denied, asked, wished, retold or plainly stated by its clause.

A plain statement is a clause whose subject is the speaker, or whom the fact names, with nothing between the subject and
what is said of it, and nothing in its sentence on which it hangs. No list of what deceives is complete, so that all
that these rules cannot account for is a doubt.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from typing import Final

from langmem_plugin.facts.attributes import GROUPS
from langmem_plugin.facts.sentence_splitting import Sentence, Token, after_leads, begins, sentences
from langmem_plugin.facts.statement_patterns import language_of, of_another, taken_apart
from langmem_plugin.facts.value_comparison import bare, forms_of_one, is_number, numbers, words_of
from langmem_plugin.languages.language_words import Language, Phrases, words

NUMBER = re.compile(r"\d++(?:[.,:]\d++)*+(?: ?[km](?!\w))?+")  # "80k", in which no 80 is said
STEM: Final = 4  # letters by which two forms of a word are taken for one
_IT: Final = words("it|there|is|am|are|'s")
_OR: Final = words("or|nor|ni|o|או")
_THEIRS: Final = words("'s|his|her|their|su|sus")
_TO_BE: Final = words("be|ser|estar|להיות")
_BEING: Final = words("is|es|esta")
_LIKE: Final = words("as|like|como|כמו|בתור")
_OF: Final = words("of|'s|de|del|של")
_WRITTEN_ON: Final = frozenset(("'s", *"-'$€£₪%"))
_AFTER: Final = 3  # words behind the fact in which a condition may follow
_JOINED: Final = 2  # words of "me and the wife" before "and"


@dataclass(frozen=True)
class Claim:
    """A fact that somebody read in a message, and the words of that message that it is from."""

    text: str
    quote: str
    about_speaker: bool = True


class Stated:
    """A fact in the clause that tells it, from its word `at` on, behind what only leads up to it; `first` is where the
    fact's own words begin. `said` are the sentences that the quote stands in.
    """

    def __init__(self, claim: Claim, message: str) -> None:
        self.claim, self.message = claim, message
        self.language = language = language_of(message)
        self._idle = language.common | language.articles | language.selves
        start = max(message.find(claim.quote), 0)
        end = start + len(claim.quote)
        self.end = end
        self.told = [token.plain for each in sentences(claim.text, language) for token in each.tokens]
        quoted = [
            Sentence(taken_apart(each.tokens, language), each.asked)
            for each in sentences(message, language)
            if each.tokens[0].start < end and start < each.tokens[-1].end
        ]
        self.said = message[quoted[0].tokens[0].start : quoted[-1].tokens[-1].end] if quoted else ""
        sentence = max(quoted, key=lambda each: self._shared(each.tokens), default=Sentence((), asked=False))
        self.tokens, self.asked = sentence.tokens, sentence.asked
        clauses = self._clauses()
        within = [each for each in clauses if each[0].start < end and start < each[-1].end]
        self.clause: Sequence[Token] = max(within, key=self._shared, default=())
        self.begun = self.tokens.index(self.clause[0]) if self.clause else 0
        self.before = clauses[: clauses.index(self.clause)] if self.clause else []
        self.rest = list(takewhile(lambda token: token.word, (token for token in self.tokens if token.start >= end)))
        self.at = self._led(self.clause)
        own = (place for place, token in enumerate(self.clause) if self._is_told(token))
        self.first = max(next(own, len(self.clause)), self.at)

    def _shared(self, tokens: Sequence[Token]) -> int:
        return sum(map(self._is_told, tokens))

    def _is_told(self, token: Token) -> bool:
        return token.word and token.plain not in self._idle and any(same(token.plain, held) for held in self.told)

    def _clauses(self) -> list[Sequence[Token]]:
        found: list[list[Token]] = [[]]
        joins = self.language.joins - self.language.whether
        for token in self.tokens:
            if token.plain in joins or not (token.word or token.plain in _WRITTEN_ON):
                found.append([])
            else:
                found[-1].append(token)
        return [each for each in found if each]

    def _led(self, clause: Sequence[Token]) -> int:
        """Return the place behind what only leads up to a statement: "ok so", "never", "the", "it is"."""
        language = self.language
        idle = language.fillers | language.negations | language.articles - language.possessives | _IT
        at = after_leads(clause, 0, language)
        while at < len(clause) and clause[at].plain in idle:
            at = after_leads(clause, at + 1, language)
        return at

    def is_denied(self) -> bool:
        """Tell whether the clause, up to where the quote ends, denies something that the fact does not."""
        language = self.language
        led = self.tokens[max(self.begun - 1, 0) : self.begun]
        if self.before and any(token.plain in _OR for token in led):  # "I don't have kids or pets"
            led = (*self.before[-1], *led)
        said = " ".join(token.plain for token in (*led, *self.clause) if token.start < self.end)
        clause = re.sub(rf"(?<!\w)(?:{language.guards['denies_not']})", " ", said)
        if [token.plain for token in self.rest] in (["no"], ["not"], ["לא"]):  # "alergias no, gracias"
            return True
        if not _denials(clause, language):
            return False
        told = " ".join(self.told)
        theirs = language_of(told)
        if ours := _denials(told, theirs) | _denials(told, language):
            own = re.split(rf"(?<!\w)(?:{'|'.join(language.selves)})(?!\w)", clause)[-1]
            return ours < _denials(own, language)  # "quit smoking" of "I failed to quit smoking"
        held = {word[:STEM] for word in words_of(clause)}
        denying = (
            found.group()
            for each in (theirs, language)
            for found in re.finditer(rf"(?<!\w)(?:{each.guards['denying']})(?!\w)", told)
        )  # "avoids meat" of "I don't eat meat"
        return not any(word[:STEM] not in held or " " in word for word in denying)

    def is_asked(self) -> bool:
        return self.asked and (self.tokens[-1:] == tuple(self.rest[-1:]) or self.tokens[-1].start < self.end)

    def hangs(self) -> bool:
        """Tell whether a condition, a time to come, irony or a comparison stands with the fact but not in it."""
        language, told = self.language, " ".join(self.told)
        for part in (self.tokens[: self.begun + len(self.clause)], self.rest[:_AFTER]):
            found = self._search("hinges", part)
            if found is not None and found not in told:
                return True
        idle = language.articles - _LIKE - _OF | language.possessives
        led = [token.plain for token in self.tokens[: self.begun + self.first] if token.plain not in idle]
        if (
            led
            and led[-1] in _LIKE
            and not (language.negations | language.selves | language.fillers).isdisjoint(led[-2:-1])
        ):
            led = []  # "I like", "no como"
        if led and (led[-1] in _LIKE or (led[-1] in _OF and not self.claim.about_speaker)):
            return True
        around = {token.plain for token in self.clause[max(self.first - 1, 0) : self.first + 2]}
        if not self.claim.about_speaker and around & _THEIRS and not _THEIRS & set(self.told):
            return True  # "my son's doctor", "his wife"
        if self._search("nested", self.clause[self.at + 1 : self.first + 1]) is not None and self.claim.about_speaker:
            return True  # "I was close to buying …"
        clause = self.clause[: self.first + 1 if self.claim.about_speaker else None]
        hanging = (at for at, token in enumerate(clause) if token.plain not in self.told)
        hung = any(begins(clause, at, each) for at in hanging for each in (language.conditional, language.reported))
        return hung and self._search("tells", clause) is None

    def counts_another(self) -> bool:
        """Tell whether the fact holds the number of another clause: "Son is 9" of "my son is 6 and my daughter is 9"."""
        told, own = numbers(" ".join(self.told)), set(self.clause)
        if not told:
            return False
        said = numbers(" ".join(each.plain for each in own))
        others = numbers(" ".join(each.plain for each in self.tokens if each not in own))
        return bool((told & others) - said and said - told)

    def is_dictated(self) -> bool:
        """Tell whether the clause stands behind a colon and what asks for a text: "write me a bio: I'm Laura"."""
        colons = (place for place in range(self.begun) if self.tokens[place].plain == ":")
        colon = self.tokens[max(colons, default=0)].start
        label = next((each for each in reversed(self.before) if each[-1].end <= colon), ())
        begun, language = self._led(label), self.language
        if begun >= len(label) or self._search("placed", label, at_start=True):
            return False
        said = [token.plain for token in label[begun:]]
        people = {word for phrase in language.people for word in phrase}
        owned = said[0] in language.possessives
        known = said[0] in language.selves or begins(label, begun + owned, _nouns(language)[0])
        titled = not language.own_labels.isdisjoint(said[owned : owned + 1] if owned else said)
        return not (known or titled) or not (language.objects | people).isdisjoint(said)

    def is_own(self) -> bool:
        """Tell whether the clause is about the speaker: they are its subject or a part of it, or it has none."""
        language = self.language
        led = after_leads(self.clause, 0, language)
        if self.clause[led].plain in of_another(language):
            return False
        if self.at == self.first or self.clause[self.at].plain in language.events | language.implied:  # "got …"
            known = [each for each in self.before if self._led(each) < len(each)]
            if not known or any(self._is_first(token) for each in known for token in each):
                return True
        before = self.before[-1] if self.before else ()
        joined = 0 < len(before) - after_leads(before, 0, language) <= _JOINED and any(map(self._is_first, before))
        return (
            joined
            or self._is_subject()
            or self._is_request()
            or self._search("tells", self.clause[: self.first]) is not None
        )

    def _is_subject(self) -> bool:
        language, clause, at = self.language, self.clause, self.at
        owned = clause[at + 1 : at + 4] if language.possessive_after else clause[at : at + 1]
        if any(token.plain in language.possessives for token in owned):
            noun = at + (clause[at].plain in language.possessives)
            return bool(begins(clause, noun, _nouns(language)[1])) or self._shared(clause[noun : noun + 1]) > 0
        pronoun = not at or clause[at - 1].plain not in language.articles  # "el médico" ends like a verb
        if pronoun and any(map(self._is_first, clause[at : at + 1 + (language.name == "he")])):
            return True
        return self._is_placed() and any(map(self._is_first, clause[at + 1 :]))

    def _is_placed(self) -> bool:
        """Tell whether the clause begins with a time or a place: "since the move I …"."""
        led = [token for token in self.tokens[max(self.begun - 1, 0) : self.begun] if token.word]
        return any(self._search("placed", [*before, *self.clause], at_start=True) is not None for before in ([], led))

    def _is_first(self, token: Token) -> bool:
        """Recognise the first person by a pronoun or by the verb's ending."""
        language = self.language
        word = token.plain.removeprefix("ש") if language.name == "he" else token.plain
        verb = re.fullmatch(language.first_person, word) is not None and (word,) not in language.people
        return (
            word in language.selves | language.objects | language.possessives
            or verb
            or (language.name == "es" and token.written[-1:] in "éí")
        )

    def is_embedded(self) -> bool:
        """Tell whether another clause stands around what the fact says: "my phone thinks I live in Rome"."""
        begin = self.at
        if self._is_request():
            return False
        if self._is_placed():
            own = (at for at in range(self.at, self.first) if self._is_first(self.clause[at]))
            begin = next((at for at in own if not self._begins_inner(self.clause[at])), self.at)
        for place in range(begin + 1, min(self.first + 1, len(self.clause))):
            token = self.clause[place]
            if self._begins_inner(token) or token.plain in self.language.whether | self.language.selves:
                return self._search("tells", self.clause[self.at : place]) is None
        return False

    def _is_request(self) -> bool:
        """Tell whether a request runs into the statement: "find me a place I'm vegan", but not "tell them I'm vegan"."""
        language = self.language
        asks = language.asks - language.sending - language.composing
        said = [token.plain for token in self.clause[self.at : self.first]]
        told = said[1:2] != [] and (said[1] in self.language.whether or self._begins_inner(self.clause[self.at + 1]))
        return said[:1] != [] and said[0] in asks and not told and _LIKE.isdisjoint(said)

    def _begins_inner(self, token: Token) -> bool:
        """Tell whether a Hebrew word has "that" written onto it."""
        language = self.language
        if language.name != "he" or token.plain[:1] != "ש":
            return False
        return token.plain[1:] in language.common | language.selves | language.objects

    def is_told_as_less(self) -> bool:
        """Tell whether the fact holds as present or done what the clause tells as past, to come, or aimed at."""
        clause = self.clause[self.at :] if self.told else ()
        for place, token in enumerate(clause):
            told = same(token.plain, self.told[0]) or (token.plain in _TO_BE and self.told[0] in _BEING)
            aimed = told and self._search("aims", clause[: place + 1], at_end=True)
            past = re.fullmatch(self.language.guards["unheld"], token.written.casefold())
            perfect = place > 0 and clause[place - 1].plain in self.language.fillers
            if aimed or (past and not perfect and self._is_retold(token.plain)):
                return True
        return False

    def _is_retold(self, verb: str) -> bool:
        """Tell whether the fact has another form of the verb: "works" of "worked"."""
        if verb in self.told:
            return False
        if self.language.name == "he":
            root = re.sub(r"(?:תי|נו)$", "", verb)
            bare = {re.sub(r"^(\w)ו", r"\1", held) for held in self.told if len(root) <= 2 or held[1:2] == "ו"}
            return not bare.isdisjoint({root, f"{root}ה", f"{root}ים", f"{root}ת"})
        return any(
            f"{verb} {held}" in self.language.pasts or (len(held) > 2 and same(verb, held)) for held in self.told
        )

    def _search(
        self, kind: str, tokens: Sequence[Token], *, at_start: bool = False, at_end: bool = False
    ) -> str | None:
        """Return the words of a kind among the tokens."""
        said = " ".join(token.plain for token in tokens)
        pattern = rf"(?<!\w)(?:{self.language.guards[kind]})" + (r"\Z" if at_end else r"(?!\w)")
        found = re.match(pattern, said) if at_start else re.search(pattern, said)
        return found and found.group()


@cache
def _nouns(language: Language) -> tuple[Phrases, Phrases]:
    """Return the nouns of what people have, and those of them that are nobody who serves them."""
    told = language.attributes
    return Phrases(told), Phrases(phrase for phrase, meant in told.items() if meant not in GROUPS["serving"])


def _denials(clause: str, language: Language) -> set[str]:
    joined = "ו?" if language.name == "he" else ""
    return set(re.findall(rf"(?<!\w){joined}(?:{language.guards['denies']})(?!\w)", clause))


def same(one: str, other: str) -> bool:
    """Tell whether the two are forms of one word, or one number."""
    if one == other:
        return True
    if is_number(one) or is_number(other):
        return bool(numbers(one) & numbers(other))
    alike = min(len(one), len(other)) >= STEM and one[:STEM] == other[:STEM]
    return alike or forms_of_one(bare(one), bare(other))
