"""Takes inline data out of messages: content blocks, data URLs in any text, unlabelled base64, bytes.

The functions are pure; they raise RecursionError for what is nested too deeply. Each piece of data is replaced by a
text that the caller gives for it; the rest is unchanged.
"""

import binascii
import copy
import dataclasses
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from langchain_core.messages import BaseMessage
from langgraph.types import Send
from pydantic import BaseModel

from langmem_plugin.conversation.media.picture_urls import public_url
from langmem_plugin.errors import InvalidInput

KINDS = ("image", "audio", "video", "file")
UNKNOWN_TYPE = "application/octet-stream"
_LARGEST = 100_000_000  # bytes of a picture's file


# The first type of which the data has one of the bytes at this place: the order counts.
_SIGNATURES = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, tuple(b"\xff\xd8\xff%c" % marker for marker in (0xDB, 0xFE, *range(0xE0, 0xF0))), "image/jpeg"),
    (0, (b"GIF87a", b"GIF89a"), "image/gif"),
    (8, b"WEBP", "image/webp"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftyphei", "image/heic"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),
    (8, b"WAVE", "audio/wav"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"%PDF-", "application/pdf"),
)
_CARRIERS = {"image_url", "video_url", "audio_url", "file_url", "input_audio", "file", "file_data", "result", "source"}
_SHORTEST = 40
"""The least length, in characters, of the text of a picture, a sound or a document."""
# Their beginnings in base64: looked for first, because finding a word in a text costs almost nothing.
_BEGINNINGS = ("iVBORw0KG", "/9j", "R0lGOD", "UklGR", "GZ0eX", "GkXfo", "SUQz", "T2dnU", "ZkxhQ", "JVBERi")
_DATA_URL = re.compile(  # inside JSON a slash and a line break may be escaped
    r"data:(?:[\w.+-]++\\?/[\w.+-]++)?(?:;[\w.+-]++=(?:(?!data:)[^;,\"'\s])*+)*+;base64,"
    r"(?=[\w+/%=\\-]{16})(?:[\w+/%=-]++|\\[/n])*+",
    re.IGNORECASE | re.ASCII,
)
_UNLABELLED = re.compile(
    r"(?<![\w+/-])(?:iVBORw0KG|\\?/9j\\?/|R0lGOD|UklGR|AAAA[\w+/-]GZ0eX|GkXfo|SUQz|T2dnU|ZkxhQ|JVBERi)"
    r"(?=[\w+/\\-]{32})(?:[\w+/-]++|\\[/n])*+={0,2}",
    re.ASCII,
)
_WITHOUT_PARTS = {str, bytes, int, float, bool, type(None)}
_WRITERS = frozenset({"user", "human", "assistant", "ai", "system", "developer", "tool", "function"})
"""The authors of a message written as data: the roles that LangChain makes a message of."""


@dataclasses.dataclass(frozen=True, slots=True)
class Inline:
    """Data as it was found (bytes, base64 or a data URL), and its description in the block around it."""

    data: str | bytes
    mime_type: str | None = None
    name: str | None = None
    kind: str | None = None


def inline_of(block: dict[Any, Any]) -> Inline | None:
    """The data inside a content block, in the shape of any provider; None if it carries none."""
    if _CARRIERS.isdisjoint(block):
        return None
    return _of_openai(block) or _of_langchain(block) or _of_others(block)


_CARRIERS |= {"base64", "data", "url", "inline_data", "inlineData", "resource", "image", "audio", "video", "document"}


def _of_openai(block: dict[Any, Any]) -> Inline | None:  # noqa: PLR0911 - one return per shape
    match block:
        case {"type": "image_url" | "input_image" | "computer_screenshot", "image_url": {"url": str(url)} | str(url)}:
            return Inline(url, kind="image") if is_data_url(url) else None
        case {"type": "video_url" | "audio_url" | "file_url" as key}:  # servers with the same protocol
            match block.get(key):
                case {"url": str(url)} | str(url) if is_data_url(url):
                    return Inline(url, kind=key.removesuffix("_url"))
        case {"type": "input_audio", "input_audio": {"data": str(data), **rest}}:
            return Inline(data, f"audio/{rest.get('format') or 'wav'}", kind="audio")
        case {"type": "file", "file": {"file_data": str(data), **rest}}:
            return Inline(data, name=_name(rest), kind="file")
        case {"type": "input_file", "file_data": str(data)}:
            return Inline(data, name=_name(block), kind="file")
        case {"type": "image_generation_call", "result": str(data)}:
            return Inline(data, f"image/{block.get('output_format') or 'png'}", kind="image")
    return None


def _of_langchain(block: dict[Any, Any]) -> Inline | None:
    """The data of a LangChain block: `base64` since 1.0, `source_type` before; a data URL where a URL is expected."""
    match block:
        case {"type": "image" | "audio" | "video" | "file" | "text-plain", "base64": str(data)}:
            return Inline(data, _type(block), _name(block.get("extras")) or _name(block), _kind(block))
        case {"type": str(), "source_type": "base64", "data": str(data)}:
            return Inline(data, _type(block), _name(block.get("metadata")) or _name(block), _kind(block))
        case {"type": str(), "url": str(url)} if is_data_url(url):
            return Inline(url, _type(block), _name(block), _kind(block))
    return None


def _of_others(block: dict[Any, Any]) -> Inline | None:  # noqa: PLR0911 - one return per shape
    """The data of a block of Anthropic, Google, MCP or, last, Bedrock."""
    match block:
        case {"source": {"type": "base64", "data": str(data), **rest}}:
            return Inline(data, _type(rest), _name(block), _kind(block))
        case {"type": str(), "data": str(data) | bytes(data)} if _type(block):
            return Inline(data, _type(block), _name(block), _kind(block))
        case {"inline_data": {"data": str(data) | bytes(data), **rest}}:
            return Inline(data, _type(rest))
        case {"inlineData": {"data": str(data) | bytes(data), **rest}}:
            return Inline(data, _type(rest))
        case {"type": "resource", "resource": {"blob": str(data), **rest}}:
            return Inline(data, _type(rest), _name(rest))
    for kind in ("image", "audio", "video", "document"):
        match block.get(kind):
            case {"source": {"bytes": bytes(data) | str(data)}, "format": str(form), **rest}:
                return Inline(data, f"{'application' if kind == 'document' else kind}/{form}", _name(rest))
    return None


def _type(said: dict[Any, Any]) -> str | None:
    found = (said.get(key) for key in ("mime_type", "media_type", "mimeType"))
    return next((mime_type for mime_type in found if isinstance(mime_type, str) and mime_type), None)


def _kind(block: dict[Any, Any]) -> str | None:
    kind = block.get("type")
    return kind if kind in KINDS else "file" if kind == "document" else None


def _name(said: Any) -> str | None:
    found = (said.get(key) for key in ("filename", "title", "name", "uri")) if isinstance(said, dict) else ()
    return next((name for name in found if isinstance(name, str) and name), None)


def is_data_url(url: str) -> bool:
    return url[:5].lower() == "data:" and ";base64," in url[:200].lower()


def decoded(inline: Inline) -> tuple[bytes, str] | None:
    """The bytes and their type, taken from the bytes where they show it; None if the text is not base64."""
    data, label = inline.data, inline.mime_type
    if isinstance(data, str):
        if data[:5].lower() == "data:":
            header, _, data = data.partition(",")
            label = header[5:].partition(";")[0].lower().replace("\\", "") or label
        try:
            data = _bytes_of(data)
        except (binascii.Error, ValueError):
            return None
    if not data:
        return None
    return data, type_of(data) or label or UNKNOWN_TYPE


def type_of(data: bytes) -> str | None:
    """The mime type that the first bytes show."""
    for offset, signature, mime_type in _SIGNATURES:
        if data.startswith(signature, offset):
            return mime_type
    return None


def _bytes_of(text: str) -> bytes:
    """Decode base64 in all its forms: with the URL alphabet, line breaks, escapes, or without padding."""
    plain = unquote_to_bytes(text) if "%" in text else text.encode("ascii")
    plain = plain.replace(b"\\n", b"").translate(_TO_STANDARD, b" \t\r\n\\")
    return b64decode(plain + b"=" * (-len(plain) % 4), validate=True)


_TO_STANDARD = bytes.maketrans(b"-_", b"+/")


def _read(file: Path) -> bytes:
    """Read a regular file only: a device or a pipe may give data without end."""
    if not file.is_file():
        raise FileNotFoundError("no such file")
    if file.stat().st_size > _LARGEST:
        raise OSError(f"it has more than {_LARGEST} bytes")
    return file.read_bytes()


def image_block(image: str | Path | bytes) -> dict[str, str]:
    """A picture as a content block for any provider, from a file's path, its bytes, or an http(s) or data URL.

    Raises InvalidInput if it cannot be read, is not a picture, or its address is refused (see `public_url`).
    """
    if isinstance(image, str) and image[:5].lower() == "data:":
        image, _ = decoded(Inline(image)) or (b"", "")
    elif isinstance(image, str) and "://" in image[:25]:
        return {"type": "image", "url": public_url(image)}
    try:
        data = bytes(image) if isinstance(image, bytes | bytearray) else _read(Path(image))
    except (OSError, TypeError, ValueError) as error:
        raise InvalidInput(f"the image cannot be read ({error}): give a file's path, its bytes or a URL") from error
    mime_type = type_of(data)
    if mime_type is None or not mime_type.startswith("image/"):
        raise InvalidInput(f"this is {mime_type or 'no picture'}: give a PNG, JPEG, GIF, WebP, AVIF or HEIC image")
    return {"type": "image", "base64": b64encode(data).decode(), "mime_type": mime_type}


Describe = Callable[[Inline], str]


def content_without_inline(blocks: list[Any], describe: Describe) -> list[Any]:
    """Content blocks without the inline data and the data URLs in them; the very same list if there are none."""
    reduced: list[Any] = _Replacement(describe).of(blocks)
    return reduced


def message_without_inline(message: BaseMessage, describe: Describe) -> BaseMessage:
    """The message without inline data in any of its fields; the very same object if there is none.

    A tool's artifact stays what it is: it is the program's own, and no model is shown it.
    """
    within = _Replacement(describe, unlabelled=True)
    fields = {**message.__dict__, **(message.__pydantic_extra__ or {})}
    changed = {
        name: new for name, part in fields.items() if name != "artifact" and (new := within.of(part)) is not part
    }
    return message.model_copy(update=changed) if changed else message


def state_without_inline(value: Any, describe: Describe) -> Any:
    """Reduce the messages in a channel or a write that are written as data, or return the same value if there are none.

    Such a message is a dict, a pair, or a text under `messages`; all else, whatever it looks like, is the graph's own.
    Messages that are objects are left as they are: `message_without_inline` is for those.
    """
    return _MessagesAsData(describe).of(value)


def rebuilt(value: Any, of: Callable[[Any], Any]) -> Any:  # noqa: PLR0911 - one return per kind of container
    """A container with each part replaced by `of(part)`; the very same object if no part changes."""
    match value:
        case dict():
            entries = {key: of(part) for key, part in value.items()}
            return value if all(entries[key] is part for key, part in value.items()) else entries
        case list() | tuple():
            parts = [of(part) for part in value]
            if all(new is old for new, old in zip(parts, value, strict=True)):
                return value
            if isinstance(value, list):
                return parts
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        case Send():
            argument = of(value.arg)
            return value if argument is value.arg else Send(value.node, argument, timeout=value.timeout)
        case BaseModel():
            fields = {**value.__dict__, **(value.__pydantic_extra__ or {})}
            changed = {name: new for name, part in fields.items() if (new := of(part)) is not part}
            return value.model_copy(update=changed) if changed else value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        changed = {name: new for name in names if (new := of(part := getattr(value, name))) is not part}
        return _changed(value, changed) if changed else value
    return value


def _changed(instance: Any, fields: dict[str, Any]) -> Any:
    """Copy an instance, frozen or not, with other fields. `dataclasses.replace` would call its constructor again."""
    made = copy.copy(instance)
    for name, new in fields.items():
        object.__setattr__(made, name, new)
    return made


@dataclasses.dataclass(frozen=True, slots=True)
class _MessagesAsData:
    describe: Describe

    def of(self, value: Any) -> Any:
        if type(value) in _WITHOUT_PARTS or isinstance(value, BaseMessage):  # most values of a state
            return value
        match value:
            case {"content": str() | list(), "role": str(kind)} | {"content": str() | list(), "type": str(kind)} if (
                kind in _WRITERS
            ):
                return _Replacement(self.describe).of(value)
            case {"messages": str(said)}:
                return rebuilt(
                    value, lambda part: _Replacement(self.describe).of(part) if part is said else self.of(part)
                )
        if isinstance(value, list | tuple):  # an array of numpy is a sequence too, and may have no length
            match value:
                case (str(kind), str() | list()) if kind in _WRITERS:
                    return _Replacement(self.describe).of(value)
            kinds = set(map(type, value))
            if value and all(kind in _WITHOUT_PARTS or issubclass(kind, BaseMessage) for kind in kinds):
                return value
        return rebuilt(value, self.of)


@dataclasses.dataclass(frozen=True, slots=True)
class _Replacement:
    describe: Describe
    unlabelled: bool = False  # in a message: base64 and bytes known as media only by their beginning

    def of(self, value: Any) -> Any:
        match value:
            case str():
                return self._text(value) if len(value) >= _SHORTEST else value
            case bytes():
                return self._bytes(value)
            case dict():
                return self._mapping(value)
        return rebuilt(value, self.of)

    def _mapping(self, value: dict[Any, Any]) -> dict[Any, Any]:
        match value:
            case {"data": str(data), "transcript": _} if not data.startswith("["):
                # The speech of an OpenAI model: its id is sent back, so all but the sound must stay.
                return {**value, "data": self.describe(Inline(data, kind="audio"))}
        found = inline_of(value)
        if found is not None:
            return {"type": "text", "text": self.describe(found)}
        replaced: dict[Any, Any] = rebuilt(value, self.of)
        return replaced

    def _text(self, text: str) -> str:
        if "\n" in text and self._is_wrapped(text):
            return self.describe(Inline(text))
        cut = text
        if "base64," in text:
            cut = _DATA_URL.sub(lambda found: self.describe(Inline(found[0])), cut)
        if self.unlabelled and any(beginning in text for beginning in _BEGINNINGS):
            cut = _UNLABELLED.sub(self._media, cut)
        return text if cut == text else cut

    def _is_wrapped(self, text: str) -> bool:
        """Tell whether the whole text is base64 in short lines."""
        if not (is_data_url(text) or (self.unlabelled and text.startswith(_BEGINNINGS))):
            return False
        found = decoded(Inline(text))
        return found is not None and (is_data_url(text) or type_of(found[0]) is not None)

    def _media(self, found: re.Match[str]) -> str:
        """Replace a match only if it is truly media: an ordinary word may begin like it."""
        inline = Inline(found[0])
        data = decoded(inline)
        return self.describe(inline) if data and type_of(data[0]) else found[0]

    def _bytes(self, data: bytes) -> bytes | str:
        known = self.unlabelled and len(data) >= _SHORTEST // 2 and type_of(data)
        return self.describe(Inline(data)) if known else data
