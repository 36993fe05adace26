"""The same memory for `create_agent`: recall, or a question, before the agent; the view at each model call."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NotRequired, cast

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse, hook_config
from langchain_core.messages import AnyMessage, SystemMessage, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command

from langmem_plugin.agent.graph_state import Recalled, messages_of, recalled_of
from langmem_plugin.agent.model_input import sendable
from langmem_plugin.agent.prompt_texts import joined
from langmem_plugin.agent.recall_and_write_steps import TurnContext
from langmem_plugin.errors import InvalidInput
from langmem_plugin.memory.memory_types import storable
from langmem_plugin.tracing import TRACE_POLICY


class RememberingState(AgentState[Any]):
    """An agent's state with what was recalled: see MemoryState."""

    recalled: NotRequired[Recalled]


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """The middleware made by `PhoneMemory.middleware()`. The agent's own system prompt comes first in the input."""

    state_schema = RememberingState
    trace_policy = TRACE_POLICY

    def __init__(self, context: TurnContext, *, changing: Iterable[str] | None = None) -> None:
        super().__init__()
        if isinstance(changing, str):
            raise InvalidInput(f"changing lists the names of tools: changing=[{changing!r}]")
        self._changing = None if changing is None else frozenset(changing)
        self._context = context

    @property
    def name(self) -> str:
        """A name other than the class's: deepagents has a middleware of that name, which would replace this one."""
        return "PhoneMemoryMiddleware"

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: RememberingState, runtime: Runtime[Any]) -> dict[str, Any]:  # noqa: ARG002
        if (answer := self._context.command_answered(messages_of(state))) is not None:
            return {"recalled": [], "messages": [answer], "jump_to": "end"}
        self._context.begin_step()
        return {"recalled": self._context.recall(messages_of(state))}

    @hook_config(can_jump_to=["end"])
    async def abefore_agent(self, state: RememberingState, runtime: Runtime[Any]) -> dict[str, Any]:
        # `create_agent` would run the method above on the event loop itself.
        return await self._context.in_thread(self.before_agent, state, runtime)

    def after_agent(self, state: RememberingState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002
        self._context.begin_step()
        self._context.note_use(messages_of(state), recalled_of(state))
        asking = None if state.get("structured_response") else self._context.asking_to_confirm(messages_of(state))
        return None if asking is None else {"messages": [asking]}

    async def aafter_agent(self, state: RememberingState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        return await self._context.in_thread(self.after_agent, state, runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        return handler(self.view(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        return await handler(await self._context.in_thread(self.view, request))

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        return self._context.strict.of(request, self._changing) or handler(request)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        refusal = await self._context.in_thread(self._context.strict.of, request, self._changing)
        return refusal or await handler(request)

    def view(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Return the request with the window of its messages, the instructions, the memories and the references."""
        # The person can also refer to what another middleware has cut from the request.
        standing, shown = self._context.model_input.of(
            request.messages, recalled_of(request.state), conversation=messages_of(request.state)
        )
        return request.override(
            system_message=with_standing(request.system_message, standing),
            messages=cast("list[AnyMessage]", shown),
        )


def with_standing(system: SystemMessage | None, standing: str) -> SystemMessage | None:
    """Return the agent's own system message, marks for a provider's cache included, with `standing` behind it."""
    if system is None or not system.content:
        return SystemMessage(standing) if standing else None
    if isinstance(system.content, str):
        return system.model_copy(update={"content": storable(joined(system.content, standing))})
    added = [{"type": "text", "text": f"\n\n{standing}"}] if standing else []
    return cast("SystemMessage", sendable(system.model_copy(update={"content": [*system.content, *added]})))
