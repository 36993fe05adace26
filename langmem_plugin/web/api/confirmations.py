"""The memories that wait for the person's word: a confirmed one is remembered, a declined one is forgotten."""

from pydantic import Field

from langmem_plugin.web.api.calls import Called
from langmem_plugin.web.api.facts import Fact, Facts, OneFact
from langmem_plugin.web.api.fields import Id
from langmem_plugin.web.api.routing import Answered, Routes

routes = Routes("confirmations")
PATH = "/api/confirmations"


class Waiting(Facts):
    total: int
    approval_rate: float | None = Field(description="of what was confirmed or declined so far, the part confirmed")


@routes.get(PATH)
def list_confirmations(call: Called) -> Waiting:
    """List what waits for the person's word, the first first."""
    owner = call.reads("confirmations")
    found = call.memory.confirmations.waiting(owner)
    return Waiting(
        memories=[Fact.of(each) for each in found],
        total=len(found),
        approval_rate=call.memory.confirmations.approval_rate(owner),
    )


@routes.post(PATH + "/{memory_id}/confirm", gives=("ETag",))
def confirm_memory(call: Called, memory_id: Id) -> Answered[OneFact]:
    """Remember what waited; what it contradicts is replaced by it."""
    kept = call.memory.confirmations.confirm(call.person(), memory_id)
    return Answered(OneFact(memory=Fact.of(kept)), tag=str(kept.revision))


@routes.post(PATH + "/{memory_id}/decline")
def decline_memory(call: Called, memory_id: Id) -> OneFact:
    """Forget what waited."""
    return OneFact(memory=Fact.of(call.memory.confirmations.decline(call.person(), memory_id)))
