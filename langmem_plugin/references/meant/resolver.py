"""What is meant: the phrases of an utterance against the ledger of what was shown. Pure and deterministic."""

from dataclasses import replace

from langmem_plugin.references.meant.choosing import Closeness, choices
from langmem_plugin.references.meant.meaning import Decision, Meaning
from langmem_plugin.references.meant.pointing import Pointed
from langmem_plugin.references.meant.selecting import SELECTING, Selecting
from langmem_plugin.references.said.clauses import thing_like, timely
from langmem_plugin.references.said.cursor import marks_before
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.shown.items import long_part
from langmem_plugin.references.shown.ledger import Ledger

_NEAR_FOCUS = 4
_AN_END = 2_000  # letters; reading them takes a tenth of a second at the very most


def pointing_part(utterance: str) -> str:
    """What is read of an utterance: of a very long one its beginning and its end, where people say what they want."""
    return utterance if len(utterance) <= 2 * _AN_END else f"{utterance[:_AN_END]}\n{utterance[-_AN_END:]}"


def decide(utterance: str, ledger: Ledger, closeness: Closeness | None = None) -> Decision:
    """What the utterance points at in the ledger, which has settled all results before it."""
    if not ledger.shown_lists or not utterance.strip():
        return Decision()
    return _Resolver(utterance, ledger, closeness).decide()


class _Resolver(Selecting):
    def decide(self) -> Decision:
        """Phrases that pick by themselves first, then answers to a choice, names, and at last pointing words."""
        if self._wants_another():
            self.decision.rejected = True
        elif not self._pick():
            self._find()
        return self.decision

    def _wants_another(self) -> bool:
        kinds = {phrase.kind for phrase in self.phrases}
        return "another" in kinds and not kinds & {"numbers", "all_but"}

    def _pick(self) -> bool:
        """Whether a number, order, group or comparison settled it, also by picking nothing."""
        explicit = [phrase for phrase in self.phrases if phrase.kind in SELECTING]
        if any(phrase.kind == "numbers" for phrase in explicit):
            explicit = [phrase for phrase in explicit if phrase.kind != "both"]  # "both work, go with the first"
        for said in explicit:
            phrase = said
            if said.kind == "numbers" and said.negated and len(said.numbers) > 1 and "," in self.words(said):
                phrase = replace(said, numbers=said.numbers[1:], negated=False)  # "not 2, 3"
            meaning = self.selected(phrase)
            if meaning is not None and meaning.entries:
                self._take(self.turned_down(meaning) if phrase.negated else meaning)
        return bool(self.decision.meanings) or any(
            phrase.kind in ("numbers", "neither", "all_but") for phrase in explicit
        )

    def _take(self, meaning: Meaning | None) -> None:
        """Keep a meaning; None stands for something turned down."""
        if meaning is None:
            self.decision.rejected = True
        else:
            self.decision.meanings.append(meaning)

    def _find(self) -> None:
        """What is named, described or pointed at."""
        choice = self.by_choice()
        if choice is not None:
            self._take(choice)
            return
        declines = not self.pointing.marks and any(mark.has("not") for mark in self.marks)
        meaning = self.by_name()
        if self.decision.equal:
            return
        if declines:
            self._take(self.turned_down(meaning) if meaning is not None else None)
            return
        if meaning is not None and meaning.sort == "name":
            self._and_that(meaning)
        meaning = meaning or self._by_deixis()
        offered = choices(self.ledger)
        if (
            meaning is not None
            and offered is not None
            and meaning.sort != "name"
            and meaning.entries[0] in offered.entries
        ):
            self.decision.equal = list(offered.entries)
            return
        if meaning is None and not self.decision.equal:
            meaning = self.by_description(1.0)
        if meaning is not None:
            self._take(meaning)

    def _and_that(self, named: Meaning) -> None:
        """As in "Move 50 from that to Groceries": a pronoun after a preposition is a second item beside a
        named one.
        """
        for phrase in self.phrases:
            before = marks_before(self.marks, phrase.start, 1)
            if (
                phrase.kind in ("this", "it")
                and not phrase.nouns
                and before
                and before[0].text in ("from", "to", "with", "than", "de", "con", "a")
            ):
                meaning = self._single(phrase)
                if meaning is not None and not any(
                    entry is other for entry in meaning.entries for other in named.entries
                ):
                    self.decision.meanings.append(meaning)
                self.decision.equal = []

    def _by_deixis(self) -> Meaning | None:
        pointing = self.pointing
        singles = [
            phrase
            for phrase in self.phrases
            if phrase.kind in ("this", "it", "its", "there", "their") and not phrase.negated
        ]
        groups = [phrase for phrase in self.phrases if phrase.kind in ("these", "them") and not phrase.negated]
        for phrase in groups:
            meaning = self._plural(phrase)
            if meaning is not None:
                return meaning
        for phrase in singles:
            if phrase.kind == "there":
                place = pointing.place()
                if place is not None:
                    return self._pointed(Pointed(place, self.words(phrase), "pointing", "the place last spoken of"))
        pointed = pointing.by_part() or pointing.by_type() or pointing.by_action()
        if pointed is not None:
            return self._pointed(pointed)
        for phrase in singles:
            meaning = self._single(phrase)
            if meaning is not None or self.decision.equal:
                return meaning
        pointed = pointing.by_question() or pointing.by_agreement()
        return self._pointed(pointed) if pointed is not None else None

    def _pointed(self, pointed: Pointed) -> Meaning:
        return Meaning(
            [pointed.entry], pointed.words, pointed.reason, pointed.sort, self.view_of(pointed.entry), pointed.part
        )

    def _plural(self, phrase: Phrase) -> Meaning | None:
        if timely(phrase.nouns):
            return None
        focus = self.ledger.focus[-1] if self.ledger.focus else None
        # What was last spoken of may be a mere confirmation ("saved") of what has the part.
        for entry in self.ledger.focus[: -_NEAR_FOCUS - 1 : -1] if phrase.nouns else ():
            part = self.pointing.part_of(entry, phrase.nouns)
            if part is not None:
                return Meaning(
                    [entry],
                    self.words(phrase),
                    f"the {part} of the one last spoken of",
                    "part",
                    self.view_of(entry),
                    part,
                )
        last = self.ledger.shown_lists[-1]
        if (
            focus is not None
            and not phrase.nouns
            and not phrase.count
            and len(last.entries) == 1
            and last.entries[0] is focus
        ):
            part = long_part(focus)
            if part is not None:
                return Meaning([focus], self.words(phrase), f"the {part} of the one last shown", "part", last, part)
        view = self.group(phrase.nouns)
        if view is None or (phrase.count and phrase.count != len(view.entries)):
            return None
        return Meaning(list(view.entries), self.words(phrase), "what was last shown together", "pointing", view)

    def _single(self, phrase: Phrase) -> Meaning | None:
        if timely(phrase.nouns):
            return None
        focus = list(reversed(self.ledger.focus))
        last = self.ledger.shown_lists[-1]
        if len(last.entries) > 1 and last.collective and last.turn >= self.ledger.turn - 1:
            return Meaning(
                list(last.entries), self.words(phrase), "the list last shown, as one whole", "pointing", last
            )
        if len(last.entries) > 1 and last.kind in ("list", "all"):
            if last.collective:
                return Meaning(
                    list(last.entries), self.words(phrase), "the list last shown, as one whole", "pointing", last
                )
            if not (focus and self.ledger.turn > last.turn and any(focus[0] is entry for entry in last.entries)):
                self.decision.equal = list(last.entries)
                return None
        if focus and (phrase.explicit or thing_like(phrase.nouns)):
            return Meaning([focus[0]], self.words(phrase), "the one last spoken of", "pointing", self.view_of(focus[0]))
        return None
