"""What a webhook's messages get: each person by themselves, in the order of writing, each part once."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import interrupt
from sqlalchemy import select

from langmem_plugin import PhoneMemory
from langmem_plugin.agent.replying import reply_to_message
from langmem_plugin.agent.replying.sync_async_steps import Step
from langmem_plugin.channels import Incoming, TryLater
from langmem_plugin.channels.webhook import Webhook
from langmem_plugin.conversation.quoted_and_own_words import Quoted
from langmem_plugin.database.conversation_tables import acknowledged, incoming
from tests.cases import for_each
from tests.channels.conftest import Kept
from tests.chat_graph import chat_graph
from tests.database.conftest import Child
from tests.waiting import until

pytestmark = pytest.mark.both_engines

ERIN, JASON, FAMILY = "+972501230001", "+972501230002", "family@g.us"


@pytest.fixture
def deliver(webhook, clock):
    """Delivers messages in one webhook; gives the texts that went out for it."""
    used = iter(range(1, 1_000))

    def call(*given, to=webhook):
        clock.forward(seconds=5)
        before = len(to.provider.sent)
        about = [{"who": ERIN, "message_id": f"m{next(used)}", "sent_at": clock(), **each} for each in given]

        async def run():
            try:
                if (pending := await to.receive([Incoming(**each) for each in about])) is not None:
                    await pending()
            finally:
                await to.close()

        asyncio.run(run())
        return [text for _, text in to.provider.sent[before:]]

    return call


def saying(memory, answer):
    return chat_graph(memory, lambda state: {"messages": AIMessage(answer(state["messages"][-1].text))})


@pytest.mark.spec("C-21")
def test_a_picture_that_cannot_be_fetched_now_is_delivered_again_and_holds_up_nobody(webhook, deliver):
    both = [{"message_id": "p", "pictures": ["later"]}, {"message_id": "j", "who": JASON, "text": "hello"}]

    for _ in range(2):
        with pytest.raises(TryLater):
            deliver(*both)

    assert webhook.provider.texts() == ["re: hello"]


@pytest.mark.spec("C-21")
def test_of_a_long_answer_each_part_is_sent_once(webhook, deliver, memory):
    long = "\n".join(f"{n}. " + f"line {n} is long. " * 8 for n in range(60))
    speaking = Webhook(memory=memory, graph=saying(memory, lambda _: long), provider=webhook.provider)
    webhook.provider.refusals = [None, TryLater(), None, TryLater()]

    for _ in range(2):
        with pytest.raises(TryLater):
            deliver({"message_id": "long", "text": "tell me all"}, to=speaking)
    deliver({"message_id": "long", "text": "tell me all"}, to=speaking)
    deliver({"message_id": "long", "text": "tell me all"}, to=speaking)

    texts = webhook.provider.texts()
    assert max(map(len, texts)) <= 4096
    assert [line.strip() for text in texts for line in text.splitlines()] == [
        each.strip() for each in long.splitlines()
    ]


@pytest.mark.spec("C-21", "R-1")
def test_who_quotes_the_assistant_by_the_channels_id_is_understood(webhook, deliver):
    deliver({"text": "first"})
    deliver({"text": "second"})

    assert deliver({"text": "book number 2", "quoted": Quoted("out.1", None)}) == [
        "re: [in answer to: “re: first”] book number 2"
    ]


@pytest.mark.spec("C-21")
def test_a_thumb_up_answers_what_was_just_asked_and_nothing_else(webhook, deliver, memory):
    deliver({"text": "/remember I own a canoe"})
    assert deliver({"text": "/forget canoe"}) == ["Shall I forget this? I own a canoe\nAnswer yes or no."]

    assert deliver({"text": "👍", "reaction": True, "quoted": Quoted("out.1", None)}) == []  # that asked nothing
    assert deliver({"text": "❤️", "reaction": True, "quoted": Quoted("out.2", None)}) == []  # nor does it say yes
    assert deliver({"text": "👍", "reaction": True, "quoted": Quoted("out.2", None)}) == ["🗑️ Forgotten: I own a canoe"]
    assert deliver({"text": "👍", "reaction": True, "quoted": Quoted("out.2", None)}) == []  # it is answered


@pytest.mark.spec("R-8", "C-21")
def test_a_yes_that_answers_an_earlier_text_forgets_nothing_and_closes_the_question(webhook, deliver, memory):
    for text in ("/remember I own a canoe", "shall we go sailing?", "/forget canoe"):
        deliver({"text": text})

    assert deliver({"text": "yes", "quoted": Quoted("out.2", None)}) == [
        "re: [in answer to: “re: shall we go sailing?”] yes"
    ]
    assert deliver({"text": "yes"}) == ["re: yes"]
    assert [each.text for each in memory.service.list_memories(ERIN)] == ["I own a canoe"]

    deliver({"text": "/forget canoe"})
    question = f"out.{len(webhook.provider.sent)}"
    assert deliver({"text": "yes", "quoted": Quoted(question, None)}) == ["🗑️ Forgotten: I own a canoe"]


@pytest.mark.spec("R-8", "C-21")
def test_a_yes_that_answers_another_text_approves_nothing(webhook, deliver, memory):
    def agent(state):
        said = state["messages"][-1].text
        return {
            "messages": AIMessage(f"paid: {interrupt('Pay $20? (yes/no)')}" if said == "order it" else f"re: {said}")
        }

    paying = Webhook(memory=memory, graph=chat_graph(memory, agent), provider=webhook.provider)
    deliver({"text": "shall we go sailing?"}, to=paying)
    assert deliver({"text": "order it"}, to=paying) == ["Pay $20? (yes/no)"]
    deliver({"text": "/memories"}, to=paying)

    for quoted in (Quoted("out.1", None), Quoted("elsewhere", "See you at eight?")):
        assert deliver({"text": "yes", "quoted": quoted}, to=paying) == ["Pay $20? (yes/no)"]
    assert deliver({"text": "yes", "quoted": Quoted("out.2", None)}, to=paying) == ["paid: yes"]


PAY = {"name": "pay", "args": {"to": "Dana", "amount": 20}}
MAY_PAY = {"action_requests": [PAY], "review_configs": [{"action_name": "pay", "allowed_decisions": ["approve"]}]}


@pytest.mark.spec("R-8", "C-21")
@for_each(
    ("asked", "says", "quoted", "given"),
    [
        (MAY_PAY, "sí", Quoted("out.1", None), {"decisions": [{"type": "approve"}]}),
        (MAY_PAY, "כן", Quoted("out.1", None), {"decisions": [{"type": "approve"}]}),
        ({"question": "Which?", "options": ["yes, large", "no, small"]}, "sí", Quoted("out.1", None), "yes, large"),
        ("I will type this:\npassword: hunter2\nDo I send it?", "yes", Quoted("out.1", None), "yes"),
        ("**Pay**  the *20* dollars?", "yes", Quoted("elsewhere", "Pay the 20 dollars?"), "yes"),
        ("\n".join(["Pay all these?", *["one more thing to be paid for"] * 200]), "yes", Quoted("out.2", None), "yes"),
    ],
)
def test_a_yes_that_quotes_the_question_answers_it_in_any_language_and_however_it_was_kept_or_shown(
    webhook, deliver, memory, asked, says, quoted, given
):
    graph = chat_graph(memory, lambda _: {"messages": AIMessage(f"got: {interrupt(asked)}")})
    paying = Webhook(memory=memory, graph=graph, provider=webhook.provider)
    deliver({"text": "please order it for me"}, to=paying)

    assert deliver({"text": says, "quoted": quoted}, to=paying) == [f"got: {given}"]


@pytest.mark.spec("R-8", "C-21")
def test_a_member_of_a_group_who_quotes_the_question_answers_it_after_others_were_answered(deliver, memory):
    erin = {"who": FAMILY, "sender": ERIN, "sender_name": "Erin"}
    for text in ("/remember I own a canoe", "shall we go sailing?", "/forget canoe"):
        deliver({**erin, "text": text})
    deliver({**erin, "sender": JASON, "sender_name": "Jason", "text": "hello everybody"})

    yes = {**erin, "text": "yes", "quoted": Quoted("out.3", None)}
    deliver({**yes, "sender": None, "sender_name": None})  # an anonymous administrator
    assert [each.text for each in memory.service.list_memories(FAMILY)] == ["I own a canoe"]
    assert deliver(yes) == ["🗑️ Forgotten: I own a canoe"]


@pytest.mark.spec("C-21")
def test_in_a_group_who_was_asked_by_a_command_answers(deliver, memory):
    said = {"who": FAMILY, "sender": ERIN, "sender_name": "Erin"}
    deliver({**said, "text": "/remember We eat at eight"})
    deliver({**said, "text": "/forget eat"})

    deliver({**said, "sender": JASON, "sender_name": "Jason", "text": "yes"})
    assert [each.text for each in memory.service.list_memories(FAMILY)] == ["We eat at eight"]
    assert deliver({**said, "text": "yes"}) == ["🗑️ Forgotten: We eat at eight"]


@pytest.mark.spec("C-21")
def test_an_album_is_one_message(webhook, deliver, memory, monkeypatch):
    def have_come(many):
        with memory.database.read() as connection:
            return len(connection.execute(select(incoming)).all()) == many

    def until_all_have_come(_):
        return asyncio.to_thread(until, lambda: have_come(3))

    monkeypatch.setattr(
        reply_to_message, "pause", lambda _: Step(None, until_all_have_come)
    )  # the time for the rest of it
    parts = [{"message_id": f"a{n}", "album": "a", "pictures": [f"{n}"]} for n in range(3)]
    parts[0]["text"] = "which one?"

    with ThreadPoolExecutor(3) as pool:  # as they come: each when the one before is acknowledged
        for many, part in enumerate(parts, 1):
            pool.submit(deliver, part)
            until(lambda many=many: have_come(many))
    for part in parts:
        deliver(part)

    assert webhook.provider.texts() == ["re: which one? (3 pictures)"]


@pytest.mark.spec("C-21")
def test_a_slow_model_does_not_keep_the_provider_waiting(memory, deliver):
    answered = asyncio.Event()

    async def agent(_):
        await answered.wait()
        return {"messages": AIMessage("done")}

    slow = Webhook(
        memory=memory,
        graph=chat_graph(memory, agent),
        provider=Kept(),
        acknowledged_after=timedelta(seconds=0.3),
    )

    async def run():
        await slow.receive([Incoming(who=ERIN, message_id="s", text="think")])
        assert slow.provider.texts() == []
        answered.set()
        await slow.close()

    asyncio.run(run())

    assert slow.provider.texts() == ["done"]
    assert len(slow.provider.typed) == 1


@pytest.mark.spec("C-21")
def test_what_is_not_taken_after_the_webhook_was_acknowledged_is_tried_again_here(memory, monkeypatch):
    monkeypatch.setattr("langmem_plugin.channels.webhook._PAUSES", (0.01, 0.01))

    is_acknowledged = asyncio.Event()

    async def agent(_):
        await is_acknowledged.wait()
        return {"messages": AIMessage("done")}

    provider = Kept()
    provider.refusals = [TryLater(), TryLater()]
    graph = chat_graph(memory, agent)
    slow = Webhook(memory=memory, graph=graph, provider=provider, acknowledged_after=timedelta(seconds=0.1))

    async def run():
        await slow.receive([Incoming(who=ERIN, message_id="s", text="think")])
        is_acknowledged.set()
        await slow.close()

    asyncio.run(run())

    assert provider.texts() == ["done"]


@pytest.mark.slow
@pytest.mark.spec("C-21")
@for_each("dies_in", ["graph", "send"])
def test_what_a_killed_process_had_acknowledged_is_answered_once_by_whoever_looks(
    database_url, memory, webhook, clock, offline_model, dies_in
):
    """The first message is killed in the graph or as it is sent, the second as it waits behind it."""
    texts = ["first \ud83d", "second"]

    def dies():
        own = PhoneMemory(database_url, embeddings=offline_model, now=clock)
        received = asyncio.Event()

        async def agent(_):
            await received.wait()
            return os._exit(9) if dies_in == "graph" else {"messages": AIMessage("re: first ?")}

        provider = Kept()
        provider.send = lambda *_: os._exit(9)
        hook = Webhook(
            memory=own, graph=chat_graph(own, agent), provider=provider, acknowledged_after=timedelta(seconds=0.2)
        )

        async def run():
            given = [
                Incoming(who=ERIN, to={"chat": 7}, message_id=f"m{at}", text=text, quoted=Quoted(None, "so"))
                for at, text in enumerate(texts)
            ]
            await hook.receive(given)
            received.set()
            await asyncio.sleep(60)

        asyncio.run(run())

    with pytest.raises(AssertionError, match="ended with status 2304"):
        Child(dies, 60).result()
    clock.forward(minutes=2)
    other = Webhook(memory=webhook.memory, graph=webhook.graph, provider=webhook.provider)
    others = Kept()
    others.name = "another bot"
    stranger = Webhook(memory=memory, graph=webhook.graph, provider=others)

    async def look():
        for each in (webhook, other, stranger):
            await each.start()
        while len(webhook.provider.sent) < len(texts):  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.05)
        for each in (webhook, other, stranger):
            await each.close()
        clock.forward(minutes=2)
        await webhook.start()
        await asyncio.sleep(0.5)
        await webhook.close()

    asyncio.run(asyncio.wait_for(look(), 60))

    assert [text.split()[-2:] for text in webhook.provider.texts()] == [["first", "?"], ["“so”]", "second"]]
    assert {message.to["chat"] for message, _ in webhook.provider.sent} == {7}
    assert others.sent == []
    with memory.database.read() as connection:
        assert connection.execute(select(acknowledged)).all() == []


@pytest.mark.spec("C-21")
def test_what_goes_back_in_the_response_goes_back_again_and_what_is_late_is_sent(memory):
    responded = asyncio.Event()

    async def agent(state):
        if "slowly" in state["messages"][-1].text:
            await responded.wait()
        return {"messages": AIMessage("done")}

    provider = Kept()
    hook = Webhook(memory=memory, graph=chat_graph(memory, agent), provider=provider)

    async def run():
        quick = Incoming(who=ERIN, message_id="q", text="quickly")
        slow = Incoming(who=JASON, message_id="s", text="slowly")
        patient, hasty = timedelta(seconds=60), timedelta(seconds=0.05)
        told = [
            await hook.respond(each, within) for each, within in ((quick, patient), (quick, patient), (slow, hasty))
        ]
        responded.set()
        await hook.close()
        return told

    assert asyncio.run(run()) == [["done"], ["done"], []]
    assert provider.texts() == ["done"]
