"""The person's consent to what is remembered without being told to."""

from datetime import datetime
from typing import Any, Self

from pydantic import AliasChoices, BaseModel, Field

from langmem_plugin.memory.keep.retention import KEPT_FOR
from langmem_plugin.people.consents import PERMISSIONS, Consent, Permissions
from langmem_plugin.web.api.calls import Called
from langmem_plugin.web.api.fields import Body
from langmem_plugin.web.api.routing import Routes

routes = Routes("consent")
PATH = "/api/consent"


class Allowed(BaseModel):
    allowed: bool | None = Field(description="null: never asked")
    since: datetime | None


class Rights(BaseModel):
    """Everybody has all of them; what was replaced, archived or is past its time is kept for so many days."""

    can_export: bool = True
    can_delete: bool = True
    can_correct: bool = True
    can_limit_processing: bool = True
    data_retention_days: int = KEPT_FOR.days
    right_to_be_forgotten: bool = True


class Permitted(BaseModel):
    """`extraction`: facts are found in what they say; `personal` and `sensitive`: such facts too."""

    extraction: Allowed
    personal: Allowed
    sensitive: Allowed
    allow_memory_extraction: bool
    allow_personal_memories: bool
    allow_sensitive_memories: bool
    rights: Rights

    @classmethod
    def of(cls, held: Consent) -> Self:
        given: dict[str, Any] = {name: getattr(held, name) for name in PERMISSIONS}
        return cls(
            **{name: Allowed(allowed=each.allowed, since=each.since) for name, each in given.items()},
            allow_memory_extraction=bool(held.extraction.allowed),
            allow_personal_memories=bool(held.personal.allowed),
            allow_sensitive_memories=bool(held.sensitive.allowed),
            rights=Rights(),
        )


def _named(*names: str) -> Any:
    return Field(default=None, validation_alias=AliasChoices(*names))


class ChangedConsent(Body):
    """What is not named stays as it is."""

    extraction: bool | None = Field(
        default=None, validation_alias=AliasChoices("extraction", "allow_memory_extraction")
    )
    personal: bool | None = Field(default=None, validation_alias=AliasChoices("personal", "allow_personal_memories"))
    sensitive: bool | None = Field(default=None, validation_alias=AliasChoices("sensitive", "allow_sensitive_memories"))


@routes.get(PATH + "/rights")
def read_rights(call: Called) -> Rights:
    """What the person may do with what is remembered of them."""
    call.reads("consent")
    return Rights()


@routes.get(PATH)
def read_consent(call: Called) -> Permitted:
    """What the person allows."""
    return Permitted.of(call.memory.consent.of(call.reads("consent")))


@routes.patch(PATH)
def change_consent(call: Called, wanted: ChangedConsent) -> Permitted:
    """Allow or forbid what is named: only what the person has said. Null is as if they had never been asked."""
    named: dict[str, Any] = {name: getattr(wanted, name) for name in wanted.model_fields_set}
    permissions: Permissions = named  # type: ignore[assignment] # by the names of its fields
    return Permitted.of(call.memory.consent.set(call.person(), **permissions))


@routes.delete(PATH)
def withdraw_consent(call: Called) -> Permitted:
    """Find nothing any more in what they say; what was remembered stays until it is deleted."""
    return Permitted.of(call.memory.consent.switch_off(call.person()))
