"""The line of text that stands in a stored message for a picture, a sound or a document: written and read."""

import re
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage

from langmem_plugin.conversation.media.inline_media import rebuilt

_REFERENCE = re.compile(
    r'\[(?P<kind>image|audio|video|file)(?: "(?P<name>[^"\n]*)")?: (?P<type>[\w.+-]+/[\w.+-]+), '
    r"(?P<size>\d{1,18}) bytes, (?:sha256:(?P<dropped>[0-9a-f]{64}), not kept|"
    r"(?P<path>[^\]\n]{0,255}?(?P<kept>[0-9a-f]{64})(?:\.\w+)?))\]",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class MediaReference:
    """The description of a picture, a sound or a document in a stored message.

    `kind` is image, audio, video or file. `path` is None for what was dropped; its last part names the file in the
    media folder. A picture that was given by its `url` has nothing but that and, perhaps, a type.
    """

    kind: str
    mime_type: str | None
    size: int | None = None
    sha256: str | None = None
    path: str | None = None
    url: str | None = None
    name: str | None = None

    def __str__(self) -> str:
        name = f' "{self.name}"' if self.name else ""
        place = self.path or f"sha256:{self.sha256}, not kept"
        return f"[{self.kind}{name}: {self.mime_type}, {self.size} bytes, {place}]"


def references_in(value: BaseMessage | Any) -> list[MediaReference]:
    """Every reference in a stored message (or any value), pictures given by URL included, in order, each once."""
    found: dict[MediaReference, None] = {}

    def look(part: Any) -> Any:
        """Note what is in the part, wherever it stands, as in a tool call's arguments; return it as it is."""
        if isinstance(part, str):
            found.update(dict.fromkeys(map(_reference, _REFERENCE.finditer(part))))
        elif isinstance(part, dict) and (of_url := _reference_by_url(part)) is not None:
            found[of_url] = None
        else:
            rebuilt(part, look)
        return part

    look(value)
    return list(found)


def words_in(text: str) -> str:
    """The words of a text, without the lines that stand for pictures and files."""
    for reference in references_in(text):
        text = text.replace(str(reference), "")
    return text.strip()


def _reference(found: re.Match[str]) -> MediaReference:
    digest = found["kept"] or found["dropped"]
    return MediaReference(found["kind"], found["type"], int(found["size"]), digest, found["path"], name=found["name"])


def _reference_by_url(block: dict[Any, Any]) -> MediaReference | None:
    match block:
        case {"type": "image_url" | "input_image", "image_url": {"url": str(url)} | str(url)} if _is_remote(url):
            return MediaReference("image", None, url=url)
        case {"type": "image" | "document" as kind, "source": {"type": "url", "url": str(url)}} if _is_remote(url):
            return MediaReference("image" if kind == "image" else "file", None, url=url)
        case {"type": "image" | "audio" | "video" | "file" as kind, "url": str(url)} if _is_remote(url):
            return MediaReference(kind, block.get("mime_type"), url=url)
    return None


def _is_remote(url: str) -> bool:
    return url.startswith(("http://", "https://"))
