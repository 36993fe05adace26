"""What a notebook shows of our records: all of them as tables, and whatever people wrote as text and nothing else."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langmem_plugin import PhoneMemory, resolve
from langmem_plugin.notebook_view import LONGEST, LONGEST_OF_MANY, MOST, Listed, card, table
from tests.cases import for_each

pytestmark = pytest.mark.spec("U-7")

ERIN = "+972501234567"
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'& </td></table></div><style>*{}</style> \u202etxt.exe\u202c"


class Tags(HTMLParser):
    """Every tag that a browser would see, with its attributes, and all of the text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text = set(), set(), ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


def assert_is_only_text(html):
    seen = Tags(html)
    assert seen.tags <= {"div", "style", "table", "thead", "tbody", "tr", "th", "td", "span"}
    assert seen.attributes <= {"class", "dir", "title", "style", "data-name"}
    assert html.count("<style>") == html.count("</style>") == 1
    assert "<script>alert(1)</script>" in seen.text
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", html)


@for_each("value", [HOSTILE, [HOSTILE]], ids=["text", "list"])
def test_what_people_wrote_is_text_and_nothing_else(value):
    for html in (card(HOSTILE, {HOSTILE: value}), table([{HOSTILE: value}], HOSTILE)):
        assert_is_only_text(html)


def test_long_texts_lists_and_tables_end_and_say_so():
    assert f"({10_000 - LONGEST:,} letters more)" in card("", {"text": "x" * 10_000})
    assert f"({10_000 - LONGEST_OF_MANY:,} letters more)" in table([{"text": "x" * 10_000}])
    assert "and 5 more" in card("", {"list": ["x"] * (MOST + 5)})

    class One:
        def cells(self):
            return {"text": "one"}

    assert "and 7 more" in Listed([One()] * (MOST + 7))._repr_html_()
    assert len(card("", {"text": "\u202e" * 10**6})) < 40_000


def test_light_and_dark_are_the_systems_or_the_notebooks():
    html = card("", {"text": "one"})
    for theme in ("prefers-color-scheme:dark", "data-jp-theme-light=false", ".vscode-dark"):
        assert theme in html


def test_a_column_that_nobody_fills_is_left_out_and_nothing_is_said_to_be_nothing():
    html = table([{"a": 1, "b": None, "c": ""}, {"a": 2, "b": None, "d": 0}])
    assert re.findall(r"<th>(\w)</th>", html) == ["a", "d"]
    assert "nothing" in Tags(table([])).text


def test_a_resolution_shows_what_was_shown_said_and_meant():
    html = resolve(f"save number 2 {HOSTILE}", [AIMessage(f"1. Soup {HOSTILE}\n2. Pie {HOSTILE}")])._repr_html_()
    assert_is_only_text(html)
    assert {"shown", "said", "meant"} <= set(re.findall(r"<th>(\w+)</th>", html))


@pytest.fixture
def memory(database_url, clock, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as opened:
        yield opened


def test_every_record_shows_itself_and_runs_nothing_that_people_wrote(memory):
    fact = f"My dentist is Dr. Cohen {HOSTILE}"
    made = memory.service.remember(ERIN, fact, quote=HOSTILE, tags=[HOSTILE], source_type="extracted_from_chat")
    memory.sessions.record(ERIN, HumanMessage(HOSTILE))
    session_id = memory.sessions.get_session(ERIN).session_id
    (found, *_) = memory.service.search(ERIN, "dentist", min_relevance=0.0)
    messages = memory.sessions.messages(session_id)
    for record in (
        made,
        made.memory,
        *messages,
        memory.provenance.why(ERIN, made.id, query="dentist"),
    ):
        assert_is_only_text(record._repr_html_())
    for records in ([made], [found], messages):
        assert_is_only_text(Listed(records, HOSTILE)._repr_html_())
    session = memory.sessions.session(session_id)
    assert_is_only_text(replace(session, client_name=HOSTILE)._repr_html_())
    assert "50123" not in session._repr_html_()


def test_an_erasure_shows_itself(memory):
    memory.sessions.record(ERIN, HumanMessage(f"the boiler leaks {HOSTILE}"))
    receipt = memory.erase(ERIN)
    html = replace(receipt, left=(HOSTILE,))._repr_html_()
    assert_is_only_text(html)
    assert f"{datetime(2026, 3, 1, 9, 0, tzinfo=UTC):%Y-%m-%d %H:%M}" in html
