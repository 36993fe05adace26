"""Sanitize texts that others wrote: safe to stand in a block of a prompt or to be shown in a terminal."""

import functools
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

BLOCKS: Final = ("context", "memories", "instructions", "references", "earlier", "conversation", "message", "assistant")
"""The names of the tags that mark the blocks of our prompts."""

# Unicode's Default_Ignorable_Code_Point: what no screen shows and a model reads all the same (joiners, marks of
# direction, tags, variation selectors, fillers); control characters; annotations; a blank that is no space.
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROLS = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # white space is left out here: it becomes a space
_HIDDEN = re.compile(f"[{_CONTROLS}{_IGNORABLE}]")
_STEERING = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]")
_JOINER, _AS_EMOJI = "\u200d", "\ufe0f"
_OF_EMOJI = (_JOINER, _AS_EMOJI)
_LEFT = "<‹＜﹤〈〈⟨❬❮❰⟪《˂ᐸ≺⪡"
_RIGHT = ">›＞﹥〉〉⟩❭❯❱⟫》˃ᐳ≻⪢"
ANGLES: Final = str.maketrans(dict.fromkeys(_LEFT, "‹") | dict.fromkeys(_RIGHT, "›"))
_BRACKET = re.compile(f"[{_LEFT}{_RIGHT}]")
# Tokens in square brackets of the templates of chat models.
_TOKEN = re.compile(
    r"\[(/?+(?:INST|SYS|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|AVAILABLE_TOOLS|MODEL_SETTINGS|ARGS|CALL_ID"
    r"|THINK|IMG|IMG_BREAK|IMG_END|PREFIX|MIDDLE|SUFFIX|gMASK))\]",
    re.IGNORECASE,
)
_LOOKS_LIKE: Final = {
    **dict(zip("асеіорхѕтмпгинꙇⅼ", "aceiopxstmnrunil", strict=True)),  # Cyrillic, and a numeral
    **dict(zip("αεικνορτχϲсоıɑⲟᴄᴏɴᴛᴇхʀᴜʟɪᴍ", "aeiknoptxccoiaocontexruli" + "m", strict=True)),  # Greek, Latin, capitals
    "∕": "/",
    "⁄": "/",
    "╱": "/",
    "⧸": "/",
    "\\": "/",
}
_NOTHING = "\0"
_UNFIT_FOR_JSON = re.compile(f"[{_LEFT}{_RIGHT}{_CONTROLS}{_IGNORABLE}\x85\u2028\u2029]")
_OF_TERMINALS = ("Cc", "Cf", "Cs", "Zl", "Zp")  # the categories of characters that steer a terminal
_HARMLESS = "\n\t\u200c\u200d\u200e\u200f"  # joiners, as in emoji, and the marks that Hebrew is typed with


def one_line(text: str) -> str:
    """Return the text on one line, in which no tag can open or close, however it is written, and nothing is
    invisible.
    """
    return " ".join(without_tags(without_hidden(text)).split())


def without_hidden(text: str) -> str:
    """Return the text without invisible characters, except those that join two emoji or show a sign as an emoji."""
    return text if text.isascii() and text.isprintable() else _HIDDEN.sub(lambda found: _kept(found) or "", text)


def without_steering(text: str) -> str:
    """Return the text for a person's screen: without controls, and without characters that change its direction."""
    return text if text.isascii() and text.isprintable() else _STEERING.sub("", text)


def without_tags(text: str) -> str:
    """Return the text with other brackets in place of those that open and close tags; round ones where they enclose the
    name of one of our tags.
    """
    if "[" in text:
        text = _TOKEN.sub(r"(\1)", text)
    if _BRACKET.search(text) is None:
        return text
    text = text.translate(ANGLES)
    letters = list(text)
    for begin, end in _tags(text):
        letters[begin] = "("
        closing = text.find("›", end, end + 40)
        if closing >= 0:
            letters[closing] = ")"
    return "".join(letters)


def first_tag(text: str) -> int | None:
    """Return the position of the first text that could pass for the beginning or the end of one of our blocks."""
    return next((begin for begin, _ in _tags(text)), None)


def escaped_as_json(text: str) -> str:
    """Return the text for use in JSON or beside it: brackets, hidden characters and line ends as JSON escapes."""
    return _UNFIT_FOR_JSON.sub(_as_json, _TOKEN.sub(lambda token: f"\\u005b{token[1]}]", text))


def _as_json(found: re.Match[str]) -> str:
    character = found[0]
    return character if character in _OF_EMOJI and _kept(found) is not None else _escape(character)


@functools.lru_cache(maxsize=1_000)
def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _kept(hidden: re.Match[str]) -> str | None:
    """Return a hidden character that belongs to an emoji, which would change without it; None for any other."""
    character = hidden[0]
    if character not in _OF_EMOJI:
        return None
    at, text = hidden.start(), hidden.string
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    joins = character == _JOINER and (before == _AS_EMOJI or _is_sign(before)) and _is_sign(after)
    shows = character == _AS_EMOJI and (_is_sign(before) or after == "\u20e3")
    return character if joins or shows else None


def _is_sign(character: str) -> bool:
    return bool(character) and unicodedata.category(character) in {"So", "Sk"} and character > "\u203b"


class _Folded(dict[int, str]):
    """A table of each character as the one that it looks like: letters of other scripts, accents, capitals,
    brackets.
    """

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if _HIDDEN.fullmatch(character) or unicodedata.combining(character):
            folded = _NOTHING
        elif character in _LEFT:
            folded = "<"
        else:
            plain = unicodedata.normalize("NFKD", character)[:1].lower()[:1]
            folded = _LOOKS_LIKE.get(plain, plain)
        self[code] = folded
        return folded


_folded: Final = _Folded()


def _spelt(name: str) -> str:
    return rf"{_NOTHING}*+".join(name)


_TAG = re.compile(rf"<[\s{_NOTHING}]*+/?+[\s{_NOTHING}]*+(?:{'|'.join(map(_spelt, BLOCKS))})(?!\w)")


def _tags(text: str) -> Iterator[tuple[int, int]]:
    if _BRACKET.search(text) is None:
        return iter(())
    return (found.span() for found in _TAG.finditer(text.translate(_folded)))


def visible(text: str) -> str:
    r"""Return the text with each character that steers a terminal or turns the direction as `\u001b`, which JSON reads
    back.
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_visible, text))


def indented(text: str) -> str:
    """Indent further lines, so that none of them looks like a line of ours about the text."""
    return text.replace("\n", "\n      ")


def _visible(character: str) -> str:
    is_harmless = character in _HARMLESS or unicodedata.category(character) not in _OF_TERMINALS
    return character if is_harmless else _escape(character)
