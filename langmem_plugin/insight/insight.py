"""The parts of this room, put together for one database."""

from collections.abc import Callable
from datetime import tzinfo
from typing import Self

from langmem_plugin.insight.analytics import MemoryAnalytics
from langmem_plugin.insight.operations import OperationFigures, OperationFlusher, checked_hours, figures
from langmem_plugin.insight.recommendations import Recommendations
from langmem_plugin.memory import MemoryService
from langmem_plugin.settings import Settings


class Insight:
    """`zone_of` is the time zone that a person's days are counted in. Without metrics no figures are kept."""

    def __init__(self, service: MemoryService, settings: Settings, zone_of: Callable[[str], tzinfo]) -> None:
        self._service = service
        self._settings = settings
        self.analytics = MemoryAnalytics(service, zone_of)
        self.recommendations = Recommendations(service)
        service.database.operations.enabled = settings.metrics and settings.enable_memory_system
        self._flusher = OperationFlusher(service.database, now=service.now)

    def performance(self, *, hours: int = 24) -> list[OperationFigures]:
        """Of all processes, the most called operation first. Raises InvalidInput for other than 1 hour to 7 days."""
        length = checked_hours(hours)
        self._flusher.flush()
        return figures(
            self._service.database,
            since=self._service.now() - length,
            thresholds=dict(self._settings.thresholds_ms.items()),
            least_success=self._settings.least_success,
        )

    def close(self) -> None:
        """Stores the last figures."""
        self._flusher.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
