"""One request of a person whose browser was let in: who they are, their language and time zone, and their pages."""

import contextlib
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Annotated, Any, cast, get_args
from zoneinfo import ZoneInfo

from babel.dates import format_date, format_time
from babel.numbers import format_decimal
from fastapi import Depends
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from langmem_plugin.agent.commands.command_call_and_paging import condition_told
from langmem_plugin.agent.replying.reply_texts import replies_in
from langmem_plugin.errors import NotAuthorized
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.people.person_settings import LanguageCode
from langmem_plugin.plugin import PhoneMemory
from langmem_plugin.web.app_context import Served, root_of
from langmem_plugin.web.authentication import PAGE, caller_by_cookie
from langmem_plugin.web.look.page_templates import Pages
from langmem_plugin.web.person import TEMPLATES

_pages = Pages(TEMPLATES)
_LOCALES: dict[LanguageCode, str] = {"en": "en_GB", "he": "he", "es": "es"}  # the day before the month, 24 hours


@dataclass(frozen=True)
class Visit:
    """One such request. `owner` is the key of the person; `identifier` the one of theirs that the link was sent to."""

    request: Request
    memory: PhoneMemory
    token_id: str
    identifier: str
    owner: OwnerKey
    language: LanguageCode
    zone: ZoneInfo

    def page(self, name: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """The page of a template, with what every page of theirs shows."""
        return shown(
            self.request,
            name,
            self.language,
            status=status,
            day=self.day,
            clock=self.clock,
            number=lambda amount: format_decimal(amount, locale=self.language),
            condition=lambda text: condition_told(text, replies_in(self.language)),
            remembers=self.memory.settings.remembers,
            **values,
        )

    def go(self, place: str) -> RedirectResponse:
        """Redirect to a page of theirs by GET, after something was done."""
        return RedirectResponse(f"{root_of(self.request)}{PAGE}/{place}", 303)

    def day(self, instant: datetime) -> str:
        """The date in the person's time zone, in words."""
        return format_date(instant.astimezone(self.zone), format="long", locale=_LOCALES[self.language])

    def clock(self, instant: datetime) -> str:
        """The time of day in the person's time zone."""
        return format_time(instant.astimezone(self.zone), format="short", locale=_LOCALES[self.language])


def shown(request: Request, name: str, language: LanguageCode, *, status: int = 200, **values: Any) -> HTMLResponse:
    """The page of a template, for anybody; the answer to an error stays out of the browser's history."""
    made = _pages.page(request, name, language=language, status=status, me=f"{root_of(request)}{PAGE}", **values)
    if status >= 400:  # noqa: PLR2004 - an error of HTTP
        made.headers["hx-push-url"] = "false"
    return made


def served_of(request: Request) -> Served:
    return cast("Served", request.app.state.served)


def browser_language(request: Request) -> LanguageCode:
    """The language for a person who has not written yet: the one their browser prefers, else the setting."""
    wanted: list[tuple[float, str]] = []
    for each in request.headers.get("accept-language", "").split(","):
        name, _, weight = each.partition(";q=")
        with contextlib.suppress(ValueError):
            wanted.append((float(weight or 1), name.strip().partition("-")[0].lower()))
    known = [each for each in sorted(wanted, key=itemgetter(0), reverse=True) if each[1] in get_args(LanguageCode)]
    return cast("LanguageCode", known[0][1]) if known else served_of(request).memory.settings.language


def _visit(request: Request) -> Visit:
    served = served_of(request)
    caller = caller_by_cookie(request, served.tokens, PAGE)
    if caller is None:
        raise NotAuthorized("this browser was not let in, or too long ago: write /memories in the chat for a new link")
    people = served.memory.people
    owner, language = people.resolve(caller.identifier), people.language(caller.identifier, browser_language(request))
    request.state.language = language
    zone = people.time_zone(caller.identifier)
    return Visit(request, served.memory, caller.token_id, caller.identifier, owner, language, zone)


Here = Annotated[Visit, Depends(_visit)]
