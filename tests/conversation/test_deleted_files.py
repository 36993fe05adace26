"""A picture goes with the last conversation that brought it: at once, by every way of deleting, and never too early."""

from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph

from langmem_plugin import ConversationSaver, SessionManager, Settings
from langmem_plugin.conversation.media.media_reference import references_in
from langmem_plugin.conversation.media.media_store import Media
from tests.cases import for_each

MOM, DAD = "+972501234567", "+972507654321"
PICTURE = b"\x89PNG\r\n\x1a\n" + b"\x00" * 16
OTHER = b"\xff\xd8\xff\xe0" + b"\x00" * 16


@pytest.fixture
def saver(database, clock, tmp_path):
    with ConversationSaver(database, now=clock, media=Media(tmp_path / "photos")) as opened:
        yield opened


def of(phone, **more):
    return {"configurable": {"thread_id": phone}, **more}


def say(saver, phone, *pictures, **config):
    def answer(_state: MessagesState):
        return {"messages": AIMessage("Nice.")}

    graph = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile(checkpointer=saver)
    blocks = [{"type": "image", "base64": b64encode(each).decode(), "mime_type": "image/png"} for each in pictures]
    return graph.invoke({"messages": HumanMessage([{"type": "text", "text": "look"}, *blocks])}, of(phone, **config))


def kept(saver):
    return {file.read_bytes() for file in saver.media.folder.iterdir()}


def reference_of(saver, phone):
    return references_in(saver.get_tuple(of(phone)).checkpoint["channel_values"]["messages"])[0]


def purged(saver, clock):
    SessionManager(saver).purge(saver.current_session(MOM).session_id)


def expired(saver, clock):
    saver.end_session(MOM)
    clock.forward(days=1, seconds=1)
    SessionManager(saver, Settings(archive_days=1)).expire()


WAYS = {
    "the thread": lambda saver, _: saver.delete_thread(MOM),
    "pruned away": lambda saver, _: saver.prune([MOM], strategy="delete"),
    "its run": lambda saver, _: saver.delete_for_runs(["hers"]),
    "purged": purged,
    "expired": expired,
}


@pytest.mark.spec("C-8", "P-4")
@for_each("way", WAYS)
def test_whatever_way_a_conversation_is_deleted_its_pictures_go_at_once(saver, clock, way):
    say(saver, DAD, OTHER)
    say(saver, MOM, PICTURE, OTHER, metadata={"run_id": "hers"})

    WAYS[way](saver, clock)

    assert kept(saver) == {OTHER}
    assert saver.load_media(DAD, reference_of(saver, DAD)) == OTHER


@pytest.mark.spec("C-8", "P-4")
def test_a_run_that_is_deleted_takes_only_its_own_pictures_along(saver):
    say(saver, MOM, PICTURE, metadata={"run_id": "first"})
    say(saver, MOM, OTHER, metadata={"run_id": "second"})

    saver.delete_for_runs(["second"])

    assert kept(saver) == {PICTURE}
    assert saver.load_media(MOM, reference_of(saver, MOM)) == PICTURE
    saver.prune([MOM])
    assert kept(saver) == {PICTURE}


@pytest.mark.spec("C-8", "P-4")
def test_an_earlier_session_of_the_same_person_keeps_its_pictures(saver, clock):
    say(saver, MOM, PICTURE)
    clock.forward(hours=1)
    say(saver, MOM, PICTURE, OTHER)

    purged(saver, clock)

    assert kept(saver) == {PICTURE}


@pytest.mark.spec("C-8", "C-9")
@for_each("same_process", [True, False], ids=["same process", "another process"])
def test_a_picture_that_is_brought_again_while_it_is_being_deleted_stays(
    saver, database_url, clock, monkeypatch, same_process
):
    say(saver, MOM, PICTURE)
    reference = reference_of(saver, MOM)
    deleting = saver if same_process else ConversationSaver(database_url, now=clock, media=Media(saver.media.folder))
    with ThreadPoolExecutor() as pool:
        deletions = []
        looked = Media.keep

        def look_and_delete(media, *given):
            found = looked(media, *given)
            if not deletions:
                deletions.append(pool.submit(deleting.delete_thread, MOM))
                with pytest.raises(TimeoutError):  # it waits for this write
                    deletions[0].result(0.3)
            return found

        monkeypatch.setattr(Media, "keep", look_and_delete)
        say(saver, DAD, PICTURE)
        deletions[0].result(60)
    if not same_process:
        deleting.close()

    assert saver.load_media(DAD, reference) == PICTURE
    assert saver.get_tuple(of(MOM)) is None


@pytest.mark.spec("C-8")
def test_a_conversation_copied_while_it_is_being_deleted_has_its_pictures(saver):
    say(saver, MOM, PICTURE)
    reference = reference_of(saver, MOM)
    with ThreadPoolExecutor() as pool:
        copied = pool.submit(saver.copy_thread, MOM, DAD)
        saver.delete_thread(MOM)
        copied.result(60)

    has_copy = saver.get_tuple(of(DAD)) is not None
    assert saver.load_media(DAD, reference) == (PICTURE if has_copy else None)


@pytest.mark.spec("C-8")
def test_what_a_write_that_failed_left_behind_goes_an_hour_later(saver, clock):
    say(saver, MOM, PICTURE)
    saver.media.keep(OTHER, "image/jpeg")

    expire = SessionManager(saver, Settings(archive_days=1)).expire
    expire()
    assert kept(saver) == {PICTURE, OTHER}
    saver.media.delete_unreferenced({reference_of(saver, MOM).sha256}, grace=timedelta(0))
    assert kept(saver) == {PICTURE}
