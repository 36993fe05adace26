"""Rate limits of one caller, in this process: requests of each token, failures of each address."""

import ipaddress
import math
import time

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from langmem_plugin.errors import TooManyRequests

REQUESTS_PER_MINUTE, FAILURES_PER_MINUTE = 600, 20
LARGEST_BODY, LARGEST_IMPORT = 2**20, 64 * 2**20
"""The most bytes of a request, and of one that imports."""


class Rates:
    """The request rates of one application."""

    def __init__(self) -> None:
        self._counted = MovingWindowRateLimiter(MemoryStorage())
        self._requests = RateLimitItemPerMinute(REQUESTS_PER_MINUTE)
        self._failures = RateLimitItemPerMinute(FAILURES_PER_MINUTE)

    def count_request(self, token_id: str) -> None:
        """Raise TooManyRequests where the token has asked too often."""
        self._count(self._requests, "token", token_id)

    def count_failure(self, address: str) -> None:
        """Raise TooManyRequests where too many tokens that open nothing came from this address."""
        self._count(self._failures, "address", _of_one_sender(address))

    def _count(self, item: RateLimitItemPerMinute, *key: str) -> None:
        if not self._counted.hit(item, *key):
            first_again = self._counted.get_window_stats(item, *key).reset_time
            raise TooManyRequests(
                f"this may be asked {item.amount} times a minute: wait as long as Retry-After says, in seconds",
                retry_after=max(1, math.ceil(first_again - time.time())),
            )


def _of_one_sender(address: str) -> str:
    """Return the address of one sender; in IPv6 its network, because one machine has any number of addresses."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((parsed, 64), strict=False)) if parsed.version == 6 else address  # noqa: PLR2004
