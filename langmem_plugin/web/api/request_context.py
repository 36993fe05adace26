"""One request: its caller, the person it is about, and the note that an operator looks at a person."""

import re
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import Request
from starlette.responses import Response

from langmem_plugin.cached_property import cached_property
from langmem_plugin.database.audit_recording import record
from langmem_plugin.errors import ConfigurationError, NotAuthorized
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import MemoryService
from langmem_plugin.people import links
from langmem_plugin.people.rate_limits import Rates
from langmem_plugin.plugin import PhoneMemory
from langmem_plugin.web.api.error_responses import Refused
from langmem_plugin.web.app_context import Served, root_of
from langmem_plugin.web.authentication import Caller, caller_by_header, count_failure

PERSON_HEADER = "Langmem-Phone"
_TAG = re.compile(r'(?:W/)?"([\x21\x23-\x7e]*)"')
_DIGITS = 10
_EVERYBODYS = f"`langmem token new --operator`: everybody's, named by the header {PERSON_HEADER}"


def admitted(request: Request) -> Caller:
    """Admit a call by the token of the request. Raises NotAuthorized, or TooManyRequests if it asks too often."""
    rates: Rates = request.app.state.api_rates
    try:
        caller = caller_by_header(request, request.app.state.served.tokens)
    except NotAuthorized:
        count_failure(request, rates)
        raise
    rates.count_request(caller.token_id)
    return caller


@dataclass(frozen=True)
class Call:
    """A request as a route is given it, with the headers of its answer, the served application and the caller."""

    request: Request
    response: Response
    served: Served
    caller: Caller

    @property
    def memory(self) -> PhoneMemory:
        return self.served.memory

    @property
    def service(self) -> MemoryService:
        """The long-term memory. Raises ConfigurationError if there is none."""
        if not self.memory.settings.remembers:
            raise ConfigurationError("the long-term memory is switched off here: there are conversations alone")
        return self.memory.service

    @cached_property
    def identifier(self) -> str:
        """The identifier of the person that the request is about; with a person's token always their own.

        Raises Refused for a request that names nobody, or must not.
        """
        named = self.request.headers.get(PERSON_HEADER)
        if not self.caller.is_operator:
            if named is not None:
                told = f"this token opens one person's memory: leave the header {PERSON_HEADER} out"
                raise Refused(400, "person-named", "Whose memory it is says the token", told)
            return self.caller.identifier
        if named is None or not named.strip():
            told = f"an operator's token opens everybody's: name the person in the header {PERSON_HEADER}"
            raise Refused(400, "person-not-named", "Whose memory is meant?", told)
        if "," in named or len(self.request.headers.getlist(PERSON_HEADER)) > 1:
            told = f"one request is about one person: name one identifier in the header {PERSON_HEADER}"
            raise Refused(400, "several-people-named", "Whose memory is meant?", told)
        return links.typed(self.memory.database, _as_written(named))

    def person(self) -> OwnerKey:
        """The key of the person that the request is about; links are followed at each call."""
        return self.memory.people.resolve(self.identifier)

    def reads(self, what: str, *, also_of_strangers: bool = False) -> OwnerKey:
        """The key of the person, after noting that an operator looks at `what`. Raises Refused for a stranger."""
        person = self.person()
        if self.caller.is_operator:
            with self.memory.database.read() as connection:
                if not also_of_strangers and not links.is_known(connection, person):
                    told = f"nothing is stored of whom {PERSON_HEADER} names: /api/people lists everybody"
                    raise Refused(404, "unknown-person", "Nobody is known by this", told)
            self.note("operator.read", person, what)
        return person

    def note(self, action: str, person: str | None, what: str | None = None) -> None:
        """Note an action in the audit log."""
        with self.memory.database.write() as connection:
            record(connection, action, owner=person, subject=what)

    def carries_away(self) -> None:
        """Raise LinkedLately if a person may not delete or export everything: see `People.refuse_newly_linked`."""
        if not self.caller.is_operator:
            self.memory.people.refuse_newly_linked(self.identifier)

    def tagged(self, tag: object) -> None:
        """Name in the answer, as its ETag, the state of the thing it tells of."""
        self.response.headers["etag"] = f'"{tag}"'

    def made_at(self, path: str) -> None:
        """Name in the answer the address of the new thing."""
        self.response.headers["location"] = f"{root_of(self.request)}{path}"


def _as_written(header: str) -> str:
    """The text of a header, which is read as Latin-1; clients send other letters as UTF-8."""
    try:
        return header.strip().encode("latin-1").decode()
    except UnicodeError:
        return header.strip()


def _scheme(name: str, description: str) -> HTTPBearer:
    return HTTPBearer(scheme_name=name, description=description, auto_error=False)


_Operators = Annotated[HTTPAuthorizationCredentials | None, Security(_scheme("operator", _EVERYBODYS))]
_Persons = Annotated[
    HTTPAuthorizationCredentials | None, Security(_scheme("person", "`langmem token new PHONE`: one person's memory"))
]
_Named = Annotated[
    str | None,
    Header(alias=PERSON_HEADER, description="with an operator's token: whose memory", examples=["+972501234567"]),
]


async def _about_a_person(
    request: Request, response: Response, _person: _Persons, _operator: _Operators, _named: _Named = None
) -> Call:
    return _call(request, response)


async def _by_an_operator(request: Request, response: Response, _operator: _Operators) -> Call:
    call = _call(request, response)
    if not call.caller.is_operator:
        told = "use an operator's token: `langmem token new --operator`"
        raise Refused(403, "operators-only", "For operators alone", told)
    return call


def _call(request: Request, response: Response) -> Call:
    return Call(request, response, request.app.state.served, request.state.caller)  # the route admitted them


def _if_match(
    asked: Annotated[
        str, Header(alias="If-Match", description="an ETag: only if it has not changed since, else 412")
    ] = "",
) -> str | None:
    """The tag that `If-Match` asks for; None if it asks for none. Raises Refused for more than one tag."""
    if asked.strip() in {"", "*"}:
        return None
    if (found := _TAG.fullmatch(asked.strip())) is None:
        told = 'send one ETag as a response gave it: If-Match: "3"'
        raise Refused(400, "if-match", "If-Match cannot be read", told)
    return found[1]


def _revision(asked: Annotated[str | None, Depends(_if_match)]) -> int | None:
    """The tag of `If-Match` as a revision; -1, which no row has, if it is not a number."""
    if asked is None:
        return None
    return int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < _DIGITS else -1


Called = Annotated[Call, Depends(_about_a_person)]
CalledByOperator = Annotated[Call, Depends(_by_an_operator)]
IfMatch = Annotated[str | None, Depends(_if_match)]
Revision = Annotated[int | None, Depends(_revision)]
