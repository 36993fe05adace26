"""The refusals told to a model: each says what to do next, and nothing of the inner workings."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import ValidationError

from langmem_plugin.database.audit_recording import TOOL, acting
from langmem_plugin.errors import (
    EmbeddingUnavailable,
    InstructionNotFound,
    LangMemError,
    MemoryNotFound,
    StaleMemory,
    StoreUnavailable,
)
from langmem_plugin.logs import event_log

log = event_log(__name__)

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")

_NOT_THERE: dict[type[LangMemError], str] = {
    MemoryNotFound: "This person has no such fact of their own. Look it up with recall_facts or list_facts first.",
    InstructionNotFound: "This person has no such instruction. Look it up with list_instructions first.",
}
_UNAVAILABLE = "The memory cannot be reached right now. Go on without it, and say so."
_CHANGED = "It was changed a moment ago. Read it again, and decide anew."
_NO_ARGUMENT = "this tool takes no such argument; leave it out. Whose memory it is follows from the connection"


def told(error: LangMemError) -> str:
    """The error in one or two sentences for the model."""
    for kind, sentence in _NOT_THERE.items():
        if isinstance(error, kind):
            return sentence
    if isinstance(error, EmbeddingUnavailable | StoreUnavailable):
        return _UNAVAILABLE
    if isinstance(error, StaleMemory):
        return _CHANGED
    return f"This cannot be done: {error}."


def in_sentences(work: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Wrap the work of a tool so that its failures are sentences for the model."""

    @functools.wraps(work)
    def done(*arguments: _Given.args, **named: _Given.kwargs) -> _Result:
        try:
            with acting(TOOL, within=True):
                return work(*arguments, **named)
        except LangMemError as error:
            if isinstance(error, EmbeddingUnavailable | StoreUnavailable):
                log.warning("mcp.unavailable", exc_info=error, extra={"what": work.__name__})
            raise ToolError(told(error)) from error

    return done


class PlainTool(Tool):
    """A tool that takes the arguments it names and no others, and whose errors are sentences."""

    @classmethod
    def of(cls, work: Callable[..., Any], annotations: ToolAnnotations) -> Tool:
        tool = cls.from_function(in_sentences(work), annotations=annotations, structured_output=True)
        arguments = tool.fn_metadata.arg_model
        arguments.model_config["extra"] = "forbid"
        arguments.model_rebuild(force=True)
        tool.parameters = arguments.model_json_schema()
        return tool

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        try:
            return await super().run(arguments, context, convert_result)
        except UnexpectedToolError:
            raise  # the server logs the error, and the model learns only that it failed
        except ToolError as error:
            cause = error.__cause__
            sentence = _arguments_told(cause) if isinstance(cause, ValidationError) else str(cause or error)
            raise ToolError(sentence) from cause


def _arguments_told(error: ValidationError) -> str:
    said = [
        f"{'.'.join(map(str, each['loc']))}: {_NO_ARGUMENT if each['type'] == 'extra_forbidden' else each['msg']}"
        for each in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    return f"Nothing was done, because of the arguments: {'; '.join(said)}."
