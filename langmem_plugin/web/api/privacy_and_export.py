"""The person's rights: consent to what is remembered by itself, their data out and in, and the erasure of it all."""

import tempfile
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import Depends, Query
from pydantic import AliasChoices, Field, computed_field
from starlette.requests import Request
from starlette.responses import Response

from langmem_plugin.database.audit_recording import keyed_hash
from langmem_plugin.errors import TooManyRequests, UnknownErasure
from langmem_plugin.identifiers import normalised
from langmem_plugin.memory.keep.retention import KEPT_FOR
from langmem_plugin.people.consent_records import Given
from langmem_plugin.people.rate_limits import LARGEST_IMPORT
from langmem_plugin.portability import document_files
from langmem_plugin.portability.imported_records import ImportReport, Remark
from langmem_plugin.portability.sources import onyx
from langmem_plugin.privacy.erasure_receipts import ErasureReceipt
from langmem_plugin.web.api.fields import Body, Id, Told
from langmem_plugin.web.api.request_context import Call, Called
from langmem_plugin.web.api.routing_and_envelope import IMPORTS, Answer, answer, routes_of
from langmem_plugin.web.app_context import exported

consent_routes, export_routes, erasure_routes = (
    routes_of("consent"),
    routes_of("export and import"),
    routes_of("erasure"),
)
CONSENT, ERASURE = "/api/consent", "/api/erasure"
_LARGEST_UNPACKED = 4 * LARGEST_IMPORT
_FILE = {"schema": {"type": "string", "format": "binary"}}
_DOCUMENT = {"application/json": {"schema": {"type": "object"}}}


class Rights(Told):
    """Everybody has all of them; what was replaced, archived or is past its time is kept for so many days."""

    can_export: bool = True
    can_delete: bool = True
    can_correct: bool = True
    can_limit_processing: bool = True
    data_retention_days: int = KEPT_FOR.days
    right_to_be_forgotten: bool = True


class Permitted(Told):
    """`extraction`: facts are found in what they say; `personal` and `sensitive`: such facts too."""

    extraction: Given
    personal: Given
    sensitive: Given
    rights: Rights = Rights()

    @computed_field
    def allow_memory_extraction(self) -> bool:
        return bool(self.extraction.allowed)

    @computed_field
    def allow_personal_memories(self) -> bool:
        return bool(self.personal.allowed)

    @computed_field
    def allow_sensitive_memories(self) -> bool:
        return bool(self.sensitive.allowed)


def _also(*names: str) -> Any:
    return Field(default=None, validation_alias=AliasChoices(*names))


class ChangedConsent(Body):
    """The changes; all that is not named stays as it is."""

    extraction: bool | None = _also("extraction", "allow_memory_extraction")
    personal: bool | None = _also("personal", "allow_personal_memories")
    sensitive: bool | None = _also("sensitive", "allow_sensitive_memories")


@consent_routes.get(CONSENT, response_model=Answer[Permitted])
def read_consent(call: Called) -> Any:
    """Read which uses of their words the person allows."""
    return call.memory.consent.of(call.reads("consent"))


@consent_routes.patch(CONSENT, response_model=Answer[Permitted])
def change_consent(call: Called, wanted: ChangedConsent) -> Any:
    """Allow or forbid what is named: only what the person has said. Null is as if they had never been asked."""
    return call.memory.consent.set(call.person(), **wanted.model_dump(exclude_unset=True))


class Receipt(Told):
    """Proof of an erasure, without any name in it."""

    id: str
    state: Literal["held", "erased", "done", "restored"] = Field(description="held: it can be undone until due_at")
    asked_at: datetime
    due_at: datetime
    done_at: datetime | None
    counts: dict[str, int]
    verified: bool = Field(description="nothing is left, as was looked for")
    left: list[str]
    remains: list[str]
    not_covered: list[str]


class NewErasure(Body):
    now: bool = Field(
        default=False, description="true: at once and for good, with nothing to restore; else after `due_at`"
    )


@erasure_routes.post(ERASURE, response_model=answer(receipt=Receipt), status_code=202)
def erase_person(call: Called, wanted: NewErasure) -> Any:
    """Delete everything of the person, with the tokens that open their memory; keep the id of the receipt.

    Nothing is found, listed or answered from any more, at once. Until `due_at` an operator can restore it.
    """
    call.carries_away()
    return {"receipt": call.memory.erase(call.identifier, now=wanted.now)}


@erasure_routes.get(ERASURE + "/{erasure_id}", response_model=answer(receipt=Receipt))
def read_receipt(call: Called, erasure_id: Id) -> Any:
    """Read the receipt of an erasure: what was deleted, and what is still under way."""
    call.reads(erasure_id, also_of_strangers=True)
    return {"receipt": _theirs(call, erasure_id)}


@erasure_routes.post(ERASURE + "/{erasure_id}/restore", response_model=answer(receipt=Receipt))
def restore_person(call: Called, erasure_id: Id) -> Any:
    """Undo an erasure whose time is not over: everything is there again, with what was said since."""
    _theirs(call, erasure_id)
    return {"receipt": call.memory.restore_erased(erasure_id)}


def _theirs(call: Call, erasure_id: str) -> ErasureReceipt:
    """The receipt, found by the hashes of the person's identifiers, which are not kept. Raises UnknownErasure."""
    receipt = call.memory.erasure.receipt(erasure_id)
    key = normalised(call.identifier, call.memory.settings.default_region)
    keys = {key, call.memory.people.person_of(key)}
    with call.memory.database.read() as connection:
        hashes = {keyed_hash(connection, each).hex() for each in keys}
    if hashes.isdisjoint(receipt.identifiers):
        raise UnknownErasure(f"there is no erasure {erasure_id!r}: look for its id in the receipt")
    return receipt


_importing: dict[str, Path] = {}
"""The documents that are being imported, by their person."""


class Imported(Told):
    """By kind of record: what was stored, and what was there already."""

    stored: dict[str, int]
    there_already: dict[str, int]
    skipped: list[Remark]
    doubted: list[Remark]


@export_routes.get(
    "/api/memory/export",
    response_class=Response,
    responses={200: {"description": "the file", "content": {**_DOCUMENT, "application/zip": _FILE}}},
)
def export_memory(call: Called, form: Annotated[Literal["json", "csv"], Query(alias="format")] = "json") -> Response:
    """All that is stored of the person: one JSON document, or tables of CSV in a zip.

    The document is what POST /api/memory/import takes, here or elsewhere.
    """
    call.carries_away()
    return exported(call.memory, call.reads("export"), form)


async def _uploaded(request: Request) -> AsyncIterator[Path]:
    """The body as a file, until the answer is sent; it is never held in memory as a whole."""
    with tempfile.TemporaryDirectory(prefix="langmem-import-") as folder:
        path = Path(folder) / "document.json"  # or a zip: the name does not matter
        with path.open("wb") as file:
            async for chunk in request.stream():
                await to_thread.run_sync(file.write, chunk)
        yield path


@export_routes.post(
    IMPORTS,
    response_model=Answer[Imported],
    openapi_extra={"requestBody": {"required": True, "content": {**_DOCUMENT, "application/octet-stream": _FILE}}},
)
def import_memory(call: Called, uploaded: Annotated[Path, Depends(_uploaded)]) -> Any:
    """Store what an export gave, as the person's: with ids, dates and states, and nothing twice; or an export of Onyx.

    What cannot be read is skipped and named. One document of a person is taken at a time.
    """
    # The limit of what an import may hold in memory is for one. `setdefault` is one step, whatever threads do.
    if _importing.setdefault(call.identifier, uploaded) is not uploaded:
        raise TooManyRequests("an import of this person is still on its way: wait for it to end", retry_after=10)
    try:
        return _import(call, uploaded)
    finally:
        del _importing[call.identifier]


def _import(call: Call, uploaded: Path) -> dict[str, Any]:
    memory, of_themselves = call.memory, not call.caller.is_operator
    if onyx.recognises(uploaded):
        return _imported(memory.importer.run(onyx.records(uploaded), phone=call.identifier))
    document = document_files.read(uploaded, largest=_LARGEST_UNPACKED)
    # A person may not name further identifiers of theirs.
    left_out = ["identifiers"] if of_themselves and document.pop("identifiers", None) else []
    report = memory.import_person(document, phone=call.identifier, by_themselves=of_themselves)
    return _imported(report, left_out)


def _imported(report: ImportReport, left_out: Sequence[str] = ()) -> dict[str, Any]:
    reason = "an operator links identifiers, not an import by the person"
    return {
        "stored": {str(kind): many for kind, many in report.stored.items()},
        "there_already": {str(kind): many for kind, many in report.there_already.items()},
        "skipped": [*(Remark(each, reason) for each in left_out), *report.skipped],
        "doubted": report.doubted,
    }
