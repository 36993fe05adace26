"""Which questions of a run are about money: who says yes the next morning may mean something else."""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from langmem_plugin.languages.language import LANGUAGES

OUTLIVES_SILENCE = "outlives_silence"
"""The key by which a graph says of a question, in a dict, whether it may be answered after a session's silence."""


def outlives_silence(asked: Any) -> bool:
    """As the graph says; else whatever is not about money may."""
    if isinstance(asked, Mapping) and isinstance(told := asked.get(OUTLIVES_SILENCE), bool):
        return told
    text = asked if isinstance(asked, str) else json.dumps(asked, ensure_ascii=False, default=str)
    return _money().search(text.replace("_", " ")) is None


_SPENDING = [each.spending for each in LANGUAGES]


@cache
def _money() -> re.Pattern[str]:
    currencies = {word for each in LANGUAGES for word in each.currencies}
    spelled = "|".join(map(re.escape, sorted({word for word in currencies if word[0].isalpha()}.union(*_SPENDING))))
    signs = "".join(re.escape(word) for word in currencies if len(word) == 1 and not word.isalpha())
    return re.compile(rf"[{signs}]\s?\d|\d\s?[{signs}]|\b(?:{spelled})\b", re.IGNORECASE)
