"""No text, however contrived, makes a pattern take more than its length's worth of time."""

import ast
import importlib
import inspect
import pkgutil
import random
import re
import time
from collections.abc import Callable, Iterator
from re import _constants as codes
from re import _parser as parser
from typing import Any

import pytest

import langmem_plugin
from tests.growth import is_linear

pytestmark = pytest.mark.slow

_SLOW = 0.0003  # seconds for a text of _SHORT letters, from which on it is measured how that grows
_SHORT = 1_000
_HOPELESS = 0.1
_OFTEN = ("a", " ", "1", "[[", "(", "9,", "a ", "\n", ".", "?!", "א", "a\u0301", "'", '"', "a'", "-", "1-", ":", "the ")
_OFTEN += ("number two ", "_", "*", "| ", "<", "#1 ", "\x00", "no ")
_LETTERS = "a1 :.-\"'[]()/x!\nא,_é\t"
_OF_CATEGORY = {
    codes.CATEGORY_DIGIT: "1",
    codes.CATEGORY_NOT_DIGIT: "a !",
    codes.CATEGORY_SPACE: " \n",
    codes.CATEGORY_NOT_SPACE: "a1!",
    codes.CATEGORY_WORD: "a1_",
    codes.CATEGORY_NOT_WORD: " !",
}
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_MANY = 10  # times that a part may be repeated

Use = Callable[[str], object]


@pytest.mark.spec("C-13", "R-4")
def test_every_pattern_takes_time_in_proportion_to_the_text():
    uses = _uses()
    assert len(uses) > 100

    slow = {
        name: attack
        for name, (pattern, use) in uses.items()
        if (attack := next((each for each in _attacks(pattern) if _is_slow(use, each)), None)) is not None
    }

    assert slow == {}


def test_a_pattern_that_goes_over_a_text_again_and_again_is_found():
    for pattern in (r"\w+@\w+", r"if (.+?),?\s+then", r"\([^)]*\)", r"\s+$"):
        compiled = re.compile(pattern)
        assert any(_is_slow(_everywhere(compiled), attack) for attack in _attacks(compiled)), pattern


def _is_slow(use: Use, attack: tuple[str, str, str]) -> bool:
    started = time.thread_time()
    use(_text(attack, _SHORT))
    taken = time.thread_time() - started
    return taken > _HOPELESS or (taken > _SLOW and not is_linear(use, lambda length: _text(attack, length), 2_000))


def _text(attack: tuple[str, str, str], length: int) -> str:
    beginning, repeated, ending = attack
    return beginning + repeated * max((length - len(beginning) - len(ending)) // len(repeated), 1) + ending


# The patterns of the package


def _uses() -> dict[str, tuple[re.Pattern[str], Use]]:
    """Every pattern that any module holds, in whatever it holds it in, and those written where they are used."""
    uses: dict[str, tuple[re.Pattern[str], Use]] = {}
    seen: set[int] = set()
    for module in _modules():
        source = inspect.getsource(module)
        for pattern in _patterns_in(vars(module), seen):
            uses[f"{module.__name__}: {pattern.pattern}"] = pattern, _use(pattern, vars(module), source)
        for how, pattern in _written_in(source):
            use = pattern.fullmatch if how == "fullmatch" else _everywhere(pattern)
            uses[f"{module.__name__}: re.{how}: {pattern.pattern}"] = pattern, use
    return uses


def _modules():
    for found in pkgutil.walk_packages(langmem_plugin.__path__, "langmem_plugin."):
        if ".migrations." not in found.name:  # Alembic alone can import its environment
            yield importlib.import_module(found.name)


def _patterns_in(value: Any, seen: set[int]) -> Iterator[re.Pattern[str]]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _patterns_in(part, seen)
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from _patterns_in(part, seen)
    elif getattr(value, "__module__", "").startswith("langmem_plugin") and hasattr(value, "__dict__"):
        yield from _patterns_in(dict(vars(value)), seen)


def _written_in(source: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    """(function, pattern) of calls such as `re.search(r"…", text)`."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=how), args=[ast.Constant(value=str(pattern)), *_]
            ) if how not in ("compile", "escape"):
                yield how, re.compile(pattern, re.IGNORECASE)


def _use(pattern: re.Pattern[str], names: dict[str, Any], source: str) -> Use:
    """What is done with a pattern: where it is only ever held against a whole text, it is not looked for in one."""
    name = next((name for name, value in names.items() if value is pattern), None)
    called = set(re.findall(rf"\b{name}\.(\w+)", source)) if name else set()
    return pattern.fullmatch if called == {"fullmatch"} else _everywhere(pattern)


def _everywhere(pattern: re.Pattern[str]) -> Use:
    def use(text: str) -> None:
        for _ in pattern.finditer(text):
            pass
        pattern.fullmatch(text)

    return use


# Texts that a pattern nearly matches, over and over


def _attacks(pattern: re.Pattern[str]) -> list[tuple[str, str, str]]:
    """(beginning, what is repeated, ending), made from each part of the pattern that may occur many times."""
    chance = random.Random(1)
    tree = list(parser.parse(pattern.pattern, pattern.flags))
    found = {("", often, ending) for often in _OFTEN for ending in ("", "\x01")}
    for _ in range(3):
        for before, repeated in _repeats(tree, "", chance):
            part = _sample(repeated, chance) or "a"
            found |= {(before, part, ""), (before, part, "\n\x01"), ("", before + part, "\x01")}
            found |= {("", before, "")} if before else set()
        if whole := _sample(tree, chance):
            found |= {("", whole, ""), ("", whole[:-1] or whole, "")}
    return sorted(found)


def _repeats(parts: list[Any], before: str, chance: random.Random) -> Iterator[tuple[str, list[Any]]]:
    """Each part that may occur many times, with a text that matches what stands before it."""
    for place, (code, said) in enumerate(parts):
        here = before + _sample(parts[:place], chance)
        if code in _REPEATS:
            if said[1] >= _MANY:
                yield here, list(said[2])
            inner = [said[2]]
        else:
            inner = _inner(code, said)
        for each in inner:
            yield from _repeats(list(each), here, chance)


def _inner(code: Any, said: Any) -> list[Any]:
    match code:
        case codes.SUBPATTERN:
            return [said[3]]
        case codes.BRANCH:
            return list(said[1])
        case codes.ATOMIC_GROUP:
            return [said]
        case codes.ASSERT | codes.ASSERT_NOT:
            return [said[1]]
    return []


def _sample(parts: Any, chance: random.Random) -> str:
    """A text that matches, but for what it looks ahead or back for."""
    return "".join(_sample_of(code, said, chance) for code, said in parts)


def _sample_of(code: Any, said: Any, chance: random.Random) -> str:  # noqa: PLR0911 - one return per kind of part
    match code:
        case codes.LITERAL:
            return chr(said)
        case codes.NOT_LITERAL:
            return chance.choice([letter for letter in _LETTERS if ord(letter) != said])
        case codes.ANY:
            return chance.choice("a1 :")
        case codes.IN:
            return chance.choice(_letters_of(said))
        case codes.MAX_REPEAT | codes.MIN_REPEAT | codes.POSSESSIVE_REPEAT:
            return "".join(_sample(said[2], chance) for _ in range(said[0] or chance.randint(0, 1)))
        case codes.BRANCH:
            return _sample(chance.choice(said[1]), chance)
        case codes.SUBPATTERN | codes.ATOMIC_GROUP:
            return "".join(_sample(each, chance) for each in _inner(code, said))
    return ""


def _letters_of(members: list[tuple[Any, Any]]) -> str:
    named = ""
    for code, said in members:
        match code:
            case codes.LITERAL:
                named += chr(said)
            case codes.RANGE:
                named += chr(said[0]) + chr(said[1])
            case codes.CATEGORY:
                named += _OF_CATEGORY[said]
    if members[0][0] is codes.NEGATE:
        return "".join(letter for letter in _LETTERS if letter not in named) or "☃"
    return named
