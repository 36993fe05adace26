"""Finds the values that a person's message says for a tool's arguments."""

import re
from itertools import pairwise, takewhile
from typing import Any

from langmem_plugin.offline.argument_schema import PREPOSITIONS, Argument

CARRIERS = PREPOSITIONS | frozenset(
    re.findall(
        r"[a-z']+",
        """a all also am an and any anything are be but can check could did do does else find get give good got great
        had has have hello help hey hi how i i'd i'll i'm idea ideas instead is it its just let let's like list look
        looking looks make maybe me more my need next no not now ok okay one or our please put rather really same search
        see show so some something specifically sure tell thank thanks that that's the their them then there these they
        this those too us want was we were what what's when where which who will would yes you your""",
    )
)
"""Words of a request that are no part of what is asked for."""
_COMMANDS = frozenset(("add", "change", "put", "replace", "set", "switch", "try", "update", "use"))
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?")
_QUOTED = re.compile(r"[\"“”]([^\"“”]+)[\"“”]")
_POINTING = re.compile(r"\b(?:the|this|that|these|those|its|their)\s+$", re.IGNORECASE)
_WORD = re.compile(r"[^\W_][\w'’&-]*")
_BESIDE = 15  # characters between a number and the word that says what it counts


class Message:
    """A message whose words are used up: what one argument took, no other gets."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.free = text
        self.asked_for = ""
        """All that was said from the first to the last of the words left over."""

    def blank(self, words: str) -> None:
        for found in re.finditer(re.escape(words), self.text, re.IGNORECASE):
            self._take(*found.span())

    def preposition_before(self, words: str) -> str:
        """The word before, as "from" is before "that" in "from that to Savings"; "" if it is no preposition."""
        found = re.search(rf"(\w+)\s+(?:the\s+|my\s+|our\s+)?{re.escape(words)}", self.text, re.IGNORECASE)
        return found[1].lower() if found and found[1].lower() in PREPOSITIONS else ""

    def find(self, argument: Argument) -> Any:
        """The argument's value if something in the message is recognisably meant for it, else None."""
        if argument.options:
            return self._option(argument)
        if argument.type == "boolean":
            return True if re.search(rf"\b{re.escape(argument.spoken)}\b", self.free, re.IGNORECASE) else None
        if argument.type in ("number", "integer"):
            return self._number(argument)
        if argument.shape:
            found = argument.shape.search(self.free)
            return self._take(*found.span()) if found else None
        return self._after_preposition(argument) if argument.preposition and argument.is_free_text else None

    def left_over(self, tool: str) -> list[str]:
        """What is asked for: a quotation, else the words that carry no request and are not the tool's own name.

        In pieces, where the message counts them up: "milk, eggs and bread".
        """
        quoted = _QUOTED.search(self.free)
        if quoted:
            self._take(*quoted.span())
            self.asked_for = quoted[1]
            return [quoted[1]]
        own = {part.removesuffix("s") for part in tool.lower().split("_")}
        # "to the shopping list" says where and not what, for a tool with "list" in its name.
        where = rf"\b(?:to|on|onto|in|into)\s+(?:the|my|our)\s+(?:\w+\s+){{0,2}}(?:{'|'.join(own)})s?\b"
        for found in re.finditer(where, self.free, re.IGNORECASE):
            self._take(*found.span())
        words = [
            word
            for word in _WORD.finditer(self.free)
            if word.group().lower() not in CARRIERS and word.group().lower().removesuffix("s") not in own
        ]
        if words and words[0].group().lower() in _COMMANDS:
            words = words[1:]
        pieces: list[list[str]] = [[word.group()] for word in words[:1]]
        for before, word in pairwise(words):
            if re.search(r",|\band\b", self.free[before.end() : word.start()]):
                pieces.append([])
            pieces[-1].append(word.group())
        if words:
            start, end = words[0].start(), words[-1].end()
            whole = self.free[start:end] == self.text[start:end]
            self.asked_for = " ".join((self.free[start:end] if whole else self._behind(words)).split())
            self._take(start, end)
        return [" ".join(piece) for piece in pieces]

    def _behind(self, words: list[re.Match[str]]) -> str:
        """Of words that others were taken from between, those behind: "the one on Friday for blue" gets blue."""
        gaps = [
            word.start()
            for before, word in pairwise(words)
            if self.free[before.end() : word.start()] != self.text[before.end() : word.start()]
        ]
        return self.free[gaps[-1] : words[-1].end()]

    def points_at(self, words: str) -> bool:
        """Whether the words are something known already ("the ingredients") and not a value of their own."""
        place = self.text.find(words)
        return bool(_POINTING.search(self.text[: max(place, 0)]))

    def _option(self, argument: Argument) -> Any:
        """The longest allowed value that is said."""
        for option in sorted(argument.options, key=lambda option: -len(str(option))):
            spoken = re.escape(str(option)).replace("_", "[ _-]")
            found = re.search(rf"(?<!\w){spoken}(?!\w)(?:['’]s\b)?", self.free, re.IGNORECASE)
            if found:
                self._take(*found.span())
                return option
        return None

    def _number(self, argument: Argument) -> float | None:
        """Any number for a required argument; for an optional one only a number beside a word of its name."""
        named = "|".join(re.escape(part) for part in argument.name.split("_") if part not in PREPOSITIONS)
        for found in _NUMBER.finditer(self.free):
            beside = self.text[max(0, found.start() - _BESIDE) : found.end() + _BESIDE]
            if argument.required or re.search(rf"\b(?:{named})", beside, re.IGNORECASE):
                value = float(self._take(*found.span()).replace(",", ""))
                return int(value) if value.is_integer() else value
        return None

    def _after_preposition(self, argument: Argument) -> str | None:
        """What stands after "from" for `from_city`, up to the next preposition."""
        start = re.search(rf"\b{argument.preposition}\s+", self.free, re.IGNORECASE)
        if not start:
            return None
        words = _WORD.finditer(self.free, start.end())
        phrase = list(takewhile(lambda word: word.group().lower() not in PREPOSITIONS | {"and"}, words))
        phrase = [word for word in phrase if word.group().lower() not in CARRIERS]
        return self._take(phrase[0].start(), phrase[-1].end()) if phrase else None

    def _take(self, start: int, end: int) -> str:
        self.free = self.free[:start] + " " * (end - start) + self.free[end:]
        return self.text[start:end]
