"""Fills a tool's arguments for the offline model: from what is meant, from the message, from the call before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langmem_plugin.offline.argument_schema import Argument, Json, arguments_of, is_id, title_of
from langmem_plugin.offline.message_values import Message
from langmem_plugin.references import Reference
from langmem_plugin.references.shown.tool_results import reads


@dataclass
class Filled:
    """Arguments of one tool, and where they came from."""

    values: dict[str, list[Any]] = field(default_factory=dict)
    """More than one value of an argument means more than one call."""
    missing: list[Argument] = field(default_factory=list)
    referred: set[str] = field(default_factory=set)
    """Arguments that a reference gave."""
    used: set[str] = field(default_factory=set)
    """Words of the references that gave an argument."""

    def calls(self) -> list[Json]:
        """One dict of arguments per call: "save both" makes two calls that differ in one argument."""
        most = max((len(values) for values in self.values.values()), default=1)
        return [
            {name: values[min(place, len(values) - 1)] for name, values in self.values.items()} for place in range(most)
        ]


def fill(tool: Json, text: str, references: Sequence[Reference], before: Mapping[str, Any]) -> Filled:
    """`before` holds the arguments of the call to be repeated, else nothing.

    Each argument comes, in this order, from the field of the same name of the item that a reference means, from
    the message, from `before`. Two things come first if they are said outright: a value that can be told by its
    looks (a number, a date, an allowed value), and words for a required text against a field of an item that
    already gave another argument, so that "swap Friday for tacos" changes Friday. What an optional argument does
    not get is left out; what a required one does not get is missing, and so is what would make a tool write twice.
    """
    arguments, message, filled = arguments_of(tool), Message(text), Filled()
    pointing = [each for each in references if not is_described(each)]
    for each in pointing:
        message.blank(each.words)
    texts = [each for each in arguments if each.required and each.is_free_text]
    # What is said outright beats what an item holds, and can itself hold an item's name: billing@acme.com.
    _find(filled, [each for each in arguments if not (each.is_id or each.is_free_text)], message)
    _refer(filled, [each for each in arguments if each not in texts], message, references)
    _find(filled, arguments, message)
    _refer(filled, texts, message, [each for each in pointing if each.words not in filled.used])
    _say_the_rest(filled, tool, arguments, texts, message)
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
    """What is left of the message is the required text; where nothing is filled, the first list of texts."""
    for argument in texts:
        words = [] if argument.name in filled.values else message.left_over(tool["name"])
        if words:
            filled.values[argument.name] = [" ".join(words) if reads(tool["name"]) else message.asked_for]
    lists = [argument for argument in arguments if argument.is_list_of_texts]
    if lists and not texts and not filled.values:
        words = [each for each in message.left_over(tool["name"]) if not message.points_at(each)]
        if words:
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
                if reference.sort != "asked":  # its words are the whole message
                    message.blank(reference.words)
        if found and argument.type == "array":
            found = [[inner for value in found for inner in (value if isinstance(value, list) else [value])]]
        if found:
            filled.values[argument.name] = found
            filled.referred.add(argument.name)


def _for(argument: Argument, message: Message, references: Sequence[Reference]) -> Sequence[Reference]:
    """`from_city` looks at what stands after "from", else at what stands after no preposition."""
    if not argument.preposition:
        return references
    behind = [(message.preposition_before(each.words), each) for each in references]
    exact = [each for preposition, each in behind if preposition == argument.preposition]
    return exact or [each for preposition, each in behind if not preposition]


def _field(argument: Argument, item: Json, reference: Reference) -> Any:
    """The item's field of the argument's name; its title for a text that merely points at it."""
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
    """Whether the words are the item's own ("Savings") or a whole request for a part of it ("how long is it"), and no
    mere pointer ("number 2", "that one") that means nothing else.
    """
    said = reference.words.lower()
    own = any(isinstance(value, str) and said in value.lower() for item in reference.items for value in item.values())
    return own or reference.sort == "asked"
