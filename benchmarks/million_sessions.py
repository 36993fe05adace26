"""The time of every statement on PostgreSQL with a million stored sessions: of a reply, of what runs unasked, of lists.

python -m benchmarks.million_sessions [--sessions 1000000] [--slow 50] [--folder FOLDER]

One person's real session is copied by SQL for a fifth as many people as sessions, with a memory each. Then each verb
runs with its real parameters, and every statement that it sends is timed; of those that take longer than --slow
milliseconds the server explains its plan.
"""

import argparse
import collections
import contextlib
import logging
import random
import statistics
import sys
import threading
import time
from pathlib import Path
from unittest.mock import patch

import psycopg
from starlette.testclient import TestClient

from benchmarks.reply_cost import server, with_memory
from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.people.access_tokens import AccessTokens
from langmem_plugin.people.people_listing import everybody
from langmem_plugin.web.sealed_person_addresses import PersonRefs

_FIRST = "+972500000000"
_SETTINGS = Settings(sweep_every=None, extraction="rules")
_NOW = "(extract(epoch FROM now()) * 1000000)::bigint"
_MINUTE, _DAY = 60_000_000, 86_400_000_000  # microseconds
_SHOWN = 110  # letters of a statement
_RUNS = 5

# Of 100 sessions one in five is current, and a few wait: for a sweep, to become searchable, to be read, to be purged.
_SESSIONS = f"""
CREATE TEMP TABLE made AS
SELECT g, '+97250' || lpad((g % people)::text, 7, '0') AS phone, 1 + g AS number, 's' || g AS id, g < people AS current,
    CASE WHEN g % 1000 = 1 THEN {_NOW} - 3 * 60 * {_MINUTE}::bigint
        WHEN g < people THEN {_NOW} - (g % 20) * {_MINUTE}::bigint - g
        WHEN g % 1000 = 999 THEN {_NOW} - 31 * {_DAY}::bigint
        ELSE {_NOW} - (1 + g % 29) * {_DAY}::bigint - g END AS at
FROM generate_series(1, sessions - 1) g;
CREATE INDEX ON made (g);
"""


def copied(connection, table, **changed):
    """Copies the first person's rows of a table for each session that was made, with these columns changed."""
    names = [
        name
        for (name,) in connection.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_name = %s", [f"langmem_{table}"]
        )
    ]
    changed = {"checksum": "NULL", **changed}  # it is made with the key of the row, and a row without one is trusted
    values = ", ".join(changed.get(name, f'old."{name}"') for name in names)
    where = changed.get("where", "true")
    connection.execute(
        f"INSERT INTO langmem_{table} ({', '.join(map(quoted, names))}) SELECT {values}"
        f" FROM langmem_{table} AS old, made WHERE {changed['of']} AND {where}"
    )


def quoted(name):
    return f'"{name}"'


def fill(connection, sessions):
    """Copies what the first person has."""
    people = max(1, sessions // 5)
    # Foreign keys hold: what refers to a row is copied with it.
    connection.execute("SET session_replication_role = replica; SET synchronous_commit = off; SET work_mem = '64MB'")
    connection.execute(_SESSIONS.replace("people", str(people)).replace("sessions", str(sessions)))
    mine = f"old.thread = '{_FIRST}'"
    in_session = {"of": mine, "thread": "made.phone", "session": "made.number"}
    each_person = {"of": f"old.owner = '{_FIRST}'", "owner": "made.phone", "where": "made.current"}
    copied(
        connection,
        "session",
        of=mine,
        thread="made.phone",
        number="made.number",
        session_id="made.id",
        created_at="made.at",
        last_active="made.at",
        ended_at="CASE WHEN NOT made.current THEN made.at END",
        to_take="CASE WHEN made.g % 2000 = 1000 THEN 2 WHEN made.current THEN 1 ELSE 0 END",
    )
    copied(connection, "message", created_at="made.at", **in_session)
    newest = "old.position = (SELECT max(position) FROM langmem_checkpoint WHERE thread = old.thread)"
    copied(connection, "checkpoint", where=newest, **in_session)
    state = "CASE WHEN made.g % 100 = 2 THEN 'pending' WHEN made.g % 20000 = 7 THEN 'failed' ELSE 'completed' END"
    copied(connection, "extraction_job", state=state, not_before="made.at", **in_session)
    history = {"of": f"old.owner = '{_FIRST}'", "owner": "made.phone", "message_id": "made.id || old.message_id"}
    copied(connection, "history_message", session_id="made.id", of_session="made.id", said_at="made.at", **history)
    copied(connection, "history_vector", **history)
    for table in ("memory_owner", "memory", "memory_vector", "memory_access", "standing_instruction"):
        copied(connection, table, **each_person)
    by_person = {"where": "made.current", "person": "made.phone"}
    copied(connection, "person", of=f"old.person = '{_FIRST}'", **by_person)
    by_thread = {"of": mine, "thread": "made.phone", "where": "made.current"}
    copied(connection, "incoming", received_at="made.at", **by_thread)
    for statement in _BESIDE:
        connection.execute(statement.replace(":now", _NOW).replace(":tomorrow", f"{_NOW} + {_DAY}"))
    connection.execute("RESET session_replication_role")
    connection.execute("VACUUM ANALYZE")
    return people


_BESIDE = (
    """
    INSERT INTO langmem_thread_owner SELECT phone, phone, :now - g % 30 * 86400000000
    FROM made WHERE current AND g % 10 = 3
    """,
    "INSERT INTO langmem_identifier SELECT 'telegram:' || g, phone, :now FROM made WHERE current AND g % 10 = 4",
    """
    INSERT INTO langmem_merge SELECT phone, 'm' || g, 'telegram:' || g, 0, '{"memories": []}'
    FROM made WHERE current AND g % 10 = 4
    """,
    "INSERT INTO langmem_question SELECT phone, :now, '\\x00' FROM made WHERE current AND g % 10 = 5",
    """
    INSERT INTO langmem_access_token SELECT 't' || g, 'page', NULL, phone, '\\x00', :now, :tomorrow
    FROM made WHERE current AND g % 10 = 6
    """,
    """
    INSERT INTO langmem_audit (at, actor, action, subject, owner, written)
    SELECT at, 'system', 'session.created', id, '\\x00', true FROM made
    """,
    """
    INSERT INTO langmem_operation SELECT name, minute * 60000000, 100, 0, 1000, '{"80": 100}'
    FROM unnest(ARRAY['inject', 'search', 'store', 'index', 'reply', 'extract']) name,
        generate_series(:now / 60000000 - 6 * 1440, :now / 60000000 - 1) minute ON CONFLICT DO NOTHING
    """,
    "INSERT INTO langmem_erased_key SELECT decode(md5(phone), 'hex'), g FROM made WHERE current AND g % 100 = 8",
    """
    INSERT INTO langmem_erasure (erasure_id, state, asked_at, due_at, done_at, hashes, counts, verified, "left")
    SELECT 'e' || g, 'done', 0, 0, 0, '["x"]', '{}', true, '{}' FROM made WHERE current AND g % 100 = 8
    """,
)


class Watch:
    """Times every statement that this process sends, by the verb that sends it."""

    def __init__(self):
        self.verb = "opening"
        self.taken = collections.defaultdict(list)  # by verb and statement: milliseconds and parameters
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def watching(self):
        with contextlib.ExitStack() as patched:
            for kind in (psycopg.Cursor, psycopg.ServerCursor):
                for name in ("execute", "executemany"):
                    timed = self._timed(getattr(kind, name))
                    patched.enter_context(patch.object(kind, name, timed))
            yield

    def _timed(self, run):
        def timed(cursor, query, *given, **named):
            began = time.perf_counter()
            try:
                return run(cursor, query, *given, **named)
            finally:
                taken = (time.perf_counter() - began) * 1_000
                statement = " ".join(str(query).split())
                if statement.split(maxsplit=1)[0].upper() in {"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}:
                    thread = threading.current_thread().name
                    verb = f"{thread} thread" if thread.startswith("langmem-") else self.verb
                    with self._lock:
                        self.taken[verb, statement].append((taken, given[0] if given else None))

        return timed

    def __call__(self, verb, work):
        self.verb = verb
        for each in work if isinstance(work, list) else [work]:
            each()


def exercised(watch, url, people):
    """Runs what runs without being asked, what a reply and its commands ask, and what an operator looks at."""
    chances = random.Random(1)
    with PhoneMemory(url, settings=_SETTINGS) as memory:
        graph = with_memory(memory)
        memory.past_sessions.worker.stop()
        phones = [f"+97250{chances.randrange(1, people):07}" for _ in range(40)]
        watch("reply", [lambda phone=each: memory.reply(graph, phone, "number 2?") for each in phones[:20] * 2])
        for said in ("/remember I own a red boat", "/memories", "/search boat", "/privacy", "/help", "/link", "/reset"):
            watch(
                said.split()[0], [lambda phone=each, said=said: memory.command(phone, said) for each in phones[20:25]]
            )
        watch("sweep", memory.housekeeping.sweep)
        watch("past talk", memory.past_sessions.catch_up)
        watch("extraction", [memory.extraction.work.next_done] * _RUNS * 4)
        watch("alerts", [memory.insight.alerts.look] * _RUNS)
        watch("link", [lambda phone=each: memory.people.link(phone, f"user:{phone}") for each in phones[25:30]])
        watch("merge", [lambda: memory.people.merge(phones[25], phones[26]), lambda: memory.people.unlink(phones[26])])
        watch("erase", [lambda phone=each: memory.erase(phone) for each in phones[30:33]])
        watch("restore", [lambda phone=each: memory.restore_erased(phone) for each in phones[30:32]])
        watch("export", [lambda phone=each: memory.export(phone) for each in phones[33:36]])
        watch("list sessions", [lambda: memory.sessions.sessions(limit=50)] * _RUNS)
        watch("list people", lambda: read(memory, everybody))
        looked_at(watch, memory, phones[36:])
    watch("opening", PhoneMemory(url, settings=_SETTINGS).close)


def read(memory, of):
    with memory.database.read() as connection:
        return of(connection)


def looked_at(watch, memory, phones):
    """The pages of the console, and the routes of the API and of a monitor."""
    tokens = AccessTokens(memory.database)
    operator = tokens.new_operator()[0]
    watch("tokens", [lambda phone=each: tokens.new_link(phone) for each in phones])
    client = TestClient(memory.app(), base_url="https://console.example", follow_redirects=False)
    headers = {"sec-fetch-site": "same-origin"}
    assert client.post("/console/sign-in", data={"token": operator}, headers=headers).status_code == 303
    refs, bearer = PersonRefs(memory.database), {"authorization": f"Bearer {operator}"}
    one = f"people/{refs.ref(phones[0])}"
    pages = ["", "performance", "people", "people?page=20", "recent", "jobs", "audit"]
    pages += [one, f"{one}/conversations", f"{one}/memories", f"{one}/memories?q=boat", f"{one}/privacy"]
    for page in pages:
        place = page.replace(one, "people/…")
        watch(f"console/{place}", [lambda page=page: seen(client.get(f"/console/{page}"))] * 2)
    for words in (phones[1][-4:], phones[1], "Levi"):
        typed = {"identifier": words}
        watch(
            "console/people/find", lambda typed=typed: client.post("/console/people/find", data=typed, headers=headers)
        )
    asked = {"/health/ready": {}, "/metrics": bearer, "/api/people": bearer, "/api/memory/analytics": bearer}
    for path, given in asked.items():
        watch(path, [lambda path=path, given=given: seen(client.get(path, headers=given))] * _RUNS)


def seen(answer):
    assert answer.status_code in {200, 404}, (answer.url, answer.status_code, answer.text[-900:])


def told(watch, url, slow):
    """Prints each statement, the slowest first; how many take longer than `slow` milliseconds when they are explained.

    On a busy machine any statement waits now and then for a processor.
    """
    lines = []
    for (verb, statement), runs in watch.taken.items():
        taken = [each for each, _ in runs]
        lines.append(
            (max(taken), statistics.median(taken), len(taken), verb, statement, max(runs, key=lambda x: x[0])[1])
        )
    lines.sort(key=lambda line: line[:1], reverse=True)
    over = [line for line in lines if line[0] > slow]
    print(f"{'p50 ms':>9} {'max ms':>9} {'runs':>5}  verb: statement")
    for most, middle, runs, verb, statement, _ in lines:
        print(f"{middle:9.1f} {most:9.1f} {runs:5}  {verb}: {statement[:_SHOWN]}")
    slow_ones = 0
    with psycopg.connect(url) as connection:
        for most, middle, _, verb, statement, given in over:
            with contextlib.suppress(psycopg.Error):
                plan = [row[0] for row in connection.execute(f"EXPLAIN (ANALYZE, BUFFERS) {statement}", given)]
                again = float(plan[-1].split()[-2])  # "Execution Time: 1.234 ms"
                if again > slow:
                    slow_ones += 1
                    print(f"\n{verb}: {middle:.1f} ms, at most {most:.1f}, explained {again:.1f}\n  {statement}")
                    print("\n".join(f"  {line}" for line in plan))
            connection.rollback()
    print(f"{slow_ones} of {len(lines)} statements take more than {slow:.0f} ms")
    return slow_ones


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=1_000_000)
    parser.add_argument("--slow", type=float, default=50, help="milliseconds above which a statement's plan is shown")
    parser.add_argument("--folder", type=Path, help="where the server keeps its files: 9 kB a session are needed")
    arguments = parser.parse_args()
    logging.disable()
    with server(arguments.folder) as (made, _):
        url, began = made("million"), time.monotonic()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")  # commits are not measured here
            connection.execute("SELECT pg_reload_conf()")
        with PhoneMemory(url, settings=_SETTINGS) as memory:
            memory.consent.switch_on(_FIRST)
            memory.service.remember(_FIRST, "I live in Haifa")
            memory.instructions.add(_FIRST, "Answer in short")
            for number, text in enumerate(("what shall we cook tonight?", "I own a blue boat")):
                memory.reply(with_memory(memory), _FIRST, text, message_id=str(number))
            memory.sessions.clear_session(_FIRST)
            memory.index_past_sessions()
            memory.extract(_FIRST)
        with psycopg.connect(url, autocommit=True) as connection:
            people = fill(connection, arguments.sessions)
        print(f"{arguments.sessions:,} sessions of {people:,} people, filled in {time.monotonic() - began:.0f} s")
        watch = Watch()
        with watch.watching():
            exercised(watch, url, people)
        return 1 if told(watch, url, arguments.slow) else 0


if __name__ == "__main__":
    sys.exit(main())
