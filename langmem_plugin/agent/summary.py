"""What fell out of the window, in a few sentences of a model; asked for rarely and never in the way."""

import logging
from collections import OrderedDict
from collections.abc import Sequence

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage

from langmem_plugin import forks
from langmem_plugin.agent.models import no_model

log = logging.getLogger(__name__)

_ASK = (
    "Summarise this part of a conversation in at most five short sentences, for the assistant who goes on with it."
    " Keep names, numbers, dates and decisions; leave out greetings. Only the summary."
)
_BATCH = 8
_MOST_SUMMARIES = 1_000
_LINE = 200


class Summaries:
    """Summaries of what was dropped, kept by the last message they cover; lost at a restart and made again.

    The window moves at every turn, so a summary is made anew only when eight messages have gathered since; until
    then these follow it as they are, shortened.
    """

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model
        self._made: OrderedDict[str, str] = OrderedDict()
        self._lock = forks.Lock()

    def of(self, dropped: Sequence[BaseMessage]) -> str:
        """Text for the prompt; "" if nothing was dropped or the model does not answer."""
        covered, summary = self._latest(dropped)
        since = dropped[covered:]
        if len(since) >= _BATCH or (since and not summary):
            try:
                summary = self._ask(summary, since)
            except no_model():
                log.warning("summary.skipped", exc_info=True)
            else:
                self._keep(dropped[-1], summary)
                since = []
        return "\n".join([*filter(None, [summary]), *map(_line, since)])

    def _latest(self, dropped: Sequence[BaseMessage]) -> tuple[int, str]:
        with self._lock:
            for covered in range(len(dropped), 0, -1):
                made = self._made.get(dropped[covered - 1].id or "")
                if made is not None:
                    return covered, made
        return 0, ""

    def _ask(self, summary: str, since: Sequence[BaseMessage]) -> str:
        before = [f"So far: {summary}"] if summary else []
        said = "\n".join([*before, *map(_line, since)])
        return self._model.invoke([HumanMessage(f"{_ASK}\n\n{said}")]).text.strip()

    def _keep(self, last: BaseMessage, summary: str) -> None:
        if last.id is None:
            return
        with self._lock:
            self._made[last.id] = summary
            if len(self._made) > _MOST_SUMMARIES:
                self._made.popitem(last=False)


def _line(message: BaseMessage) -> str:
    text = " ".join(message.text.split())
    return f"{message.type}: {text[:_LINE]}{'…' if len(text) > _LINE else ''}"
