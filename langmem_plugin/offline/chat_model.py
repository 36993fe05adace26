"""A chat model without a key or a network, for trying out: it picks a tool by meaning, and tells the tool's result."""

import logging
import re
import uuid
from collections.abc import Callable, Sequence
from functools import cache
from itertools import takewhile
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.config import get_config
from pydantic import Field, PrivateAttr

from langmem_plugin.conversation.config_keys import is_automated
from langmem_plugin.conversation.quoted_and_own_words import without_context
from langmem_plugin.logs import event_log
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings
from langmem_plugin.memory.memory_types import storable
from langmem_plugin.offline.english import QUESTIONS, pattern
from langmem_plugin.offline.tool_arguments import Argument, Json, fill
from langmem_plugin.offline.tool_choice import Choice, Chooser, Request, shares_verb, withholds
from langmem_plugin.references import Resolution, resolve
from langmem_plugin.references.shown.lists_in_tool_results import reads
from langmem_plugin.references.shown.result_as_text import result_text, title_of
from langmem_plugin.references.words import ENGLISH, Language

log = event_log(__name__)

FOR_TRYING_OUT = (
    "The offline model answers. It is for trying out and only picks tools. LANGMEM_MODEL names another model."
)
_MEMORY = re.compile(  # a line of the prompt's block; the time it was said is for a model, not for the person
    r"^(\d+)\. (.+?)(?: \((?:that day is over|over by now)\))?(?: \(said \d{1,2} [A-Z][a-z]{2} \d{4}\))?$", re.MULTILINE
)
_QUOTE_FROM = 0.32  # the cosine below which a memory does not answer the question
_LONGEST = 4_000  # characters that are read
_ANSWER_WORDS = 4  # a longer message may well be a new request
_ELLIPSIS = pattern("ellipsis")
_MOST_NAMED, _LONGEST_TITLE = 6, 60


@cache
def _embeddings() -> OfflineEmbeddings:
    return OfflineEmbeddings()


@cache
def _say_once(level: int) -> None:
    log.log(level, "model.offline")


class OfflineChatModel(BaseChatModel):
    """A model for trying out, for tests and for examples, never for people who depend on it. It answers with tools
    only.

    It says so in the log, once in a process: as a WARNING where it stands in `unasked`, because no model was named.
    Its whole rule:

    One tool per message, the nearest in meaning by name and description, or none when all are far; one that writes
    only where a clause begins with what it does, once, and never for a question, a doubt or a refusal, nor for a
    message that nobody wrote. Hebrew and Spanish are read as the English of their words. Each argument
    comes from the field of the same name of what the message refers to, else from the message, else from the call
    before when the message only changes that ("what about next week?"). A required argument that none of them
    gives is asked for. A tool's result is said as a numbered list. When no tool fits, a memory in the system
    prompt that is near the question is quoted; otherwise it says that it cannot help.
    """

    embeddings: Embeddings = Field(default_factory=_embeddings, exclude=True)
    unasked: bool = Field(default=False, exclude=True)
    _chooser: Chooser = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self._chooser = Chooser(self.embeddings)
        _say_once(logging.WARNING if self.unasked else logging.INFO)

    @property
    def _llm_type(self) -> str:
        return "langmem-offline"

    def bind_tools(
        self,
        tools: Sequence[Json | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind the tools. `tool_choice` is accepted for the callers' sake and changes nothing: the rule chooses."""
        del tool_choice
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        del stop, run_manager
        tools = [each["function"] for each in kwargs.get("tools", [])]
        if _nobody_wrote():
            tools = [tool for tool in tools if reads(tool["name"])]
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages, tools))])

    def _reply(self, messages: list[BaseMessage], tools: list[Json]) -> AIMessage:
        results = list(takewhile(lambda each: isinstance(each, ToolMessage), reversed(messages)))[::-1]
        if results:
            return AIMessage(result_text(results))
        last = max((place for place, each in enumerate(messages) if isinstance(each, HumanMessage)), default=None)
        if last is None:
            return AIMessage(cannot(tools, ENGLISH))
        history = [without_context(each)[0] for each in messages[:last] if not isinstance(each, SystemMessage)]
        written, known = without_context(messages[last])
        said = storable(written.text[:_LONGEST]).strip()
        meant = resolve(said, history)
        request = Request(said, meant.references, meant.previous_call)
        choice = (
            self._answered(request, tools, history)
            or self._repeated(request, tools, history)
            or self._chooser.nearest(request, tools)
        )
        if choice is None:
            unclear = asked_of(meant, request.language)
            return AIMessage(self._quoted(request.said, messages, known) or unclear or cannot(tools, request.language))
        if choice.filled.missing:
            return AIMessage(asked_for(choice.filled.missing[0], meant, request.language))
        if meant.question and not reads(choice.tool["name"]):
            return AIMessage(asked_of(meant, request.language))
        calls = [
            {"name": choice.tool["name"], "args": arguments, "id": f"call_{uuid.uuid4().hex}"}
            for arguments in choice.filled.calls()
        ]
        return AIMessage("", tool_calls=calls)

    def _answered(self, answer: Request, tools: list[Json], history: list[BaseMessage]) -> Choice | None:
        """Return the call that a question was asked about, if a few words tell what was missing."""
        match history[-2:]:
            case [HumanMessage() as before, AIMessage() as asked] if "?" in asked.text and not asked.tool_calls:
                if len(answer.said.split()) > _ANSWER_WORDS or any(shares_verb(answer.said, tool) for tool in tools):
                    return None
                earlier = Request(before.text, resolve(before.text, history[:-2]).references)
                choice = self._chooser.nearest(earlier.answered(answer), tools)
                return choice if choice is not None and not choice.filled.missing else None
        return None

    def _repeated(self, request: Request, tools: list[Json], history: list[BaseMessage]) -> Choice | None:
        """Return the latest call in which the message changes something, if it names no action of its own."""
        if not _ELLIPSIS.search(request.said):
            return None
        known = {tool["name"]: tool for tool in tools}
        said_before = (each for each in reversed(history) if isinstance(each, AIMessage))
        for before in (call for each in said_before for call in reversed(each.tool_calls)):
            tool = known.get(before["name"])
            if tool is None or withholds(request.said, tool):
                continue
            filled = fill(tool, *request.to(tool), before["args"])
            if not filled.missing and any(call != before["args"] for call in filled.calls()):
                return Choice(tool, filled)
        return None

    def _quoted(self, said: str, messages: list[BaseMessage], known: str) -> str:
        """Return the stated memory that is nearest to the question, with its citation; "" if none is near."""
        stated = "\n".join([*(each.text for each in messages if isinstance(each, SystemMessage)), known])
        block = re.search(r"<memories>\n(.*?)\n</memories>", stated, re.DOTALL)
        question = self._chooser.vector(said)
        near = [
            (float(self._chooser.vector(memory[2]) @ question), f"{memory[2]} [Memory: {memory[1]}]")
            for memory in _MEMORY.finditer(block[1] if block else "")
        ]
        return next((text for score, text in sorted(near, reverse=True) if score >= _QUOTE_FROM), "")


def _nobody_wrote() -> bool:
    """Tell whether no person asked for the run."""
    try:
        return is_automated(get_config())
    except (RuntimeError, KeyError):  # outside of a run
        return False


def asked_of(meant: Resolution, language: Language) -> str:
    """Return a question which of several things is meant, or that nothing shown is meant; "" if it is clear."""
    texts = QUESTIONS[language.name]
    if meant.unresolved:
        return texts["nothing"].format(words=f" {texts['or']} ".join(f"“{each}”" for each in meant.unresolved))
    if not meant.candidates:
        return ""
    told = [
        f"{place}. {title_of(item)[:_LONGEST_TITLE]}" for place, item in enumerate(meant.candidates[:_MOST_NAMED], 1)
    ]
    more = f" … ({len(meant.candidates)})" if len(meant.candidates) > _MOST_NAMED else ""
    return texts["which_of"].format(names=f"{', '.join(told[:-1])} {texts['or']} {told[-1]}{more}")


def asked_for(missing: Argument, meant: Resolution, language: Language) -> str:
    texts = QUESTIONS[language.name]
    if meant.question or missing.is_id:
        return asked_of(meant, language) or texts["which"].format(name=missing.spoken.removesuffix(" id"))
    described = missing.schema.get("description")
    return texts["what"].format(name=missing.spoken) + (f" ({described})" if described else "")


def cannot(tools: list[Json], language: Language) -> str:
    return QUESTIONS[language.name]["no_tool" if tools else "no_tools"]
