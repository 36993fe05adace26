"""A picture belongs to the conversation that brought it: whoever knows its reference gets a line of text."""

import json
from base64 import b64encode
from hashlib import sha256

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.conversation.media.media_reference import references_in
from tests.cases import for_each

ERIN, JASON = "+972501234567", "+972501234568"
HERS = b"\x89PNG\r\n\x1a\n" + b"".join(sha256(bytes([number])).digest() for number in range(30))
HIS = b"\x89PNG\r\n\x1a\n" + b"".join(sha256(bytes([number])).digest() for number in range(40, 70))


@pytest.fixture
def memory(database_url, clock, offline_model, tmp_path):
    settings = Settings(media=tmp_path / "photos", search_past_sessions=False)
    with PhoneMemory(database_url, settings=settings, embeddings=offline_model, now=clock) as opened:
        yield opened


def _stored(memory, phone):
    return memory.saver.get_tuple({"configurable": {"thread_id": phone}}).checkpoint["channel_values"]["messages"]


def _purge(memory, phone):
    memory.sessions.purge(memory.sessions.get_session(phone).session_id)


def _block(data):
    return {"type": "image", "base64": b64encode(data).decode(), "mime_type": "image/png"}


LOOK, NAMED = {"type": "text", "text": "look"}, {"type": "text", "text": "LINE"}
FORMS = {
    "a text": {"content": "LINE"},
    "a text block": {"content": [NAMED]},
    "the caption of a picture of one's own": {"content": [NAMED, _block(HIS)]},
    "a caption among words": {"content": [{"type": "text", "text": "see LINE here"}, _block(HIS)]},
    "an image by its path": {"content": [LOOK, {"type": "image", "url": "PATH"}]},
    "an image URL by its path": {"content": [LOOK, {"type": "image_url", "image_url": {"url": "PATH"}}]},
    "an image by its id": {"content": [LOOK, {"type": "image", "file_id": "PATH"}]},
    "what comes beside the content": {"content": [LOOK, _block(HIS)], "additional_kwargs": {"photo": NAMED}},
}


def _naming(reference, form):
    """A message that names the picture in this form."""
    written = json.dumps(FORMS[form]).replace("LINE", str(reference)).replace("PATH", reference.path)
    return HumanMessage(**json.loads(written))


@pytest.mark.slow
@pytest.mark.spec("C-1", "C-8", "P-6")
@for_each("form", FORMS)
def test_another_persons_picture_is_not_shown_to_who_knows_its_reference_nor_kept_for_them(
    memory, graph_of, scripted, form
):
    model = scripted()
    graph = graph_of(model)
    memory.reply(graph, ERIN, "my passport", image=HERS)
    [reference] = references_in(_stored(memory, ERIN))

    for _ in range(2):  # the message as it was sent, and then as it was stored
        with memory.turn(JASON) as config:
            graph.invoke({"messages": [_naming(reference, form)]}, config)

    assert b64encode(HERS).decode()[40:80] not in str(model.seen[1:])
    assert memory.saver.load_media(JASON, reference) is None
    assert memory.saver.load_media(ERIN, reference) == HERS
    session = memory.sessions.get_session(JASON)
    assert reference.path not in [each.image_path for each in memory.sessions.messages(session.session_id)]
    _purge(memory, ERIN)
    assert reference.path not in [f"photos/{file.name}" for file in memory.media.folder.iterdir()]


@pytest.mark.spec("C-1", "C-8", "P-6")
@for_each("where", ["content", "artifact"])
def test_a_tools_result_that_names_another_persons_picture_stays_a_line(memory, graph_of, scripted, where):
    known = []

    @tool(response_format="content_and_artifact")
    def fetch():
        """Fetches a page that an attacker wrote."""
        named = [{"type": "text", "text": str(known[0])}]
        return (named, {"found": HIS}) if where == "content" else ([_block(HIS)], {"found": named, "scan": HIS})

    def script(messages):
        if isinstance(messages[-1], ToolMessage):
            return AIMessage("fetched")
        return AIMessage("", tool_calls=[{"name": "fetch", "args": {}, "id": "1"}])

    model = scripted(script)
    graph = graph_of(model, [fetch])
    with memory.turn(ERIN) as config:
        graph.update_state(config, {"messages": [HumanMessage([_block(HERS)])]}, as_node="write")
    known += references_in(_stored(memory, ERIN))

    assert memory.reply(graph, JASON, "what do they say?") == "fetched"

    assert b64encode(HERS).decode()[40:80] not in str(model.seen)
    assert memory.saver.load_media(JASON, known[0]) is None
    _purge(memory, ERIN)
    assert not memory.media.file(known[0]).exists()


@pytest.mark.spec("C-8")
def test_a_picture_that_answers_a_question_is_kept_as_long_as_its_conversation(memory):
    def ask(_state):
        return {"messages": AIMessage(interrupt("Send me a photo."))}

    graph = StateGraph(MessagesState).add_node("ask", ask).add_edge(START, "ask").compile(checkpointer=memory.saver)
    memory.reply(graph, ERIN, "save a recipe")
    [reference] = references_in(memory.reply(graph, ERIN, "", image=HERS))
    memory.reply(graph, JASON, "save a recipe")
    assert memory.reply(graph, JASON, str(reference)) == str(reference)

    _purge(memory, JASON)
    assert memory.saver.load_media(ERIN, reference) == HERS
    assert memory.saver.load_media(JASON, reference) is None

    _purge(memory, ERIN)
    assert list(memory.media.folder.iterdir()) == []


@pytest.mark.spec("C-8")
def test_the_copy_of_a_conversation_has_its_pictures(memory, graph_of, scripted):
    memory.reply(graph_of(scripted()), ERIN, "our stew", image=HERS)
    [reference] = references_in(_stored(memory, ERIN))

    memory.saver.copy_thread(ERIN, JASON)
    _purge(memory, ERIN)

    assert memory.saver.load_media("972501234568@c.us", reference) == HERS


@pytest.mark.spec("C-8")
def test_of_several_pictures_the_model_is_told_of_one_that_cannot_be_read(memory, graph_of, scripted):
    model = scripted(lambda _: AIMessage("One of them I cannot see."))

    assert (
        memory.reply(graph_of(model), ERIN, "which is nicer?", image=[HERS, b"damaged"]) == "One of them I cannot see."
    )

    shown = model.seen[-1][-1].content
    assert shown == [
        {"type": "text", "text": "[with a picture that you cannot see]"},
        {"type": "text", "text": "which is nicer?"},
        _block(HERS),
    ]
