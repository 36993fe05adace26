"""Erasures at once that are killed in the middle: what the next sweep leaves, and what could still be restored.

    python benchmarks/erasure_killed.py                          # 100 times on SQLite in a temporary folder
    python benchmarks/erasure_killed.py --database postgresql://…

Each round a person with a memory, a conversation and a pending fact asks to be erased, in a process that is killed
after a time by chance; a sweep follows. It ends with status 1 if any row of a person is left or any can be restored.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time

from langchain_core.messages import AIMessage, HumanMessage

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.database.operations_tables import held_row
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings
from langmem_plugin.privacy import erasure_hold


def main(url: str, times: int) -> int:
    chance, model = random.Random(5), OfflineEmbeddings()
    settings = Settings(sweep_every=None, extraction="off", search_past_sessions=False)
    left = restorable = killed = 0
    for number in range(times):
        who = f"+97250{number:07d}"
        with PhoneMemory(url, settings=settings, embeddings=model) as memory:
            memory.service.remember(who, f"the secret of {who}")
            memory.service.remember(who, f"perhaps a secret of {who}", status="pending")
            memory.sessions.record(who, HumanMessage("hello"))
            memory.sessions.record(who, AIMessage("hello to you"))
        process = os.fork()
        if process == 0:
            with PhoneMemory(url, settings=settings, embeddings=model) as memory:
                memory.erase(who, now=True)
            os._exit(0)
        time.sleep(chance.uniform(0.0, 0.4))
        os.kill(process, signal.SIGKILL)
        killed += os.WIFSIGNALED(os.waitpid(process, 0)[1])
        with PhoneMemory(url, settings=settings, embeddings=model) as memory:
            memory.housekeeping.sweep()
            with memory.database.read() as connection:
                there = erasure_hold.left_of(connection, [who])
                held = connection.execute(held_row.select().limit(1)).first()
            was_begun = memory.erasure.can_restore(who) is not None or not there
            restorable += memory.erasure.can_restore(who) is not None
            left += was_begun and (bool(there) or held is not None)
            if there:  # it was killed before anything had happened: that is done now
                memory.erase(who, now=True)
    print(f"{times} erasures, {killed} killed: {left} left traces, {restorable} can be restored")
    return 1 if left or restorable else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--database", help="SQLite in a temporary folder if not given")
    parser.add_argument("--times", type=int, default=100)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(main(asked.database or f"sqlite:///{folder}/erased.db", asked.times))
