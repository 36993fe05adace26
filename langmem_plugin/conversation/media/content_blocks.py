"""The content blocks that carry data, in the shape of every provider, and what the data is.

Pure functions.
"""

import binascii
import dataclasses
import re
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from langmem_plugin.conversation.media.picture_urls import public_url
from langmem_plugin.errors import InvalidInput

KINDS = ("image", "audio", "video", "file")
UNKNOWN_TYPE = "application/octet-stream"
_LARGEST = 100_000_000  # bytes of a picture's file
_SCHEME = re.compile(r"data:|[a-z][a-z0-9+.-]{1,20}+://", re.IGNORECASE)


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


@dataclasses.dataclass(frozen=True, slots=True)
class Inline:
    """Data as it was found: bytes, base64 or a data URL, and what the block around it says of it."""

    data: str | bytes
    mime_type: str | None = None
    name: str | None = None
    kind: str | None = None


def inline_of(block: dict[Any, Any]) -> Inline | None:
    """The data inside a content block, in the shape of any provider; None if it carries none."""
    if _CARRIERS.isdisjoint(block):
        return None
    return _of_openai(block) or _of_langchain(block) or _of_others(block)


_CARRIERS = {"image_url", "video_url", "audio_url", "file_url", "input_audio", "file", "file_data", "result", "source"}
_CARRIERS |= {"base64", "data", "url", "inline_data", "inlineData", "resource", "image", "audio", "video", "document"}


def _of_openai(block: dict[Any, Any]) -> Inline | None:  # noqa: PLR0911 - one return per shape
    match block:
        case {"type": "image_url" | "input_image" | "computer_screenshot", "image_url": {"url": str(url)} | str(url)}:
            return Inline(url, kind="image") if is_data_url(url) else None
        case {"type": "video_url" | "audio_url" | "file_url" as key}:  # servers that speak its language
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
    """Its own shapes: `base64` since 1.0, `source_type` before; a data URL where a URL is expected."""
    match block:
        case {"type": "image" | "audio" | "video" | "file" | "text-plain", "base64": str(data)}:
            return Inline(data, _type(block), _name(block.get("extras")) or _name(block), _kind(block))
        case {"type": str(), "source_type": "base64", "data": str(data)}:
            return Inline(data, _type(block), _name(block.get("metadata")) or _name(block), _kind(block))
        case {"type": str(), "url": str(url)} if is_data_url(url):
            return Inline(url, _type(block), _name(block), _kind(block))
    return None


def _of_others(block: dict[Any, Any]) -> Inline | None:  # noqa: PLR0911 - one return per shape
    """Anthropic, Google, MCP and, last, Bedrock."""
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
    """The bytes and their type, which they themselves tell if they can. None if the text is not base64."""
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
    """Takes base64 in the forms that occur: the URL's alphabet, line breaks, escapes, no padding."""
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
    """A picture as a content block for any provider: a file's path, its bytes, or an http(s) URL.

    Raises InvalidInput if it cannot be read, is not a picture, or its address is refused (see `public_url`).
    """
    if isinstance(image, str) and _SCHEME.match(image):
        if image[:5].lower() == "data:":
            raise InvalidInput("the image is a data: URL: decode it, and give its bytes")
        return {"type": "image", "url": public_url(image)}
    try:
        data = bytes(image) if isinstance(image, bytes | bytearray) else _read(Path(image))
    except (OSError, TypeError, ValueError) as error:
        raise InvalidInput(f"the image cannot be read ({error}): give a file's path, its bytes or a URL") from error
    mime_type = type_of(data)
    if mime_type is None or not mime_type.startswith("image/"):
        raise InvalidInput(f"this is {mime_type or 'no picture'}: give a PNG, JPEG, GIF, WebP, AVIF or HEIC image")
    return {"type": "image", "base64": b64encode(data).decode(), "mime_type": mime_type}
