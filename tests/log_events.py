"""What was logged, by the names of the events."""

import pytest


def events(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [getattr(record, "event", record.getMessage()) for record in caplog.records]
