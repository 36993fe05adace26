"""A table of rows as one test: `for_each`, in place of `pytest.mark.parametrize`, reports all the rows that fail together.

Every row gets fixtures of its own, as it would as a test by itself; what rows may share has a fixture of the module.
"""

from collections import defaultdict
from itertools import pairwise

import pytest
from _pytest.runner import runtestprotocol


def for_each(names, rows, **options):
    """Runs the test for each row; `names` and `rows` are those of `pytest.mark.parametrize`."""
    parametrized = pytest.mark.parametrize(names, rows, **options)
    listed = names.split(",") if isinstance(names, str) else names
    in_a_table = pytest.mark.in_a_table(*(name.strip() for name in listed))
    return lambda test: in_a_table(parametrized(test))


class Table(pytest.Item):
    """The rows of a test that differ in nothing else."""

    def __init__(self, *, rows, **given):
        super().__init__(**given)
        self.rows, self.originalname, self.fixturenames = rows, rows[0].originalname, rows[0].fixturenames
        self.own_markers = rows[0].own_markers
        self.keywords.update(dict.fromkeys((self.originalname, *(mark.name for mark in self.own_markers))))

    def reportinfo(self):
        return *self.rows[0].reportinfo()[:2], self.name

    def runtest(self, following=None):
        """Runs each row as the test that it is, and reports the table as a whole: it is as bad as its worst row."""
        rows = pairwise([*self.rows, following])
        reports = [report for row, after in rows for report in runtestprotocol(row, log=False, nextitem=after)]
        failed = [report for report in reports if report.failed]
        told = [f"{report.nodeid} ({report.when})\n{report.longreprtext}" for report in failed]
        told[:0] = [f"{len({report.nodeid for report in failed})} of {len(self.rows)} rows fail"] if failed else []
        skipped = [report for report in reports if report.skipped]
        worst = "failed" if failed else "skipped" if len(skipped) == len(self.rows) else "passed"
        return pytest.TestReport(
            nodeid=self.nodeid,
            location=self.location,
            keywords=dict.fromkeys(self.keywords, 1),
            outcome=worst,
            longrepr="\n\n".join(told) if failed else skipped[0].longrepr if worst == "skipped" else None,
            when="call",
            sections=[section for report in failed for section in report.sections],
            duration=sum(report.duration for report in reports),
        )


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector):
    """Makes one item of the rows that were collected for a test."""
    found = yield
    if not isinstance(found, list):
        return found
    tables, items = defaultdict(list), []
    for item in found:
        names = {name for mark in item.iter_markers("in_a_table") for name in mark.args}
        if names:
            given = {name: value for name, value in item.callspec.params.items() if name not in names}
            rest = (
                value if isinstance(value, str) else f"{name}{item.callspec.indices[name]}"
                for name, value in given.items()
            )
            tables[tuple(rest)].append(item)
        else:
            items.append(item)
    for rest, rows in tables.items():
        name = rows[0].originalname + (f"[{'-'.join(rest)}]" if rest else "")
        items.append(Table.from_parent(collector, name=name, rows=rows))
    return items


def pytest_runtest_protocol(item, nextitem):
    """Reports a table as one test."""
    if not isinstance(item, Table):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    item.ihook.pytest_runtest_logreport(report=item.runtest(nextitem))
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
