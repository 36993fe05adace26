"""The package's logs: an event's name, its fields and the advice for it, readable in any formatter.

Records carry the name as `event` and the fields as attributes too. No field holds a message's text or a whole phone.
"""

import json
import logging
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from langmem_plugin.text_sanitizing import visible

ADVICE: dict[str, str] = json.loads(Path(__file__).with_name("log_advice.json").read_text("utf-8"))
"""The advice about an event, by its name."""


class EventLog(logging.LoggerAdapter[logging.Logger]):
    """A logger whose methods take an event's name and, as `extra`, the fields."""

    def process(self, msg: str, kwargs: MutableMapping[str, Any]) -> tuple[str, MutableMapping[str, Any]]:
        fields = kwargs.get("extra") or {}
        told = [msg, *(f"{name}={visible(str(value))}" for name, value in fields.items())]
        if advice := ADVICE.get(msg):
            told[-1] += ":"
            told.append(advice)
        return " ".join(told), {**kwargs, "extra": {"event": msg, **fields}}


def event_log(name: str) -> EventLog:
    """Return the log of a module, by its `__name__`."""
    return EventLog(logging.getLogger(name), {})
