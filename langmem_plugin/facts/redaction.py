"""Whether a text holds what was put in the place of private data: that is no value to remember."""

_PLACEHOLDERS = ("[REDACTED_", "_hash:", "****", "*.*.*.")  # what LangChain's PIIMiddleware leaves


def is_redacted(text: str) -> bool:
    return any(each in text for each in _PLACEHOLDERS)
