"""Everything of a person is gone when they ask for it; until the receipt's time is over it can come back."""

from datetime import datetime
from typing import Literal, Self

from pydantic import BaseModel, Field

from langmem_plugin.database.audit_trail import keyed_hash
from langmem_plugin.errors import UnknownErasure
from langmem_plugin.identifiers import normalised
from langmem_plugin.privacy.receipts import ErasureReceipt
from langmem_plugin.web.api.calls import Call, Called
from langmem_plugin.web.api.fields import Body, Id
from langmem_plugin.web.api.routing import Routes

routes = Routes("erasure")
PATH = "/api/erasure"


class Receipt(BaseModel):
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

    @classmethod
    def of(cls, receipt: ErasureReceipt) -> Self:
        held = receipt.as_dict()
        return cls(**{name: held[name] for name in cls.model_fields})


class OneReceipt(BaseModel):
    receipt: Receipt


class NewErasure(Body):
    now: bool = Field(
        default=False, description="true: at once and for good, with nothing to restore; else after `due_at`"
    )


@routes.post(PATH, statuses=(202,))
def erase_person(call: Called, wanted: NewErasure) -> OneReceipt:
    """Delete everything of the person, with the tokens that open their memory; keep the id of the receipt.

    Nothing is found, listed or answered from any more, at once. Until `due_at` an operator can restore it.
    """
    call.carries_away()
    return OneReceipt(receipt=Receipt.of(call.memory.erase(call.identifier, now=wanted.now)))


@routes.get(PATH + "/{erasure_id}")
def read_receipt(call: Called, erasure_id: Id) -> OneReceipt:
    """What became of an erasure."""
    call.reads(erasure_id, also_of_strangers=True)
    return OneReceipt(receipt=Receipt.of(_theirs(call, erasure_id)))


@routes.post(PATH + "/{erasure_id}/restore")
def restore_person(call: Called, erasure_id: Id) -> OneReceipt:
    """Undo an erasure whose time is not over: everything is there again, with what was said since."""
    _theirs(call, erasure_id)
    return OneReceipt(receipt=Receipt.of(call.memory.restore_erased(erasure_id)))


def _theirs(call: Call, erasure_id: str) -> ErasureReceipt:
    """The receipt, found by the hashes of whoever was erased: their identifiers are not kept."""
    receipt = call.memory.erasure.receipt(erasure_id)
    key = normalised(call.identifier, call.memory.settings.default_region)
    with call.memory.database.read() as connection:
        hashes = {keyed_hash(connection, each).hex() for each in {key, call.memory.people.person_of(key)}}
    if hashes.isdisjoint(receipt.identifiers):
        raise UnknownErasure(f"there is no erasure {erasure_id!r}: look for its id in the receipt")
    return receipt
