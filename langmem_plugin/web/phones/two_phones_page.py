"""The page with two phones: each text is one request to the agent's process, and its events stand beside."""

import contextlib
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Form
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from langmem_plugin.errors import ConfigurationError
from langmem_plugin.web.app_context import RootNoted
from langmem_plugin.web.browser_security import BrowserSafety
from langmem_plugin.web.look.page_templates import Pages
from langmem_plugin.web.look.static_files import StaticLook
from langmem_plugin.web.phones.agent_process import AgentProcess

SILENCE = timedelta(minutes=31)
_LONGEST, _MOST_SHOWN = 2_000, 60
_OWN_MACHINE = ["127.0.0.1", "localhost", "[::1]"]
TOUR = (
    ("first", "Erin asks for a list: tap what stands under her talk."),
    ("crash", "Kill the agent's process, as a crash would."),
    ("first", "The new process knows what was shown: tap “save number 2”."),
    ("second", "Jason asks from his own phone, and sees what Erin saved."),
    ("first", "Erin tells something for later."),
    ("silence", "Half an hour of silence ends the conversation."),
    ("first", "A new conversation has begun: what was told is recalled."),
)
"""The next steps, each with its reason: the phone that texts, or what happens to the agent."""


@dataclass
class Phone:
    """One person's phone; `script` holds the texts offered to be tapped next."""

    name: str
    number: str
    script: list[str] = field(default_factory=list)
    bubbles: list[tuple[str, str, datetime]] = field(default_factory=list)
    """The speaker (me, agent or note), the text and the time."""

    @property
    def last_said(self) -> str | None:
        return next((text for who, text, _ in reversed(self.bubbles) if who == "me"), None)


@dataclass(frozen=True)
class Happening:
    """The events for one text: kinds are meant, shown, recalled, called, learnt, note."""

    at: datetime
    who: str
    said: str
    parts: Sequence[Mapping[str, Any]]


class Stage:
    """The phones, the agent, and a clock that is moved by hand.

    The `tour` holds the steps that are left of it, if both phones have texts to say.
    """

    def __init__(self, agent: AgentProcess, phones: Sequence[Phone], now: Callable[[], datetime]) -> None:
        self.agent, self.phones, self._now = agent, {each.number: each for each in phones}, now
        self.passed = timedelta()
        self.tour = [*TOUR] if all(each.script for each in phones) else []
        self.happened: list[Happening] = []
        self._writing = threading.Lock()

    @property
    def now(self) -> datetime:
        return self._now() + self.passed

    def _went_on(self, step: str) -> None:
        if self.tour and self.tour[0][0] == step:
            self.tour.pop(0)

    def text(self, phone: Phone, text: str) -> None:
        """Send one text, delivered again until it is answered."""
        self._went_on("first" if phone is next(iter(self.phones.values())) else "second")
        with self._writing:
            phone.bubbles.append(("me", text, self.now))
            if phone.script and phone.script[0] == text:
                phone.script.pop(0)
        told = {"do": "text", "phone": phone.number, "text": text, "id": str(uuid.uuid4())}
        answer, tries = self._ask(told)
        parts = answer.get("parts", [])
        if tries > 1:
            again = "the process was killed before it had answered: the message was delivered again, and answered once"
            parts = [{"kind": "note", "text": again}, *parts]
        with self._writing:
            phone.bubbles.append(("agent", answer["reply"], self.now))
            self.happened.append(Happening(self.now, phone.name, text, parts))

    def wait(self) -> None:
        """Let both fall silent: sessions end, and what was said is read."""
        self._went_on("silence")
        self.passed += SILENCE
        answer, _ = self._ask({"do": "silence", "phones": [*self.phones]})
        parts = [{**each, "who": self.phones[each["who"]].name} if "who" in each else each for each in answer["parts"]]
        minutes = int(SILENCE.total_seconds()) // 60
        with self._writing:
            for each in self.phones.values():
                if each.bubbles:
                    each.bubbles.append(("note", f"{minutes} minutes later", self.now))
            self.happened.append(Happening(self.now, "", f"{minutes} minutes of silence", parts))

    def crash(self) -> None:
        """Kill the process at once, and start another one on the same database."""
        self._went_on("crash")
        before = self.agent.pid
        self.agent.kill()
        self.agent.start()
        told = f"process {before} was killed; process {self.agent.pid} goes on with the same database"
        with self._writing:
            self.happened.append(Happening(self.now, "", told, []))

    def other(self) -> None:
        """Text from the second phone: its next script line, else what the first one said last."""
        first, second = [*self.phones.values()][:2]
        said = second.script[0] if second.script else first.last_said
        if said is not None:
            self.text(second, said)

    def _ask(self, request: dict[str, Any]) -> tuple[dict[str, Any], int]:
        return self.agent.ask(request | {"passed": self.passed.total_seconds()})


def phones_app(agent: AgentProcess, phones: Sequence[Phone], *, now: Callable[[], datetime] | None = None) -> FastAPI:
    """Make an ASGI application for this machine: it answers no other host's name, and ends the agent's process."""

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        agent.close()

    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, lifespan=lifespan)
    stage = Stage(agent, phones, now or (lambda: datetime.now(UTC)))
    pages = Pages(Path(__file__).parent / "templates")

    def back(request: Request) -> Response:
        return RedirectResponse(request.url_for("show"), 303)

    @app.get("/")
    def show(request: Request) -> Response:
        return pages.page(
            request,
            "phones.html",
            phones=[*stage.phones.values()],
            happened=stage.happened[-_MOST_SHOWN:][::-1],
            now=stage.now,
            passed=stage.passed,
            pid=agent.pid,
            step=stage.tour[0] if stage.tour else None,
            steps=(len(TOUR) - len(stage.tour) + 1, len(TOUR)),
        )

    @app.post("/text")
    def text(request: Request, phone: Annotated[str, Form()], text: Annotated[str, Form()] = "") -> Response:
        if phone in stage.phones and text.strip():
            stage.text(stage.phones[phone], text.strip()[:_LONGEST])
        return back(request)

    @app.post("/silence")
    def silence(request: Request) -> Response:
        stage.wait()
        return back(request)

    @app.post("/crash")
    def crash(request: Request) -> Response:
        stage.crash()
        return back(request)

    @app.post("/other")
    def other(request: Request) -> Response:
        stage.other()
        return back(request)

    @app.exception_handler(ConfigurationError)
    def ended(request: Request, error: ConfigurationError) -> Response:
        return pages.page(request, "ended.html", status=503, said=str(error))

    app.mount("/look", StaticLook(), name="look")
    app.add_middleware(BrowserSafety)
    app.add_middleware(RootNoted)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=_OWN_MACHINE)
    return app
