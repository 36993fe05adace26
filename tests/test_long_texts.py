"""What reads a text takes time in proportion to its length, whatever the text is made of."""

import json
from contextlib import suppress
from datetime import UTC, date, datetime

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langmem_plugin import PhoneMemory
from langmem_plugin.agent.citations import Citation, citations_in, with_sources
from langmem_plugin.conversation.media.inline_media import message_without_inline
from langmem_plugin.conversation.media.media_reference import references_in
from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import normalised
from langmem_plugin.memory import Memory
from langmem_plugin.memory.find.dates_in_question import named, without_days
from langmem_plugin.memory.find.tokenizer import asked, terms
from langmem_plugin.memory.instructions.conditions import Situation, parsed
from langmem_plugin.memory.instructions.standing_instructions import split
from langmem_plugin.memory.memory_types import plain
from langmem_plugin.references import clear_cache, resolve
from tests.cases import for_each
from tests.growth import is_linear

pytestmark = pytest.mark.slow

ERIN = "+972501234567"
NOW = datetime(2026, 3, 1, tzinfo=UTC)
REPEATED = (
    "number two ",
    "1 and ",
    "a",
    " ",
    "all except 2 ",
    "the cheaper one, ",
    "is it? ",
    "המרק השני ",
    "a\u0301 ",
    "[memory: ",
    "data:;a=",
    "[image: a/a, 1 bytes, ",
    "- soup\n",
    "|--|\n",
    "((",
    "in May 2026 ",
    "if then ",
)
SOUPS = json.dumps([{"title": f"Soup {number}", "price": number} for number in range(8)])


def repeating(part):
    return lambda length: (part * (length // len(part) + 1))[:length]


def number_of(text):
    with suppress(InvalidInput):
        normalised(f"+1{text}", "IL")


def shown(result=SOUPS, reply="Here they are."):
    call = {"name": "find_soups", "args": {"query": "soup"}, "id": "call"}
    return [
        HumanMessage("find soups"),
        AIMessage("", tool_calls=[call]),
        ToolMessage(result, tool_call_id="call"),
        AIMessage(reply),
    ]


def resolved(utterance, messages):
    clear_cache()
    return resolve(utterance, messages)


@pytest.mark.spec("R-4")
@for_each("part", REPEATED)
def test_what_is_meant_is_found_in_time_whoever_said_the_long_text(part):
    for work in (
        lambda text: resolved(text, shown()),
        lambda text: resolved("save number 2", [*shown(), HumanMessage(text), AIMessage("yes")]),
        lambda text: resolved("save number 2", shown(reply=text)),
        lambda text: resolved("save number 2", shown(result=text)),
    ):
        assert is_linear(work, repeating(part))


@pytest.mark.spec("R-4")
@for_each(
    "result_of",
    [
        lambda length: json.dumps([{"title": f"Soup {number}", "price": number} for number in range(length // 30)]),
        lambda length: json.dumps({f"list {n}": [{"title": f"a{n}"}, {"title": f"b{n}"}] for n in range(length // 40)}),
        lambda length: "\n".join(f"- Soup {number}" for number in range(length // 10)),
        lambda length: "[" * (length // 2) + "]" * (length // 2),
    ],
    ids=["items", "lists", "bullets", "brackets"],
)
def test_long_results_and_long_replies_are_matched_in_time(result_of):
    def reply(length):
        return "\n".join(f"{number}. Soup {number}" for number in range(1, length // 12))

    for utterance in ("save number 2", "all but 1 and 3"):
        assert is_linear(lambda text, said=utterance: resolved(said, shown(text, reply(len(text)))), result_of, 8_000)
    for utterance in ("the cheapest one", "Soup 7 please"):
        assert is_linear(lambda text, said=utterance: resolved(said, shown(text)), result_of, 8_000)


@pytest.mark.spec("C-13")
@for_each("part", REPEATED)
def test_a_long_text_is_read_in_time_by_everything_that_reads_texts(part, tmp_path):
    memory = Memory(id="m", owner=ERIN, text="owes me 5000", created_at=NOW, updated_at=NOW)
    for work in (
        lambda text: with_sources(text, [Citation(1, memory)]),
        lambda text: citations_in(f"[Memory: {text}]", [Citation(1, memory)]),
        lambda text: message_without_inline(HumanMessage(text + "base64,"), Media(tmp_path).describe),
        references_in,
        lambda text: named(text, date(2026, 3, 1), [2026]),
        without_days,
        terms,
        asked,
        plain,
        split,
        lambda text: parsed('message contains "soup bowl"')(Situation(NOW, message=text)),
        number_of,
    ):
        assert is_linear(work, repeating(part))


@pytest.mark.spec("I-3")
def test_a_condition_that_is_too_long_is_refused_unread():
    with pytest.raises(InvalidInput, match="at most 500"):
        parsed("(" * 64_000)


@pytest.mark.spec("C-17", "U-2")
@for_each("part", ["number two ", "is it? ", "[memory: ", "data:;a="])
def test_a_prompt_and_a_command_are_made_in_time(memory, part):
    assert is_linear(
        lambda text: memory.prompt({"messages": [*shown(), HumanMessage(text)]}, "", phone=ERIN), repeating(part)
    )
    assert is_linear(lambda text: memory.command(ERIN, f"/forget {text}"), repeating(part))
    assert is_linear(lambda text: memory.command(ERIN, f"/{text}"), repeating(part))


@pytest.fixture
def memory(offline_model):
    with PhoneMemory("sqlite://", embeddings=offline_model) as opened:
        opened.service.remember(ERIN, "I drink black tea")
        yield opened
