"""All texts a person gets stand in one table, so that a translation is a second one."""

import ast
import re
from dataclasses import fields
from pathlib import Path
from string import Formatter

import pytest

from langmem_plugin import agent
from langmem_plugin.agent.replies import ENGLISH

MODULES = sorted(Path(agent.__file__).parent.glob("*.py"))
FOR_THE_MODEL = {"prompt.py", "summary.py", "tools.py"}
FOR_WHO_WRITES_CODE = {"wiring.py"}
OF_OTHERS = {"questions.py"}  # what it recognises
SENTENCE = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}")


def sentences(source: str) -> list[str]:
    """Text in a module's literals: none of docstrings, of errors (for who writes code) or of patterns."""
    tree = ast.parse(source)
    other = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        or (isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile")
        for part in ast.walk(node)
    }
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in other]
    return [node.value for node in texts if isinstance(node.value, str) and SENTENCE.search(node.value)]


@pytest.mark.parametrize(
    "module",
    [each for each in MODULES if each.name not in FOR_THE_MODEL | FOR_WHO_WRITES_CODE | OF_OTHERS],
    ids=lambda each: each.name,
)
def test_only_the_table_holds_sentences_for_people(module):
    found = sentences(module.read_text("utf-8"))

    assert bool(found) == (module.name == "replies.py"), found


def test_a_sentence_in_the_code_would_be_seen():
    assert sentences('"""Doc string here."""\ndef f(word):\n    return f"I do not know {word}."') == ["I do not know "]


def test_every_text_is_there_and_can_be_filled_in():
    for field in fields(ENGLISH):
        held = getattr(ENGLISH, field.name)
        for text in held.values() if isinstance(held, dict) else [held]:
            assert text.strip()
            assert [name for _, name, _, _ in Formatter().parse(text) if name == ""] == []


def test_help_lists_each_command_once_and_no_other(memory):
    listed = memory.command("+972501234567", "/help").splitlines()

    assert [line.split()[0] for line in listed] == list(ENGLISH.usage)
    assert all(memory.command("+972501234567", command) for command in ENGLISH.usage)


def test_braces_in_what_a_person_writes_are_left_alone(memory):
    assert memory.command("+972501234567", "/remember my {code} is {0}") == ENGLISH.remembered.replace(
        "{fact}", "my {code} is {0}"
    )
