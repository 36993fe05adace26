"""Pictures and files are seen by the model in their own turn and stored as references: never as base64."""

import asyncio
import base64
import contextlib
import dataclasses
import hashlib
import json
import logging
import os
import resource
import stat
from datetime import timedelta
from pathlib import Path
from typing import Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, Send, interrupt
from sqlalchemy import LargeBinary, select

from langmem_plugin import ConversationSaver, PhoneMemory, Settings
from langmem_plugin.conversation.media.inline_media import image_block, message_without_inline, state_without_inline
from langmem_plugin.conversation.media.media_reference import MediaReference, references_in
from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.conversation.storage import codec
from langmem_plugin.database import Database
from langmem_plugin.database.schema import metadata
from langmem_plugin.errors import InvalidInput, StorageFull
from tests.cases import for_each
from tests.log_events import events

PHONE = "+972501234567"
CONFIG: Any = {"configurable": {"thread_id": PHONE}}


def noise(name: str) -> bytes:
    return b"".join(hashlib.sha256(f"{name} {number}".encode()).digest() for number in range(100))


NOISE = noise("nothing known")
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + noise("png")
JPEG = b"\xff\xd8\xff\xe0" + noise("jpeg")
WAV = b"RIFF\x00\x10\x00\x00WAVEfmt " + noise("wav")
PDF = b"%PDF-1.7\n" + noise("pdf")


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def url(data: bytes, mime_type: str) -> str:
    return f"data:{mime_type};base64,{text(data)}"


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


SHAPES: dict[str, tuple[dict[str, Any], bytes, str, str]] = {
    "OpenAI": (
        {"type": "image_url", "image_url": {"url": url(PNG, "image/png"), "detail": "low"}},
        PNG,
        "image",
        "image/png",
    ),
    "OpenAI, URL as text": ({"type": "image_url", "image_url": url(PNG, "image/png")}, PNG, "image", "image/png"),
    "OpenAI Responses": ({"type": "input_image", "image_url": url(PNG, "image/png")}, PNG, "image", "image/png"),
    "OpenAI sound": (
        {"type": "input_audio", "input_audio": {"data": text(WAV), "format": "wav"}},
        WAV,
        "audio",
        "audio/wav",
    ),
    "OpenAI file": (
        {"type": "file", "file": {"filename": "stew.pdf", "file_data": url(PDF, "application/pdf")}},
        PDF,
        "file",
        "application/pdf",
    ),
    "OpenAI Responses file": (
        {"type": "input_file", "filename": "stew.pdf", "file_data": url(PDF, "application/pdf")},
        PDF,
        "file",
        "application/pdf",
    ),
    "OpenAI made it": ({"type": "image_generation_call", "id": "ig", "result": text(PNG)}, PNG, "image", "image/png"),
    "vLLM video": (
        {"type": "video_url", "video_url": {"url": url(NOISE, "video/x-msvideo")}},
        NOISE,
        "video",
        "video/x-msvideo",
    ),
    "Anthropic": (
        {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": text(JPEG)}},
        JPEG,
        "image",
        "image/jpeg",
    ),
    "Anthropic document": (
        {
            "type": "document",
            "title": "Stew",
            "source": {"type": "base64", "media_type": "application/pdf", "data": text(PDF)},
        },
        PDF,
        "file",
        "application/pdf",
    ),
    "LangChain 0": (
        {"type": "image", "source_type": "base64", "mime_type": "image/png", "data": text(PNG)},
        PNG,
        "image",
        "image/png",
    ),
    "LangChain 1 image": ({"type": "image", "base64": text(PNG), "mime_type": "image/png"}, PNG, "image", "image/png"),
    "LangChain 1 audio": (
        {"type": "audio", "base64": text(NOISE), "mime_type": "audio/aac"},
        NOISE,
        "audio",
        "audio/aac",
    ),
    "LangChain 1 video": (
        {"type": "video", "base64": text(NOISE), "mime_type": "video/mpeg"},
        NOISE,
        "video",
        "video/mpeg",
    ),
    "LangChain 1 file": (
        {"type": "file", "base64": text(NOISE), "mime_type": "text/csv", "extras": {"filename": "prices.csv"}},
        NOISE,
        "file",
        "text/csv",
    ),
    "LangChain 1, data URL": ({"type": "image", "url": url(PNG, "image/png")}, PNG, "image", "image/png"),
    "Google bytes": ({"type": "media", "mime_type": "image/png", "data": PNG}, PNG, "image", "image/png"),
    "Google inline data": ({"inline_data": {"mime_type": "image/png", "data": text(PNG)}}, PNG, "image", "image/png"),
    "Bedrock": ({"image": {"format": "png", "source": {"bytes": PNG}}}, PNG, "image", "image/png"),
    "MCP": ({"type": "image", "data": text(PNG), "mimeType": "image/png"}, PNG, "image", "image/png"),
    "MCP resource": (
        {"type": "resource", "resource": {"uri": "file:///stew.pdf", "blob": text(PDF), "mimeType": "application/pdf"}},
        PDF,
        "file",
        "application/pdf",
    ),
}


@pytest.fixture
def media(tmp_path):
    return Media(tmp_path / "pictures")


@pytest.fixture
def saver(database, clock, media):
    with ConversationSaver(database, media=media, now=clock) as opened:
        yield opened


class Listening:
    """A model that answers "ok" and remembers what it was shown; its first answer may call a tool."""

    def __init__(self, *calls: str) -> None:
        self.shown: list[list[BaseMessage]] = []
        self.calls = list(calls)

    def __call__(self, state: MessagesState) -> Any:
        self.shown.append(list(state["messages"]))
        if self.calls:
            name = self.calls.pop()
            return {"messages": AIMessage("", tool_calls=[{"name": name, "args": {}, "id": "call"}])}
        return {"messages": AIMessage("ok")}


@tool
def snapshot() -> Any:
    """Takes a picture, and has nothing to say to the program."""
    return [
        {"type": "image_url", "image_url": {"url": url(PNG, "image/png")}},
        {"type": "text", "text": url(JPEG, "image/jpeg")},
    ]


@tool(response_format="content_and_artifact")
def photograph() -> Any:
    """Takes a picture."""
    return [{"type": "image_url", "image_url": {"url": url(PNG, "image/png")}}, {"type": "text", "text": "the stew"}], {
        "raw": JPEG,
        "link": url(PDF, "application/pdf"),
        "pages": [{"scan": {"type": "image", "base64": text(PNG), "mime_type": "image/png"}, "token": b"short"}],
        "found": [Document(page_content=f"<img src='{url(JPEG, 'image/jpeg')}'>", metadata={"id": 7})],
    }


def built(saver, model, *tools) -> Any:
    graph = StateGraph(MessagesState).add_node("agent", model).add_edge(START, "agent")
    if tools:
        graph.add_node("tools", ToolNode(tools)).add_edge("tools", "agent")
        graph.add_conditional_edges("agent", tools_condition)
    return graph.compile(checkpointer=saver)


def human(*blocks: Any) -> HumanMessage:
    return HumanMessage(content=[{"type": "text", "text": "what is this?"}, *blocks])


def payloads(database) -> list[bytes]:
    """Everything the database holds, inflated."""
    found = []
    with database.read() as connection:
        for table in metadata.tables.values():
            binary = [column for column in table.columns if isinstance(column.type, LargeBinary)]
            if binary and table.name in ("langmem_message", "langmem_value", "langmem_checkpoint", "langmem_pending"):
                rows = connection.execute(select(*binary)).all()
                found += [b"".join(codec.decompress(bytes(part))[1] for part in row) for row in rows]
    return found


def assert_nothing_inline(database, *data: bytes) -> None:
    everything = payloads(database)
    if database.path is not None:
        everything += [file.read_bytes() for file in database.path.parent.glob(f"{database.path.name}*")]
    for each in data:
        for trace in (text(each).encode()[200:240], each[200:230], text(each).replace("/", "\\/").encode()[200:240]):
            assert not [stored for stored in everything if trace in stored]


def assert_stored(found: Any, media: Media, data: bytes, kind: str, mime_type: str) -> None:
    assert (found.kind, found.mime_type, found.size, found.sha256) == (kind, mime_type, len(data), sha(data))
    assert media.load(found) == data


@pytest.mark.spec("C-8")
@for_each("shape", SHAPES)
def test_a_block_of_any_provider_becomes_a_text_that_leads_to_its_bytes(media, shape):
    block, data, kind, mime_type = SHAPES[shape]

    reduced = message_without_inline(human(block), media.describe)

    placeholder = reduced.content[1]
    assert placeholder.keys() == {"type", "text"}
    assert placeholder["type"] == "text"
    assert placeholder["text"].startswith(f"[{kind}")
    [reference] = references_in(reduced)
    assert_stored(reference, media, data, kind, mime_type)


@pytest.mark.spec("C-8")
def test_every_shape_is_stored_as_a_reference(database, saver, media):
    model = Listening()
    graph = built(saver, model)
    said = human(*(block for block, *_ in SHAPES.values()))

    graph.invoke({"messages": [said]}, CONFIG)

    stored = graph.get_state(CONFIG).values["messages"][0]
    assert [block["type"] for block in stored.content] == ["text"] * (len(SHAPES) + 1)
    assert {reference.sha256 for reference in references_in(stored)} == {sha(data) for _, data, *_ in SHAPES.values()}
    assert model.shown == [[said.model_copy(update={"id": stored.id})]]
    assert_nothing_inline(database, PNG, JPEG, WAV, PDF, NOISE)


@pytest.mark.spec("C-8")
@for_each("durability", ["sync", "async", "exit"])
@for_each("call", ["invoke", "ainvoke"])
def test_no_file_of_the_database_holds_a_picture(database, saver, durability, call):
    graph = built(saver, Listening("snapshot"), snapshot)
    said = {"messages": [human(SHAPES["OpenAI"][0])]}

    if call == "invoke":
        graph.invoke(said, CONFIG, durability=durability)
    else:
        asyncio.run(graph.ainvoke(said, CONFIG, durability=durability))

    assert_nothing_inline(database, PNG, JPEG)


@pytest.mark.spec("C-8")
def test_a_tools_result_is_a_reference_and_its_artifact_is_the_programs_own(saver, media):
    graph = built(saver, Listening("photograph"), photograph)

    graph.invoke({"messages": "take a picture"}, CONFIG)

    result = next(each for each in graph.get_state(CONFIG).values["messages"] if isinstance(each, ToolMessage))
    assert [block["type"] for block in result.content] == ["text", "text"]
    assert_stored(references_in(result.content)[0], media, PNG, "image", "image/png")
    given = photograph.func()[1]
    assert {name: part for name, part in result.artifact.items() if name != "found"} == {
        name: part for name, part in given.items() if name != "found"
    }
    assert result.artifact["found"] == given["found"]


@pytest.mark.spec("C-8")
@for_each(("sound", "mime_type"), [(WAV, "audio/wav"), (NOISE, "application/octet-stream")])
def test_what_a_model_says_aloud_is_a_reference(media, sound, mime_type):
    said = AIMessage("", additional_kwargs={"audio": {"id": "a1", "data": text(sound), "transcript": "hello"}})

    reduced = message_without_inline(said, media.describe)

    audio = reduced.additional_kwargs["audio"]
    assert message_without_inline(reduced, media.describe) is reduced
    assert_stored(references_in(audio["data"])[0], media, sound, "audio", mime_type)
    assert {**audio, "data": ""} == {"id": "a1", "data": "", "transcript": "hello"}


@pytest.mark.spec("C-8")
@for_each(
    "written",
    [
        {"role": "user", "content": [{"type": "text", "text": "look"}, SHAPES["OpenAI"][0]]},
        {"type": "human", "content": [SHAPES["Anthropic"][0], SHAPES["OpenAI"][0]]},
        ("user", [SHAPES["LangChain 1 image"][0]]),
        {"role": "user", "content": f"look: ![stew]({url(PNG, 'image/png')}) nice?"},
    ],
    ids=["role", "type", "pair", "inside text"],
)
def test_a_message_that_is_written_as_data_is_a_reference_too(database, saver, media, written):
    model = Listening()
    graph = built(saver, model)

    graph.invoke({"messages": [written]}, CONFIG)

    first = graph.get_state(CONFIG).values["messages"][0]
    assert_stored(references_in(first)[-1], media, PNG, "image", "image/png")
    assert text(PNG) in str(model.shown[0][0].content)
    assert_nothing_inline(database, PNG, JPEG)


@pytest.mark.spec("C-8", "C-2")
def test_the_model_sees_a_picture_in_its_own_turn_and_a_line_about_it_in_the_next(saver):
    model = Listening("photograph")
    graph = built(saver, model, photograph)
    said = human(SHAPES["LangChain 1 image"][0])

    graph.invoke({"messages": [said]}, CONFIG)
    graph.invoke({"messages": "and now?"}, CONFIG)

    first, after_tool, next_turn = model.shown
    assert first[0].content == said.content
    assert after_tool[0].content == said.content
    assert after_tool[2].content[0]["image_url"]["url"] == url(PNG, "image/png")
    assert after_tool[2].artifact["raw"] == JPEG
    size = len(PNG)
    line = f"[image: image/png, {size} bytes, pictures/{sha(PNG)}.png]"
    assert next_turn[0].content == [{"type": "text", "text": "what is this?"}, {"type": "text", "text": line}]
    assert next_turn[2].content[0] == {"type": "text", "text": line}


@pytest.mark.spec("C-8")
def test_a_message_with_a_picture_is_one_row_in_a_turn_of_many_steps(database, saver):
    graph = built(saver, Listening("photograph", "photograph", "photograph"), photograph)

    graph.invoke({"messages": [human(SHAPES["OpenAI"][0])]}, CONFIG)
    graph.invoke({"messages": "and now?"}, CONFIG)

    with database.read() as connection:
        rows = connection.execute(select(metadata.tables["langmem_message"].c.row)).all()
    assert len(rows) == len(graph.get_state(CONFIG).values["messages"]) == 10


@pytest.mark.spec("C-8")
def test_the_same_picture_is_one_file_whoever_sends_it(saver, media):
    graph = built(saver, Listening("photograph"), photograph)

    for phone in ("+972501234567", "+972502222222"):
        for shape in ("OpenAI", "MCP", "Google bytes"):
            graph.invoke({"messages": [human(SHAPES[shape][0])]}, {"configurable": {"thread_id": phone}})

    assert [file.name for file in media.folder.iterdir()] == [f"{sha(PNG)}.png"]


@pytest.mark.spec("C-8", "C-18")
def test_files_are_private_whatever_the_umask(tmp_path):
    media = Media(tmp_path / "a" / "b")
    before = os.umask(0)
    try:
        kept = media.file(media.keep(PNG, "image/png"))
    finally:
        os.umask(before)

    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (kept.parent, kept.parent.parent)] == [0o700, 0o700]


@pytest.mark.spec("C-8")
def test_with_no_folder_the_bytes_are_dropped_and_the_line_says_so(database, clock):
    with ConversationSaver(database, media=Media("drop"), now=clock) as saver:
        graph = built(saver, Listening())
        graph.invoke({"messages": [human(SHAPES["OpenAI"][0])]}, CONFIG)
        stored = graph.get_state(CONFIG).values["messages"][0]

    assert stored.content[1]["text"] == f"[image: image/png, {len(PNG)} bytes, sha256:{sha(PNG)}, not kept]"
    [reference] = references_in(stored)
    assert (reference.sha256, reference.path, Media("drop").load(reference)) == (sha(PNG), None, None)
    assert_nothing_inline(database, PNG)


@pytest.mark.spec("C-8")
def test_by_default_files_lie_beside_a_sqlite_file_and_in_any_other_database(database, clock):
    with ConversationSaver(database, now=clock) as saver:
        built(saver, Listening()).invoke({"messages": [human(SHAPES["OpenAI"][0])]}, CONFIG)
        folder = saver.media.folder

    if database.path is None:
        assert (folder, saver.media.place) == (None, "database")
    else:
        assert folder == database.path.parent / "langmem-media"
        assert [file.name for file in folder.iterdir()] == [f"{sha(PNG)}.png"]


@pytest.mark.spec("C-8")
def test_a_missing_file_keeps_its_path_and_is_warned_about(media, caplog):
    stored = message_without_inline(human(SHAPES["OpenAI"][0]), media.describe)
    [reference] = references_in(stored)
    media.file(reference).unlink()

    with caplog.at_level(logging.WARNING):
        assert media.load(reference) is None

    assert events(caplog) == ["media.missing"]
    assert references_in(stored)[0].path == f"pictures/{sha(PNG)}.png"


@pytest.mark.spec("C-8")
def test_a_damaged_file_is_not_taken_for_the_picture(media, caplog):
    reference = media.keep(PNG, "image/png")
    media.file(reference).write_bytes(JPEG)

    with caplog.at_level(logging.WARNING):
        assert media.load(reference) is None

    assert events(caplog) == ["media.damaged"]


@pytest.mark.spec("C-8")
def test_a_picture_by_url_stays_a_url(saver, media):
    blocks = [
        {"type": "image_url", "image_url": {"url": "https://example.org/stew.png"}},
        {"type": "image", "source": {"type": "url", "url": "https://example.org/b.png"}},
        {"type": "image", "url": "http://example.org/c.png", "mime_type": "image/png"},
    ]
    graph = built(saver, Listening())

    graph.invoke({"messages": [human(*blocks)]}, CONFIG)

    stored = graph.get_state(CONFIG).values["messages"][0]
    assert stored.content[1:] == blocks
    found = references_in(stored)
    assert [each.url for each in found] == [
        "https://example.org/stew.png",
        "https://example.org/b.png",
        "http://example.org/c.png",
    ]
    assert [media.load(each) for each in found] == [None, None, None]


@pytest.mark.spec("C-8")
@for_each(
    ("block", "line"),
    [
        (
            {"type": "image", "base64": "not base64!", "mime_type": "image/png"},
            "[image: 11 characters that are not base64, not kept]",
        ),
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,é*"}},
            "[image: 24 characters that are not base64, not kept]",
        ),
        (
            {"type": "audio", "base64": "", "mime_type": "audio/wav"},
            "[audio: 0 characters that are not base64, not kept]",
        ),
    ],
)
def test_what_is_no_base64_is_said_to_be_none(media, caplog, block, line):
    with caplog.at_level(logging.WARNING):
        reduced = message_without_inline(human(block), media.describe)

    assert reduced.content[1] == {"type": "text", "text": line}
    assert references_in(reduced) == []
    assert events(caplog) == ["media.unreadable"]


@pytest.mark.spec("C-8")
@for_each(
    "encoded",
    [
        base64.encodebytes(PNG).decode(),
        text(PNG).rstrip("="),
        base64.urlsafe_b64encode(PNG).decode(),
        text(PNG).replace("+", "%2B").replace("/", "%2F"),
    ],
    ids=["in lines", "no padding", "of URLs", "escaped"],
)
def test_base64_is_read_in_every_form_that_occurs(media, encoded):
    for block in (
        {"type": "image", "base64": encoded, "mime_type": "image/png"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{encoded}"}},
        {"picture": f"data:image/png;base64,{encoded}"},
    ):
        [reference] = references_in(message_without_inline(human(block), media.describe))
        assert_stored(reference, media, PNG, "image", "image/png")


@pytest.mark.spec("C-8")
@for_each("encode", [json.dumps, lambda value: json.dumps(value).replace("/", "\\/")], ids=["json", "php"])
def test_a_picture_inside_a_text_is_cut_out_of_it(media, encode):
    value = {"name": "stew", "photo": text(JPEG), "scan": text(PNG), "link": url(PDF, "application/pdf"), "minutes": 20}

    content = message_without_inline(ToolMessage(encode(value), tool_call_id="call"), media.describe).content

    found = json.loads(content)
    assert (found["name"], found["minutes"]) == ("stew", 20)
    for key, data in (("photo", JPEG), ("scan", PNG), ("link", PDF)):
        assert media.load(references_in(found[key])[0]) == data


@pytest.mark.spec("C-8")
@for_each(
    "said",
    [
        "A data URL begins with data:image/png;base64, and goes on.",
        "See /9j/kitchen/of/the/grandmother/and/of/all/her/daughters/in/law for more",
        "R0lGOD is how it begins. " * 10,
        "sha256:" + "ab" * 32,
        "x" * 5_000,
        '{"signature": "' + text(NOISE) + '"}',
    ],
)
def test_an_ordinary_text_stays_what_it_is(media, said):
    message = AIMessage(
        said,
        additional_kwargs={
            "thought_signature": text(NOISE),
            "redacted": {"type": "redacted_thinking", "data": text(NOISE)},
        },
    )

    assert message_without_inline(message, media.describe) is message
    assert not media.folder.exists()


plain = st.recursive(
    st.text(max_size=80) | st.binary(max_size=30) | st.integers() | st.floats() | st.none(),
    lambda part: (
        st.lists(part, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "data", "url", "source", "text"]), part, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.spec("C-8")
@given(around=plain, content=st.text(max_size=100))
def test_a_message_without_a_picture_is_not_touched(around, content):
    message = AIMessage(content, additional_kwargs={"around": around})

    assert message_without_inline(message, Media("drop").describe) is message


@pytest.mark.spec("C-8")
@given(shapes=st.lists(st.sampled_from(sorted(SHAPES)), max_size=4), around=plain)
def test_what_is_reduced_once_stays_as_it_is(shapes, around):
    media = Media("drop")
    message = AIMessage(
        [SHAPES[shape][0] for shape in shapes], additional_kwargs={"around": around, "first": SHAPES["MCP"][0]}
    )

    once = message_without_inline(message, media.describe)

    assert message_without_inline(once, media.describe) is once
    assert len(references_in(once)) == len({SHAPES[shape][1:] for shape in (*shapes, "MCP")}) or shapes


@dataclasses.dataclass(frozen=True)
class Scan:
    page: int
    picture: str


class Album(TypedDict):
    own: bytes
    token: str
    scan: Scan
    card: dict[str, Any]
    shown: str


@pytest.mark.spec("C-8", "C-2")
def test_what_is_no_message_is_the_graphs_own_whatever_it_looks_like(saver, media):
    def fan_out(_state: Album) -> Any:
        return [Send("look", {"picture": SHAPES["OpenAI"][0]})]

    seen = []
    saver.with_allowlist([(Scan.__module__, "Scan")])
    graph = StateGraph(Album).add_node("look", lambda state: seen.append(state) or {"shown": "yes"})
    graph = graph.add_conditional_edges(START, fan_out).compile(checkpointer=saver)
    given = {
        "own": PNG,
        "token": url(JPEG, "image/jpeg"),
        "scan": Scan(1, url(PDF, "application/pdf")),
        "card": {"content": [SHAPES["Anthropic"][0]], "role": "designer"},
    }
    graph.invoke(given, CONFIG)

    assert seen == [{"picture": SHAPES["OpenAI"][0]}]
    assert graph.get_state(CONFIG).values == {**given, "shown": "yes"}
    assert not media.folder.exists()


@dataclasses.dataclass(frozen=True)
class Draft:
    message: dict[str, Any]
    pages: dataclasses.InitVar[int]
    number: list[int] = dataclasses.field(init=False, default_factory=list)

    def __post_init__(self, pages: int) -> None:
        self.number.append(pages)


@pytest.mark.spec("C-8")
def test_an_instance_that_holds_a_message_is_not_initialised_anew(media):
    draft = Draft({"role": "user", "content": [SHAPES["OpenAI"][0]]}, pages=3)

    reduced = state_without_inline(draft, media.describe)

    assert [each.sha256 for each in references_in(reduced)] == [sha(PNG)]
    assert reduced.number == draft.number == [3]
    assert draft.message["content"] == [SHAPES["OpenAI"][0]]


@pytest.mark.spec("C-8")
def test_only_what_nobody_refers_to_is_deleted_and_nothing_that_is_fresh(media):
    kept, doomed = media.keep(PNG, "image/png"), media.keep(JPEG, "image/jpeg")
    (media.folder / "notes.txt").write_text("not ours")

    assert media.delete_unreferenced({kept.sha256}) == 0
    assert media.delete_unreferenced({kept.sha256}, grace=timedelta(0)) == 1

    assert (media.load(kept), media.file(doomed).exists()) == (PNG, False)
    assert (media.folder / "notes.txt").exists()


@pytest.mark.spec("C-8")
def test_a_deleted_picture_that_is_sent_again_is_stored_again(media):
    said = human(SHAPES["OpenAI"][0])
    [reference] = references_in(message_without_inline(said, media.describe))
    media.delete_unreferenced(set(), grace=timedelta(0))

    assert references_in(message_without_inline(said, media.describe)) == [reference]
    assert media.load(reference) == PNG


@pytest.mark.spec("C-8")
@for_each("path", ["../../etc/passwd", f"/etc/{sha(PNG)}/..", "pictures/", f"../{sha(PNG)}.png"])
def test_a_reference_never_leads_out_of_the_folder(media, path):
    forged = MediaReference("image", "image/png", 1, sha(PNG), path)

    file = media.file(forged)

    assert file is None or file.parent == media.folder
    assert media.load(forged) is None


@pytest.mark.spec("C-8", "C-14")
def test_a_file_that_does_not_fit_is_an_error_and_nothing_of_its_turn_is_stored(database, saver, media):
    graph = built(saver, Listening())
    graph.invoke({"messages": "hello"}, CONFIG)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    picture = b"\x89PNG\r\n\x1a\n" + bytes(3_000_000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, hard))
    try:
        with pytest.raises(StorageFull):
            graph.invoke(
                {"messages": [human({"type": "image", "base64": text(picture), "mime_type": "image/png"})]}, CONFIG
            )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert list(media.folder.iterdir()) == []
    assert [message.text for message in graph.get_state(CONFIG).values["messages"]] == ["hello", "ok"]
    assert graph.invoke({"messages": "again"}, CONFIG)["messages"][-1].text == "ok"


@pytest.mark.spec("C-8", "C-14")
def test_a_folder_that_cannot_be_one_is_a_clear_error(tmp_path):
    (tmp_path / "taken").write_text("a file")

    with pytest.raises(StorageFull, match="taken"):
        message_without_inline(human(SHAPES["OpenAI"][0]), Media(tmp_path / "taken").describe)


# The channel adapter


@pytest.fixture
def memory(database_url, tmp_path, clock):
    settings = Settings(media=tmp_path / "photos")
    with PhoneMemory(
        database_url, settings=settings, embeddings=DeterministicFakeEmbedding(size=8), now=clock
    ) as opened:
        yield opened


@pytest.mark.spec("C-8")
def test_a_reply_takes_a_picture_as_path_bytes_or_url(memory, tmp_path):
    model = Listening()
    graph = built(memory.saver, model)
    (tmp_path / "stew.bin").write_bytes(PNG)

    data_url = f"data:image/png;base64,{text(PNG)}"
    for image in (tmp_path / "stew.bin", str(tmp_path / "stew.bin"), PNG, data_url, "https://example.org/stew.png"):
        assert memory.reply(graph, PHONE, "what is this?", image=image) == "ok"
    assert memory.reply(graph, PHONE, "", image=JPEG) == "ok"

    shown = [messages[-1].content for messages in model.shown]
    picture = {"type": "image", "base64": text(PNG), "mime_type": "image/png"}
    assert shown[:4] == [[{"type": "text", "text": "what is this?"}, picture]] * 4
    assert shown[4][1] == {"type": "image", "url": "https://example.org/stew.png"}
    assert [block["type"] for block in shown[5]] == ["image"]
    assert sorted(file.name for file in (tmp_path / "photos").iterdir()) == sorted(
        [f"{sha(PNG)}.png", f"{sha(JPEG)}.jpg"]
    )


@pytest.mark.spec("C-8", "C-13")
@for_each("image", [b"", b"hello", PDF, "missing.png", "/", "nul\0.png"])
def test_a_picture_that_cannot_be_read_is_a_clear_error(image):
    with pytest.raises(InvalidInput, match=r"image|picture"):
        image_block(image)


@pytest.mark.spec("C-8")
def test_a_picture_answers_a_graphs_question_as_the_line_that_leads_to_it(memory):
    answers = []

    def ask(_state: MessagesState) -> Any:
        answers.append(interrupt("Send me a photo of the recipe."))
        return {"messages": AIMessage("thanks")}

    graph = StateGraph(MessagesState).add_node("ask", ask).add_edge(START, "ask").compile(checkpointer=memory.saver)
    assert memory.reply(graph, PHONE, "save a recipe") == "Send me a photo of the recipe."

    assert memory.reply(graph, PHONE, "here", image=PNG) == "thanks"

    assert answers[0].startswith("here\n[image: image/png, ")
    assert memory.media.load(references_in(answers[0])[0]) == PNG


@pytest.mark.spec("C-8")
def test_a_graph_is_given_its_question_and_the_answer_as_they_were(saver):
    given = []

    def ask(_state: MessagesState) -> Any:
        given.append(interrupt({"see": SHAPES["OpenAI"][0]}))
        return {"messages": AIMessage(str(interrupt("and?")))}

    graph = StateGraph(MessagesState).add_node("ask", ask).add_edge(START, "ask").compile(checkpointer=saver)
    asked = graph.invoke({"messages": "hi"}, CONFIG)
    graph.invoke(Command(resume=[SHAPES["Anthropic"][0]]), CONFIG)
    graph.invoke(Command(resume="a dot"), CONFIG)

    assert asked["__interrupt__"][0].value == {"see": SHAPES["OpenAI"][0]}
    assert given == [[SHAPES["Anthropic"][0]]] * 2, "the second time it comes from the database"


@pytest.fixture(params=["no folder", "memory", "by setting"])
def without_folder(request, database, clock):
    """Savers whose pictures are kept in the database, with the database."""
    if request.param == "no folder" and database.path is not None:
        pytest.skip("a SQLite file has a folder beside it")
    if request.param == "memory" and database.path is None:
        pytest.skip("this is about SQLite")
    with contextlib.ExitStack() as opened:
        if request.param == "memory":
            database = opened.enter_context(Database("sqlite://"))
        media = "database" if request.param == "by setting" else "beside"
        yield opened.enter_context(ConversationSaver(database, media=media, now=clock))


@pytest.mark.spec("C-8")
def test_without_a_folder_a_picture_is_kept_in_the_database_once(without_folder):
    saver = without_folder
    model = Listening("photograph")
    graph = built(saver, model, photograph)
    for _ in range(2):
        graph.invoke({"messages": [human(SHAPES["OpenAI"][0])]}, CONFIG)

    stored = graph.get_state(CONFIG).values["messages"][0]
    [reference] = references_in(stored)
    assert "base64" not in str(stored.content)
    assert saver.load_media("+972501234567", reference) == PNG
    assert saver.load_media("+972509999999", reference) is None
    with saver.database.read() as connection:
        kept = connection.execute(select(metadata.tables["langmem_media"].c.payload)).scalars().all()
    assert kept == [PNG]


@pytest.mark.spec("C-8")
def test_what_is_kept_in_the_database_goes_with_its_conversation_and_is_copied_with_it(without_folder):
    saver, reference = without_folder, None
    graph = built(saver, Listening())
    graph.invoke({"messages": [human(SHAPES["OpenAI"][0])]}, CONFIG)
    [reference] = references_in(graph.get_state(CONFIG).values["messages"][0])

    saver.copy_thread("+972501234567", "+972502222222")
    saver.delete_thread("+972501234567")

    assert saver.load_media("+972501234567", reference) is None
    assert saver.load_media("+972502222222", reference) == PNG
    saver.delete_thread("+972502222222")
    with saver.database.read() as connection:
        assert connection.execute(select(metadata.tables["langmem_media"])).all() == []


@pytest.mark.spec("C-8", "C-15")
def test_a_picture_that_is_damaged_in_the_database_is_not_taken_for_it(without_folder, caplog):
    graph = built(without_folder, Listening())
    graph.invoke({"messages": [human(SHAPES["OpenAI"][0])]}, CONFIG)
    [reference] = references_in(graph.get_state(CONFIG).values["messages"][0])
    with without_folder.database.write() as connection:
        connection.execute(metadata.tables["langmem_media"].update().values(payload=JPEG))

    assert without_folder.load_media("+972501234567", reference) is None
    assert "media.damaged" in events(caplog)


@pytest.mark.spec("C-8", "C-15")
@for_each("damaged", [0, 1], ids=["first", "last"])
def test_a_picture_that_is_damaged_in_one_session_is_found_in_another(without_folder, damaged):
    saver, table = without_folder, metadata.tables["langmem_media"]
    graph = built(saver, Listening())
    for _ in range(2):
        graph.invoke({"messages": [human(SHAPES["OpenAI"][0])]}, CONFIG)
        saver.end_session(PHONE)
    [reference] = references_in(graph.get_state(CONFIG).values["messages"][0])
    with saver.database.write() as connection:
        number = connection.execute(select(table.c.session).order_by(table.c.session)).scalars().all()[damaged]
        connection.execute(table.update().where(table.c.session == number).values(payload=JPEG))

    assert saver.load_media(PHONE, reference) == PNG


@for_each(
    ("given", "folder"),
    [("drop", None), ("beside", "langmem-media"), ("elsewhere", "elsewhere"), ("database", None)],
)
def test_the_setting_says_where_files_go(tmp_path, monkeypatch, given, folder):
    monkeypatch.setenv("LANGMEM_MEDIA", str(tmp_path / given) if given == "elsewhere" else given)
    with PhoneMemory(f"sqlite:///{tmp_path}/langmem.db", embeddings=DeterministicFakeEmbedding(size=8)) as memory:
        assert memory.saver.media.folder == (folder and Path(tmp_path / folder))
