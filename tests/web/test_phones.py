"""Two phones in a browser: what each is told, what stands beside, and a process that is killed while it answers."""

import re
import sys
import threading
from datetime import UTC, datetime
from itertools import product
from types import SimpleNamespace

import pytest
from axe_playwright_python.sync_playwright import Axe
from starlette.testclient import TestClient

from langmem_plugin.errors import ConfigurationError
from langmem_plugin.web.phones import agent_process
from langmem_plugin.web.phones.two_phones_page import TOUR, Phone, Stage, phones_app
from tests.waiting import until
from tests.warm_process import WarmProcess
from tests.web.conftest import served_at

pytestmark = [pytest.mark.slow, pytest.mark.spec("U-5")]
ERIN, JASON = "+12025550123", "+12025550145"
SLOW = """
import pathlib, time
from langgraph.graph import START, MessagesState, StateGraph

def made(memory):
    def agent(state):
        asked = pathlib.Path("asked")
        is_first = not asked.exists()
        with asked.open("a") as file:
            file.write(".")
        time.sleep(100 if is_first and "slowly" in str(state["messages"][-1].content) else 0)
        return {"messages": [("ai", "answered <b>" + state["messages"][-1].content)]}
    return StateGraph(MessagesState).add_node("agent", agent).add_edge(START, "agent").compile(checkpointer=memory.saver)
"""


def phones():
    return [Phone("Erin", ERIN, ["find me a chicken dinner", "save number 2"]), Phone("Jason", JASON)]


COMMAND = [sys.executable, "-m", "langmem_plugin.cli.demo_agent"]


def _warm(command, **_):
    return WarmProcess("from langmem_plugin.cli.demo_agent import main; main()", *command[len(COMMAND) :])


@pytest.fixture
def agent(tmp_path, monkeypatch):
    """Starts the small agent, or a graph of one's own, on an empty database."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LANGMEM_MODEL", raising=False)
    (tmp_path / "own.py").write_text(SLOW)
    made = []

    def start(graph="", *, anew=False):
        if not anew:  # by the command of `demo --web`
            monkeypatch.setattr(agent_process, "subprocess", SimpleNamespace(Popen=_warm, PIPE=None))
        arguments = [f"sqlite:///{tmp_path}/langmem.db", "", graph, str(tmp_path / "household.json")]
        made.append(agent_process.AgentProcess([*COMMAND, *arguments]))
        made[-1].start()
        return made[-1]

    yield start
    for each in made:
        each.close()


def texted(page):
    return " ".join(re.sub("<[^>]+>", " ", page).split())


def test_a_talk_shows_the_calls_what_number_2_means_what_is_learnt_and_why_it_is_recalled(agent):
    with TestClient(phones_app(agent(), phones()), base_url="http://127.0.0.1:8421") as client:
        for said in (
            "you may remember what I tell you",
            "my daughter Mia is seven",
            "find me a chicken dinner",
            "save number 2",
        ):
            page = client.post("/text", data={"phone": ERIN, "text": said}).text
        assert "“number 2”: Chicken soup (its number)" in texted(page)
        assert "Called save_dinner name Chicken soup" in texted(page)
        assert "of the 3 that were shown" in texted(page)
        before = agent_of(page)
        client.post("/silence")
        page = client.post("/crash").text
        assert "Learnt of Erin Daughter Mia is seven , from my daughter Mia is seven" in texted(page)
        assert agent_of(page) != before
        page = texted(client.post("/text", data={"phone": ERIN, "text": "how old is Mia?"}).text)
        assert "Recalled Daughter Mia is seven" in page
        assert "Nothing that I have shown you" in texted(
            client.post("/text", data={"phone": ERIN, "text": "save number 2"}).text
        )
        page = texted(client.post("/other").text)
        assert "Jason : save number 2" in page


def test_a_tour_leads_through_number_2_the_crash_the_second_phone_and_the_silence(agent):
    erin = Phone(
        "Erin", ERIN, ["find me a chicken dinner", "save number 2", "/remember Mia is seven", "how old is Mia?"]
    )
    jason = Phone("Jason", JASON, ["what's on our calendar?"])
    with TestClient(phones_app(agent(), [erin, jason]), base_url="http://127.0.0.1:8421") as client:
        page, seen = client.get("/").text, []
        while told := re.search(r"(\d) of 7\.</strong> (.*?)</p>", page):
            seen.append(int(told[1]))
            step = TOUR[seen[-1] - 1][0]
            assert page.count("data-next") == 1
            if step == "first":
                page = client.post("/text", data={"phone": ERIN, "text": erin.script[0]}).text
            else:
                page = client.post({"second": "/other", "crash": "/crash", "silence": "/silence"}[step]).text
        assert seen == [1, 2, 3, 4, 5, 6, 7]
        assert "“number 2”: Chicken soup (its number)" in texted(page)
        assert "Recalled Mia is seven" in texted(page)
        assert client.get("/").text.count("data-next") == 0


def agent_of(page):
    return re.search(r"Process (\d+)", page)[1]


def test_what_is_killed_while_it_answers_is_delivered_again_and_answered_once(agent, tmp_path):
    stage = Stage(agent("own:made"), phones(), lambda: datetime.now(UTC))
    erin = stage.phones[ERIN]
    sender = threading.Thread(target=stage.text, args=(erin, "slowly please"))
    sender.start()
    asked = tmp_path / "asked"
    until(lambda: asked.exists() and asked.read_text() == ".")
    stage.crash()
    sender.join(60)
    assert [who for who, _, _ in erin.bubbles] == ["me", "agent"]
    assert erin.bubbles[-1][1] == "answered <b>slowly please"
    assert any("delivered again" in str(each.parts) for each in stage.happened)
    assert asked.read_text() == ".."


def test_a_graph_that_is_not_there_is_said_and_no_other_name_of_the_machine_is_served(agent):
    with pytest.raises(ConfigurationError, match="there is no module nowhere"):
        agent("nowhere:graph")
    client = TestClient(phones_app(agent("own:made"), phones()), base_url="http://127.0.0.1")
    page = client.post("/text", data={"phone": JASON, "text": "hi"}).text
    assert "answered &lt;b&gt;hi" in page
    assert client.get("/", headers={"host": "rebound.example"}).status_code == 400
    assert (
        client.post("/text", data={"phone": JASON, "text": "x"}, headers={"origin": "http://evil.example"}).status_code
        == 403
    )


def test_the_page_is_for_everybody_at_every_size(agent, chromium):
    started = agent(anew=True)
    for (width, height), colours in product([(390, 844), (820, 1180), (1440, 900)], ["light", "dark"]):
        shown = f"{width} x {height}, {colours}"
        with served_at(lambda _: phones_app(started, phones())) as address:
            context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=colours)
            context.set_default_timeout(60_000)
            page = context.new_page()
            page.goto(address)
            page.get_by_label("Erin's phone").get_by_role("button", name="find me a chicken dinner").click()
            page.get_by_text("1. Lemon chicken").wait_for()
            page.get_by_label("Text as Erin").first.fill("save number 2")
            page.keyboard.press("Enter")
            page.locator(".happened p.meant", has_text="Chicken soup").wait_for()
            assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), shown
            assert Axe().run(page).response["violations"] == [], shown
            context.close()
