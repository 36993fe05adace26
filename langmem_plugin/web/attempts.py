"""How often one address may try to come in: who guesses tokens is slowed down, who holds one is not."""

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.requests import Request

_MOST: RateLimitItem = RateLimitItemPerMinute(20, 10)
RETRY_AFTER = {"retry-after": "600"}


class Attempts:
    """Of each address, in this process: after 20 failed ones in ten minutes the next ones are told to wait. One that
    succeeds is never asked about: a proxy or a mobile network is one address of many people.
    """

    def __init__(self) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def too_many(self, request: Request) -> bool:
        return not self._limiter.test(_MOST, _address(request))

    def failed(self, request: Request) -> None:
        self._limiter.hit(_MOST, _address(request))


def _address(request: Request) -> str:
    return request.client.host if request.client else "nobody"
