"""What a model said is meant, asked once in a turn: before it, at every model call and by tools it is wanted."""

import time
from collections.abc import Callable, Sequence
from hashlib import sha256

from langchain_core.language_models import BaseChatModel

from langmem_plugin.lru import LruCache
from langmem_plugin.references.meant.model_choice import choose

_KEPT_BYTES = 1_000_000
_ENTRY_BYTES = 500
_SILENT = 60.0  # seconds for which a question without an answer is not put again: longer than most turns


class ReferenceChoices:
    """`choose` with its answers kept by all that was asked, so that nobody is given another's.

    `seconds` is a clock that only goes forward.
    """

    def __init__(self, model: BaseChatModel, *, seconds: Callable[[], float] = time.monotonic) -> None:
        self._model = model
        self._seconds = seconds
        self._made: LruCache[bytes, tuple[tuple[int, ...] | None, float]] = LruCache(_KEPT_BYTES)

    def __call__(self, utterance: str, reply: str, shown: Sequence[str]) -> tuple[int, ...] | None:
        key = sha256(repr((utterance, reply, list(shown))).encode(errors="backslashreplace")).digest()
        chosen, until = self._made.get(key) or (None, 0.0)
        if chosen is None and self._seconds() >= until:
            chosen = choose(self._model, utterance, reply, shown)
            self._made.put(key, (chosen, self._seconds() + _SILENT), _ENTRY_BYTES)
        return chosen
