"""How often one address may try to come in: who guesses tokens is slowed down, who holds one is not."""

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter
from starlette.requests import Request

_PER_MINUTE = RateLimitItemPerMinute(20)


class Attempts:
    """Failed ones, of each address, in this process; a successful one costs nothing."""

    def __init__(self) -> None:
        self._limiter = FixedWindowRateLimiter(MemoryStorage())

    def too_many(self, request: Request) -> bool:
        return not self._limiter.test(_PER_MINUTE, _address(request))

    def failed(self, request: Request) -> None:
        self._limiter.hit(_PER_MINUTE, _address(request))


def _address(request: Request) -> str:
    return request.client.host if request.client else "nobody"
