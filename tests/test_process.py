"""The memory is a guest in somebody else's program: what the whole process shares stays as it was."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

GUEST = """
import asyncio, decimal, faulthandler, gc, locale, logging, os, signal, socket, sys, tempfile, threading, warnings
import alembic.command, langchain_openai, numpy, onnxruntime, phonenumbers, rapidfuzz, sqlalchemy, tokenizers
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph

def umask():
    os.umask(before := os.umask(0o77))
    return before

def state():
    root = logging.root
    loggers = {name: each for name, each in root.manager.loggerDict.items() if isinstance(each, logging.Logger)}
    return {
        "collector": (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count(), len(gc.callbacks)),
        "signals": {each: signal.getsignal(each) for each in signal.valid_signals()},
        "warnings": [*map(str, warnings.filters)],
        "logging": (root.level, [*root.handlers], root.manager.disable, logging.getLoggerClass(), logging.raiseExceptions),
        "loggers": {name: (each.level, [*each.handlers], each.disabled) for name, each in loggers.items() if name in known},
        "environment": dict(os.environ),
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits(), threading.stack_size()),
        "hooks": (sys.excepthook, threading.excepthook, sys.unraisablehook, sys.gettrace(), faulthandler.is_enabled()),
        "locale": locale.setlocale(locale.LC_ALL),
        "numbers": (numpy.geterr(), str(decimal.getcontext())),
        "directory": (os.getcwd(), umask(), socket.getdefaulttimeout()),
        "paths": ([*sys.path], [*map(repr, sys.meta_path)]),
        "event loops": type(asyncio.get_event_loop_policy()),
    }

touched = []
for name in ("disable", "enable", "freeze", "unfreeze", "set_threshold", "set_debug", "collect"):
    setattr(gc, name, lambda *given, name=name: touched.append(name))
known = [*logging.root.manager.loggerDict]
before = state()

from langmem_plugin import MemoryState, PhoneMemory

with tempfile.TemporaryDirectory() as folder, PhoneMemory(f"sqlite:///{folder}/langmem.db") as memory:
    def agent(state):
        return {"messages": AIMessage(f"{len(memory.prompt(state, 'You are Mom Bot.'))}")}

    graph = (
        StateGraph(MemoryState)
        .add_node("recall", memory.recall_node()).add_node("agent", agent).add_node("write", memory.write_node())
        .add_edge(START, "recall").add_edge("recall", "agent").add_edge("agent", "write")
        .compile(checkpointer=memory.saver)
    )
    async def talk():
        async with memory.turn("+972501234567") as config:
            await graph.ainvoke({"messages": "hello"}, config)

    for text in ("/remember I like tea", "what do I like?", "save number 2", "/search tea", "/memories", "/reset"):
        memory.reply(graph, "+972501234567", text)
    asyncio.run(talk())
    memory.index_past_sessions()

after = state()
print({name: after[name] for name in before if before[name] != after[name]}, touched)
"""


@pytest.mark.spec("U-11")
def test_what_the_whole_process_shares_stays_as_it_was():
    done = subprocess.run([sys.executable, "-c", GUEST], capture_output=True, text=True, check=False)

    assert done.stdout == "{} []\n", done.stderr
