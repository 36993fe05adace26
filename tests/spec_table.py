"""`pytest --spec` prints every requirement with the tests that prove it and how they went."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

_REQUIREMENTS = Path(__file__).parents[1] / "docs" / "requirements.md"
_WORST = {"failed": 0, "passed": 1}


def pytest_addoption(parser):
    parser.addoption("--spec", action="store_true", help="print requirement → tests → outcome at the end")


def pytest_configure(config):
    if config.getoption("--spec"):
        config.pluginmanager.register(SpecTable(), "spec-table")


class SpecTable:
    def __init__(self):
        self.tests = defaultdict(dict)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item):
        report = yield
        if report.when == "call" or report.failed:
            for marker in item.iter_markers("spec"):
                for identifier in marker.args:
                    self.tests[identifier][item.nodeid] = report.outcome
        return report

    def pytest_terminal_summary(self, terminalreporter):
        lines = dict(re.findall(r"^\| ([A-Z]-\d+) \| (.+?) \|$", _REQUIREMENTS.read_text("utf-8"), re.MULTILINE))
        terminalreporter.section("requirements")
        for identifier, text in lines.items():
            outcomes = self.tests.get(identifier, {})
            verdict = min(outcomes.values(), key=lambda outcome: _WORST.get(outcome, 2)) if outcomes else "none"
            terminalreporter.write_line(f"{identifier:5} {verdict:7} {len(outcomes):3} tests  {text}")
        proven = sum(1 for identifier in lines if self.tests.get(identifier))
        terminalreporter.write_line(f"{proven} of {len(lines)} requirements have a test that ran")
        for unknown in sorted(self.tests.keys() - lines.keys()):
            terminalreporter.write_line(f"{unknown}: named by a test, not in {_REQUIREMENTS.name}")
