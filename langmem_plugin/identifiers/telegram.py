"""Telegram's ids of users and chats: a number, negative for a group."""

import re

from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers.identifier import Identifier

_ID = re.compile(r"(?:telegram|tg):(-?[1-9][0-9]{0,18})", re.IGNORECASE)
_GROUP = re.compile(r"telegram:-[1-9][0-9]{0,18}")
_MOST = 10**19


def telegram_id(written: str | int) -> Identifier | None:
    """Of the number itself, or behind `telegram:` or `tg:`; None for what is none."""
    if isinstance(written, int):
        if isinstance(written, bool) or not 0 < abs(written) < _MOST:
            raise InvalidInput("this number is no id of a Telegram user or chat: pass the one a message came with")
        written = f"telegram:{written}"
    found = _ID.fullmatch(written)
    if found is None:
        return None
    key = f"telegram:{found[1]}"
    return Identifier("group" if is_telegram_group(key) else "telegram", key)


def is_telegram_group(key: str) -> bool:
    return _GROUP.fullmatch(key) is not None
