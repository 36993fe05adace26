"""The advice of the log: each event that is worth a warning says what to do."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from langmem_plugin import logs
from langmem_plugin.memory.keep.changes_and_checksums import Kind

PACKAGE = Path(logs.__file__).parent
TOLD = ("debug", "info")
WARNED = ("warning", "error", "exception", "critical")
WORKED_OUT = {
    "agent/replying/reply_to_message.py": {
        "reply.failed",
        "reply.no_model",
        "reply.not_kept",
        "reply.not_serializable",
        "reply.storage_full",
        "reply.too_many_steps",
        "reply.turn_lost",
        "reply.turn_timeout",
    },
    "identifiers/identifier_parsers.py": {"phone.opaque", "phone.without_country"},
    "insight/timings_and_alerts.py": {"alert.raised"},
    "memory/keep/changes_and_checksums.py": {f"{kind.replace(' ', '_')}.damaged" for kind in get_args(Kind)},
    "offline/chat_model.py": {"model.offline"},
    "web/access_log.py": set(),  # a request has its own line at any level; what failed in it has another
}
"""The files that work out an event or its level, and what they may warn of."""
ITSELF_ADVICE = {"graph.wiring"}


def _logged(source: str) -> Iterator[tuple[str, str | None]]:
    """Gives the method of each call of a log, and the event where it is written there."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and call.args:
            named = {each.attr for each in ast.walk(call.func) if isinstance(each, ast.Attribute)}
            of_log = any(isinstance(each, ast.Name) and each.id == "log" for each in ast.walk(call.func))
            for method in sorted(named & {*TOLD, *WARNED, "log"}) if of_log else ():
                event = call.args[0] if method != "log" else None
                yield method, event.value if isinstance(event, ast.Constant) else None


def test_each_event_that_warns_has_advice_and_no_advice_is_for_an_event_that_is_gone():
    logged = [(file, *each) for file in PACKAGE.rglob("*.py") for each in _logged(file.read_text("utf-8"))]
    by_name = {file for file, method, event in logged if event is None and method not in TOLD}
    assert {file.relative_to(PACKAGE).as_posix() for file in by_name} == WORKED_OUT.keys()
    known = set().union(*WORKED_OUT.values())
    assert (
        known.union(event for _, method, event in logged if method in WARNED and event) - logs.ADVICE.keys()
        == ITSELF_ADVICE
    )
    assert logs.ADVICE.keys() - known.union(event for _, _, event in logged if event) == set()


def test_a_record_is_an_event_and_its_fields_through_every_log_of_the_package():
    made_otherwise = [file for file in PACKAGE.rglob("*.py") if "getLogger(__name__)" in file.read_text("utf-8")]
    assert made_otherwise == []
