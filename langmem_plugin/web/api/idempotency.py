"""A request that creates something, sent again with its `Idempotency-Key`: done once, and answered as before."""

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Annotated, Any

from fastapi import Header
from pydantic import BaseModel
from starlette.responses import Response

from langmem_plugin.conversation.turns.message_claims import ClaimRecord
from langmem_plugin.web.api.error_responses import Refused
from langmem_plugin.web.api.request_context import Call

IdempotencyKey = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="your own: the same request sent again with it, within three days, is done once and answered as "
        "before",
    ),
]


class _DoneMeanwhile(Exception):
    """Another delivery of the same request was faster: the work of this one is undone."""


def once(call: Call, key: str, wanted: BaseModel, make: Callable[[], Any]) -> Any:
    """Call `make` and keep its answer in the same transaction, or return the answer kept for this caller's key.

    An answer is kept as the answers to messages are: encrypted, erased with the person, and for three days. Raises
    Refused for the key of another request.
    """
    if not key:
        return make()
    memory, person, route = call.memory, call.person(), call.request.scope["route"]
    claim = f"idempotency:{call.caller.token_id}:{sha256(key.encode()).hexdigest()}"
    asked = sha256(f"{route.path}\n{wanted.model_dump_json()}".encode()).hexdigest()
    claims = memory.channel.claims

    def kept() -> Response | None:
        with memory.database.read() as connection:
            found = claims.answer_in(connection, person, claim)
        if found is None:
            return None
        answer = json.loads(found.text)
        if answer["asked"] != asked:
            told = "this Idempotency-Key was sent with another request: use a new one for each"
            raise Refused(422, "idempotency-key-used", "The key is another request's", told)
        return Response(answer["body"], answer["status"], answer["headers"], "application/json")

    if (before := kept()) is not None:
        return before
    try:
        with memory.database.together():
            body = route.response_model.model_validate(make(), from_attributes=True).model_dump_json()
            status = call.response.status_code or route.status_code
            answer = {"asked": asked, "status": status, "headers": dict(call.response.headers), "body": body}
            record = ClaimRecord(claim, memory.service.now(), None, json.dumps(answer), sent=True)
            with memory.database.write() as connection:
                _refuse_done(is_new=claims.keep_record(connection, person, record, position=0, masks=False))
    except _DoneMeanwhile:
        return kept()
    return Response(body, status, answer["headers"], "application/json")


def _refuse_done(*, is_new: bool) -> None:
    if not is_new:
        raise _DoneMeanwhile
