"""The parts of this room, put together for one database."""

from collections.abc import Callable
from datetime import timedelta, tzinfo
from typing import Self

from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.insight.memory_analytics import Analytics, MemoryAnalytics
from langmem_plugin.insight.recommendations import Recommendation, Recommendations
from langmem_plugin.insight.timings_and_alerts import MOST_HOURS, Alerts, OperationFigures, OperationFlusher, figures
from langmem_plugin.memory import MemoryService
from langmem_plugin.settings import Settings


class Insight:
    """Figures of one database. `zone_of` gives the time zone in which a person's days are counted. A memory that
    is off keeps none.
    """

    def __init__(
        self,
        service: MemoryService,
        settings: Settings,
        zone_of: Callable[[str], tzinfo],
        person_of: Callable[[str | int], OwnerKey],
    ) -> None:
        self._service = service
        self._person_of = person_of
        self._analytics = MemoryAnalytics(service, zone_of)
        self._recommendations = Recommendations(service)
        service.database.operations.enabled = settings.enable_memory_system
        self.alerts = Alerts(service.database, now=service.now)
        self._flusher = OperationFlusher(service.database, now=service.now, stored=self.alerts.look)

    def analytics(self, who: str | int | None = None, *, days: int = 30) -> Analytics:
        """Return a person's memories in numbers; without a person those of everybody, without any text.

        `days` are those of the growth, by the person's calendar. Raises InvalidInput for other than 1 to 366.
        """
        return self._analytics.of(None if who is None else self._person_of(who), days=days)

    def recommendations(self, who: str | int) -> list[Recommendation]:
        """Return the memories of a person that are worth a look: said twice, stale, unsure or unused.
        Changes nothing.
        """
        return self._recommendations.of(self._person_of(who))

    def performance(self, *, hours: int = 24) -> list[OperationFigures]:
        """Return how long each verb took and how often it failed, in all processes, the most called first.

        Raises InvalidInput for other than 1 hour to 7 days.
        """
        if isinstance(hours, bool) or not isinstance(hours, int) or not 1 <= hours <= MOST_HOURS:
            raise InvalidInput(f"figures are kept for 1 to {MOST_HOURS} hours, not for {hours!r}")
        self._flusher.flush()
        return figures(self._service.database, since=self._service.now() - timedelta(hours=hours))

    def close(self) -> None:
        """Store the last figures."""
        self._flusher.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
