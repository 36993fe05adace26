"""Models by name: any that LangChain knows, or the offline ones if none is named."""

import os
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel

from langmem_plugin.errors import ConfigurationError, ModelUnavailable, client_errors

_OFFLINE = "offline"
_CLIENTS = (("openai", "OpenAIError"), ("anthropic", "AnthropicError"), ("ollama", "ResponseError"))


class NoEmbeddings(Embeddings):
    """The embeddings of a memory that is switched off: they refuse every text."""

    model = "none"
    dimension = 1

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise ConfigurationError(f"{len(texts)} texts to embed, but the memory is switched off in the settings")

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def chat_model(name: str | None = None, *, base_url: str | None = None) -> BaseChatModel:
    """Make a chat model. `name` is "openai:gpt-5-mini" or any other name `init_chat_model` takes, by default
    `LANGMEM_MODEL`; `base_url`, by default `LANGMEM_BASE_URL`, is a server that speaks as OpenAI does and then needs no
    key.

    "offline" makes the offline model, which is for trying out. So does no name at all, with a WARNING in the log.
    Nothing is called yet. Raises ConfigurationError if the model cannot be made: no key, no such provider.
    """
    name = name or os.environ.get("LANGMEM_MODEL") or ""
    base_url = base_url or os.environ.get("LANGMEM_BASE_URL") or None
    if base_url and not name:
        raise ConfigurationError("LANGMEM_BASE_URL names a server but LANGMEM_MODEL no model: set both, or neither")
    if name in ("", _OFFLINE):
        from langmem_plugin.offline.chat_model import OfflineChatModel  # noqa: PLC0415 - loads the embedding model

        return OfflineChatModel(unasked=not name)
    return _by_name(name, base_url)


def extraction_model(name: str) -> BaseChatModel | None:
    """Make the model that `settings.extraction` means. Return None where rules read: for "rules", and for "auto" while
    `LANGMEM_MODEL` names no model but the offline one. Raises ConfigurationError, also for the offline model by its
    name.
    """
    if name == _OFFLINE:
        raise ConfigurationError(
            'the offline chat model finds no facts in what people say: set extraction to "rules", which needs no model'
        )
    if name == "auto":
        name = os.environ.get("LANGMEM_MODEL") or "rules"
    return None if name in ("rules", _OFFLINE) else chat_model(name)


def embedding_model(name: str) -> Embeddings:
    """Make embeddings: the offline ones, or by a name that `init_embeddings` takes, such as
    "openai:text-embedding-3-small".

    "offline" needs no key and no network, "multilingual" its extra; OpenAI's may be named without "openai:".
    Raises ConfigurationError if it cannot be made: no key, no such provider. Nothing is called yet.
    """
    if name == _OFFLINE:
        from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings  # noqa: PLC0415 - loads the model

        return OfflineEmbeddings()
    if name == "multilingual":
        from langmem_plugin.memory.embedding.multilingual_embeddings import MultilingualEmbeddings  # noqa: PLC0415 - needs its extra

        return MultilingualEmbeddings()
    from langchain.embeddings import init_embeddings  # noqa: PLC0415 - only who asks for another model pays for it

    name = f"openai:{name}" if name.startswith("text-embedding-") else name
    # Otherwise OpenAI's client downloads its tokenizer's tables to count tokens.
    options: dict[str, Any] = {"check_embedding_ctx_length": False} if name.startswith("openai:") else {}
    if options and os.environ.get("OPENAI_BASE_URL"):
        options["api_key"] = os.environ.get("OPENAI_API_KEY") or "none"
    try:
        return init_embeddings(name, **options)
    except _refusals() as error:
        raise ConfigurationError(
            f"the embedding model {name} cannot be used: {error} Install or set what is missing (OPENAI_API_KEY for"
            ' OpenAI\'s), or embedding_model to "offline": all-MiniLM-L6-v2, which needs no key.'
        ) from error


def model_failures() -> tuple[type[Exception], ...]:
    """Return the errors of a chat model out of reach or refusing; none while no provider's client is loaded."""
    return client_errors(*_CLIENTS)


def no_model() -> tuple[type[Exception], ...]:
    """Return the exceptions which mean that no model answered. Call it in the `except` clause itself."""
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
            f"the model {name} cannot be used: {error} Install or set what is missing (OPENAI_API_KEY for openai:…"
            " models, or LANGMEM_BASE_URL for a server of your own), or unset LANGMEM_MODEL for the offline model."
        ) from error
    return model


def _refusals() -> tuple[type[Exception], ...]:
    """Return the errors that making a model raises: no such package, no such provider, no key."""
    return (ImportError, ValueError, *model_failures())
