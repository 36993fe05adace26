"""The arguments of a tool by its JSON schema, filled from the items meant, the message and the call before."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from typing import Any

from langmem_plugin.cached_property import cached_property
from langmem_plugin.offline.english import WORDS, pattern
from langmem_plugin.references import Reference
from langmem_plugin.references.shown.lists_in_tool_results import reads
from langmem_plugin.references.shown.result_as_text import is_id, title_of

Json = dict[str, Any]

PREPOSITIONS = frozenset(WORDS["prepositions"].split())
_SHAPES = {
    "email": re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++\.[\w.-]+"),
    "url": re.compile(r"https?://\S+"),
    "date": re.compile(r"\b\d{4}-\d{2}-\d{2}\b"),
    "time": re.compile(r"\b\d{1,2}:\d{2}\b"),
}
_TYPES: dict[str, Any] = {"string": str, "number": (int, float), "integer": int, "boolean": bool, "object": dict}
_COMMANDS = frozenset(WORDS["commands"].split())
_WITHIN = frozenset(("of", "with", "in", "on", "without"))
"""The prepositions that names of things hold: "tin of beans", "pasta with clams"."""
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?")
_QUOTED = re.compile(r"[\"“”]([^\"“”]+)[\"“”]")
_WORD = re.compile(r"[^\W_][\w'’&-]*")
_BESIDE = 15  # characters between a number and the word that says what it counts


@dataclass(frozen=True)
class Argument:
    """An argument of a tool. `schema` is the property's; `required` stands beside the properties, and comes apart."""

    name: str
    schema: Json
    required: bool

    @cached_property
    def type(self) -> str:
        return str(self._variant.get("type", "string"))

    @cached_property
    def options(self) -> list[Any]:
        """The values allowed; empty if any value is."""
        return list(self._variant.get("enum", ())) or [self._variant[key] for key in ("const",) if key in self._variant]

    @cached_property
    def shape(self) -> re.Pattern[str] | None:
        """The pattern of a value, for texts with a known form: an address, a link, a date, a time."""
        names = (self.schema.get("format"), *self.name.split("_")) if self.type == "string" else ()
        return next((pattern for shape, pattern in _SHAPES.items() if shape in names), None)

    @cached_property
    def preposition(self) -> str:
        """The preposition in the name, as `from` in `from_city`; else ""."""
        first = self.name.partition("_")[0]
        return first if first in PREPOSITIONS else ""

    @cached_property
    def base(self) -> str:
        """The name without its preposition, as `city` of `from_city`."""
        return (self.name.removeprefix(self.preposition).lstrip("_") or self.name) if self.preposition else self.name

    @property
    def is_id(self) -> bool:
        return is_id(self.base)

    @property
    def is_free_text(self) -> bool:
        return self.type == "string" and not (self.is_id or self.options or self.shape)

    @property
    def is_list_of_texts(self) -> bool:
        return self.type == "array" and not self.is_id and self._variant.get("items", {}).get("type") == "string"

    @property
    def spoken(self) -> str:
        return self.name.replace("_", " ")

    def fits(self, value: Any) -> bool:
        if self.options:
            return value in self.options
        return self.type not in _TYPES or isinstance(value, _TYPES[self.type])

    @cached_property
    def _variant(self) -> Json:
        """The schema without the null of an optional type."""
        variants = [each for each in self.schema.get("anyOf", ()) if each.get("type") != "null"]
        return variants[0] if variants else self.schema


def arguments_of(tool: Json) -> list[Argument]:
    """Return the arguments of a tool; `tool` is a function in OpenAI's form."""
    parameters = tool.get("parameters", {})
    required = parameters.get("required", ())
    return [Argument(name, schema, name in required) for name, schema in parameters.get("properties", {}).items()]


CARRIERS = PREPOSITIONS.union(WORDS["carriers"].split())
"""The words of a request that are no part of the thing asked for."""
_POINTING = pattern("pointing")


class Message:
    """A message whose words are used up: what one argument took, no other gets."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.free = text
        self.asked_for = ""
        """The text from the first to the last of the words left over."""
        self.items: list[str] = []
        """The pieces of `asked_for`, if it counts things up."""

    def blank(self, words: str) -> None:
        for found in re.finditer(re.escape(words), self.text, re.IGNORECASE):
            self._take(*found.span())

    def preposition_before(self, words: str) -> str:
        """Return the preposition before the words: "from" for "that" in "from that to Savings"; "" for none."""
        found = re.search(rf"(\w+)\s+(?:the\s+|my\s+|our\s+)?{re.escape(words)}", self.text, re.IGNORECASE)
        return found[1].lower() if found and found[1].lower() in PREPOSITIONS else ""

    def find(self, argument: Argument) -> Any:
        """Return the argument's value if something in the message is clearly meant for it, else None."""
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
        """Return the words for the thing asked for: a quotation, else the words that carry no request and are not the
        tool's own name.

        They are in pieces if the message counts them up: "milk, eggs and bread".
        """
        quoted = _QUOTED.search(self.free)
        if quoted:
            self._take(*quoted.span())
            self.asked_for, self.items = quoted[1], [quoted[1]]
            return [quoted[1]]
        own = {part.removesuffix("s") for part in tool.lower().split("_")}
        # For a tool with "list" in its name, "to the shopping list" is the place and not the thing.
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
        pieces = [[word] for word in words[:1]]
        for before, word in pairwise(words):
            if re.search(r",|\band\b", self.free[before.end() : word.start()]):
                pieces.append([])
            pieces[-1].append(word)
        self.items = [" ".join(self.free[piece[0].start() : piece[-1].end()].split()) for piece in pieces]
        if words:
            start, end = words[0].start(), words[-1].end()
            whole = self.free[start:end] == self.text[start:end]
            self.asked_for = " ".join((self.free[start:end] if whole else self._behind(words)).split())
            self._take(start, end)
        return [" ".join(word.group() for word in piece) for piece in pieces]

    def _behind(self, words: list[re.Match[str]]) -> str:
        """Return the words behind a gap from which others were taken: "the one on Friday for blue" gives blue."""
        gaps = [
            word.start()
            for before, word in pairwise(words)
            if self.free[before.end() : word.start()] != self.text[before.end() : word.start()]
        ]
        return self.free[gaps[-1] : words[-1].end()]

    @property
    def is_whole(self) -> bool:
        """Tell whether the thing asked for is a plain name, and not "a page from Anna" or "blue for Anna"."""
        return (PREPOSITIONS - _WITHIN).isdisjoint(_WORD.findall(self.asked_for.lower()))

    def points_at(self, words: str) -> bool:
        """Tell whether the words are something known already ("the ingredients") and not a value of their own."""
        place = self.text.find(words)
        return bool(_POINTING.search(self.text[: max(place, 0)]))

    def _option(self, argument: Argument) -> Any:
        """Return the longest allowed value that is said."""
        for option in sorted(argument.options, key=lambda option: -len(str(option))):
            spoken = re.escape(str(option)).replace("_", "[ _-]")
            found = re.search(rf"(?<!\w){spoken}(?!\w)(?:['’]s\b)?", self.free, re.IGNORECASE)
            if found:
                self._take(*found.span())
                return option
        return None

    def _number(self, argument: Argument) -> float | None:
        """Return any number for a required argument; for an optional one only a number beside a word of its name."""
        named = "|".join(re.escape(part) for part in argument.name.split("_") if part not in PREPOSITIONS)
        for found in _NUMBER.finditer(self.free):
            beside = self.text[max(0, found.start() - _BESIDE) : found.end() + _BESIDE]
            if argument.required or re.search(rf"\b(?:{named})", beside, re.IGNORECASE):
                value = float(self._take(*found.span()).replace(",", ""))
                return int(value) if value.is_integer() else value
        return None

    def _after_preposition(self, argument: Argument) -> str | None:
        """Return the words after "from" for `from_city`, up to the next preposition."""
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


@dataclass
class Filled:
    """The arguments of one tool, and where they came from."""

    values: dict[str, list[Any]] = field(default_factory=dict)
    """The arguments with more than one value, which mean more than one call."""
    missing: list[Argument] = field(default_factory=list)
    referred: set[str] = field(default_factory=set)
    """The arguments that a reference gave."""
    used: set[str] = field(default_factory=set)
    """The words of the references that gave an argument."""

    def calls(self) -> list[Json]:
        """Return one dict of arguments per call: "save both" makes two calls that differ in one argument."""
        most = max((len(values) for values in self.values.values()), default=1)
        return [
            {name: values[min(place, len(values) - 1)] for name, values in self.values.items()} for place in range(most)
        ]


def fill(tool: Json, text: str, references: Sequence[Reference], before: Mapping[str, Any]) -> Filled:
    """Fill the arguments of a tool. `before` holds the arguments of the call to be repeated, else nothing.

    Each argument comes, in this order, from the field of the same name of the item that a reference means, from the
    message, from `before`. Two things come first if they are said outright: a value that can be told by its looks (a
    number, a date, an allowed value), and words for a required text against a field of an item that already gave
    another argument, so that "swap Friday for tacos" changes Friday. An optional argument without a value is left out;
    a required one without a value is missing, and so is one that would make a tool write twice.
    """
    arguments, message, filled = arguments_of(tool), Message(text), Filled()
    pointing = [each for each in references if not is_described(each)]
    for each in pointing:
        message.blank(each.words)
    texts = [each for each in arguments if each.required and each.is_free_text]
    # A value said outright comes before an item's, and may itself hold an item's name: billing@acme.com.
    _find(filled, [each for each in arguments if not (each.is_id or each.is_free_text)], message)
    _refer(filled, [each for each in arguments if each not in texts], message, references)
    _find(filled, arguments, message)
    _refer(filled, texts, message, [each for each in pointing if each.words not in filled.used])
    _say_the_rest(filled, tool, arguments, texts, message)
    if message.is_whole:
        _refer(filled, texts, message, references)
    for name, value in before.items():
        if any(argument.name == name for argument in arguments):
            filled.values.setdefault(name, [value])
    several = [name for name, values in filled.values.items() if len(values) > 1 and not reads(tool["name"])]
    needed = [each for each in arguments if each.required and each.name not in filled.values]
    filled.missing = needed + [each for each in arguments if each.name in several]
    return filled


def _find(filled: Filled, arguments: Sequence[Argument], message: Message) -> None:
    for argument in arguments:
        value = None if argument.name in filled.values else message.find(argument)
        if value is not None:
            filled.values[argument.name] = [value]


def _say_the_rest(
    filled: Filled, tool: Json, arguments: list[Argument], texts: list[Argument], message: Message
) -> None:
    """Fill the required text with the rest of the message; if nothing is filled, the first list of texts."""
    for argument in texts:
        words = [] if argument.name in filled.values else message.left_over(tool["name"])
        if words and (reads(tool["name"]) or message.is_whole or not filled.values):
            filled.values[argument.name] = [" ".join(words) if reads(tool["name"]) else message.asked_for]
    lists = [argument for argument in arguments if argument.is_list_of_texts]
    if lists and not texts and not filled.values:
        message.left_over(tool["name"])
        words = [each for each in message.items if not message.points_at(each)]
        if words and message.is_whole:
            filled.values[lists[0].name] = [words]


def _refer(filled: Filled, arguments: Sequence[Argument], message: Message, references: Sequence[Reference]) -> None:
    """Take arguments from the items meant, and use up the words that meant them."""
    for argument in arguments:
        if argument.name in filled.values:
            continue
        found: list[Any] = []
        for reference in _for(argument, message, references):
            values = [value for item in reference.items if (value := _field(argument, item, reference)) is not None]
            found.extend(value for value in values if value not in found)
            if values:
                filled.used.add(reference.words)
                message.blank(reference.words)
        if found and argument.type == "array":
            found = [[inner for value in found for inner in (value if isinstance(value, list) else [value])]]
        if found:
            filled.values[argument.name] = found
            filled.referred.add(argument.name)


def _for(argument: Argument, message: Message, references: Sequence[Reference]) -> Sequence[Reference]:
    """Return the references for an argument: those behind "from" for `from_city`, else those behind no preposition."""
    if not argument.preposition:
        return references
    behind = [(message.preposition_before(each.words), each) for each in references]
    exact = [each for preposition, each in behind if preposition == argument.preposition]
    return exact or [each for preposition, each in behind if not preposition]


def _field(argument: Argument, item: Json, reference: Reference) -> Any:
    """Return the item's field of the argument's name; its title for a text that merely points at it."""
    base = argument.base
    wanted = [base, base.removesuffix("s")]
    if argument.is_id:
        kind = base.removesuffix("s").removesuffix("_id")
        wanted.extend(["id"] if not reference.kinds or kind in reference.kinds else [])
        wanted.extend(key for key in item if base == "id" and is_id(key))
    for key in wanted:
        if item.get(key) is not None and argument.fits(item[key]):
            return item[key]
    return (
        title_of(item) or None if argument.is_free_text and argument.required and not is_described(reference) else None
    )


def is_described(reference: Reference) -> bool:
    """Tell whether the words are the item's own ("Savings"), and not only a pointer ("number 2", "that one")."""
    said = reference.words.lower()
    return any(isinstance(value, str) and said in value.lower() for item in reference.items for value in item.values())
