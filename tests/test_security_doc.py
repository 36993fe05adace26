"""What the threat model says is shown by a test is shown by a test that there is."""

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


@pytest.mark.spec("P-7", "P-9")
def test_every_test_that_the_threat_model_names_is_there():
    named = _NAMED.findall((_ROOT / "docs" / "security.md").read_text("utf-8"))

    assert len(named) > 20
    assert [each for each in named if f"def {each[1]}(" not in (_ROOT / each[0]).read_text("utf-8")] == []
