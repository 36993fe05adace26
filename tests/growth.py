"""How the time that work takes grows with the text it is given."""

import gc
import time
from collections.abc import Callable

_FAST = 0.003  # seconds: below it nobody waits, and nothing can be measured
_TOO_SLOW = 3.0


def is_linear(work: Callable[[str], object], text_of: Callable[[int], str], length: int = 16_000) -> bool:
    """Whether four times the text takes about four times as long; a square takes 16 times, a cube 64 times."""
    shorter = _seconds(work, text_of(length))
    if shorter > _TOO_SLOW:
        return False
    longer_text = text_of(4 * length)
    longer = _seconds(work, longer_text)
    if longer < _FAST or longer < 8 * shorter:
        return True
    # Again, since whatever else the machine does only ever adds.
    again = min(longer, *(_seconds(work, longer_text) for _ in range(3)))
    return again < max(_FAST, 8 * max(shorter, _seconds(work, text_of(length))))


def _seconds(work: Callable[[str], object], text: str) -> float:
    """Of this thread's own computing, without looking for what earlier tests have left."""
    gc.disable()
    started = time.thread_time()
    try:
        work(text)
        return time.thread_time() - started
    finally:
        gc.enable()
