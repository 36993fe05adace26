"""Tracing shows no prompt of the package's own calls of a chat model, and of its nodes only that they worked."""

from collections.abc import Callable
from typing import TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.constants import TAG_NOSTREAM
from langgraph.types import TracePolicy, omit_payload

_Result = TypeVar("_Result")

_ALONE: RunnableConfig = {"callbacks": [], "tags": [TAG_NOSTREAM]}

TRACE_POLICY = TracePolicy(process_inputs=omit_payload, process_outputs=omit_payload)
"""The policy for spans of the memory: they tell that it worked and how long, and nothing that was said or is known."""


def untraced(call: Callable[[RunnableConfig], _Result]) -> _Result:
    """Return what `call` gives for the config that its model is to be called with.

    The surrounding run passes its tracers and streams on to no part of the call, and the environment switches none on.
    To see these calls, give the model callbacks of its own.
    """
    # Imported here: each call of a model needs it, but importing this package should not cost it.
    from langsmith.run_helpers import tracing_context  # noqa: PLC0415

    with tracing_context(enabled=False):
        return call(RunnableConfig(**_ALONE))
