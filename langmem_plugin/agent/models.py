"""The chat model by name: any that LangChain knows, or the offline one where none is named."""

import os
import sys
from typing import Any

from langchain_core.language_models import BaseChatModel

from langmem_plugin.errors import ConfigurationError, ModelUnavailable

_OFFLINE = "offline"
_CLIENTS = (("openai", "OpenAIError"), ("anthropic", "AnthropicError"), ("ollama", "ResponseError"))


def chat_model(name: str | None = None, *, base_url: str | None = None) -> BaseChatModel:
    """`name` is "openai:gpt-5-mini" or any other name `init_chat_model` takes, by default `LANGMEM_MODEL`; `base_url`,
    by default `LANGMEM_BASE_URL`, is a server that speaks as OpenAI does and then needs no key.

    Without a name, or with "offline", it is the offline model. Nothing is called yet. Raises ConfigurationError if
    the model cannot be made: no key, no such provider.
    """
    name = name or os.environ.get("LANGMEM_MODEL") or ""
    base_url = base_url or os.environ.get("LANGMEM_BASE_URL") or None
    if base_url and not name:
        raise ConfigurationError("LANGMEM_BASE_URL names a server but LANGMEM_MODEL no model: set both, or neither")
    if name in ("", _OFFLINE):
        from langmem_plugin.agent.offline_model import OfflineChatModel  # noqa: PLC0415 - loads the embedding model

        return OfflineChatModel()
    return _by_name(name, base_url)


def model_failures() -> tuple[type[Exception], ...]:
    """What a chat model raises when it cannot be reached or refuses; empty while no provider's client is loaded."""
    return tuple(getattr(sys.modules[module], error) for module, error in _CLIENTS if module in sys.modules)


def no_model() -> tuple[type[Exception], ...]:
    """What it looks like, to whoever calls a model, that none answers: for an `except`, asked when one was raised."""
    return (ModelUnavailable, *model_failures())


def _by_name(name: str, base_url: str | None) -> BaseChatModel:
    from langchain.chat_models import init_chat_model  # noqa: PLC0415 - only who asks for a model pays for it

    options: dict[str, Any] = {}
    if base_url or os.environ.get("OPENAI_BASE_URL"):
        options["api_key"] = os.environ.get("OPENAI_API_KEY") or "none"
    if base_url:
        options["base_url"] = base_url
        name = name if ":" in name else f"openai:{name}"
    try:
        model: BaseChatModel = init_chat_model(name, **options)
    except _refusals() as error:
        raise ConfigurationError(
            f"the model {name} cannot be used: {error} Set what is missing (OPENAI_API_KEY for openai:… models, or"
            " LANGMEM_BASE_URL for a server of your own), or unset LANGMEM_MODEL for the offline model."
        ) from error
    return model


def _refusals() -> tuple[type[Exception], ...]:
    """What making a model raises: no such package, no such provider, no key."""
    return (ImportError, ValueError, *model_failures())
