"""What a model said is meant, asked once in a turn: a resolution is wanted at every call of the model and by tools."""

from collections.abc import Callable, Sequence
from hashlib import sha256

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from langmem_plugin.lru import LruCache
from langmem_plugin.references.meant.model_choice import choose

Choosing = Callable[[str, str, Sequence[str]], tuple[int, ...] | None]

_KEPT_BYTES = 1_000_000
_ENTRY_BYTES = 500


class ReferenceChoices:
    """Kept by the message and all that the model was asked, so that nobody is answered with another's choice."""

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model
        self._made: LruCache[bytes, tuple[tuple[int, ...] | None]] = LruCache(_KEPT_BYTES)

    def of_turn(self, message: BaseMessage) -> Choosing:
        """`choose` for the person's message. That the model failed is kept too, else it would be asked again."""

        def chosen(utterance: str, reply: str, shown: Sequence[str]) -> tuple[int, ...] | None:
            asked = repr((message.id, utterance, reply, list(shown)))
            key = sha256(asked.encode(errors="backslashreplace")).digest()
            made = self._made.get(key)
            if made is None:
                made = (choose(self._model, utterance, reply, shown),)
                if made[0] is not None or message.id is not None:
                    self._made.put(key, made, _ENTRY_BYTES)
            return made[0]

        return chosen
