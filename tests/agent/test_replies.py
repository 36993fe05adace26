"""All texts a person gets stand in one table, so that a translation is a second one."""

import ast
import re
from pathlib import Path
from string import Formatter

import pytest

from langmem_plugin import agent
from langmem_plugin.agent.replying.reply_texts import ENGLISH, replies_in
from tests.cases import for_each

MODULES = sorted(Path(agent.__file__).parent.rglob("*.py"))
FOR_THE_MODEL = {
    "prompt_texts.py",
    "memory_tools.py",
    "write_permission.py",
    "model_input.py",
    "summary_of_left_out.py",
    "tool_node_and_id_check.py",
}
WHAT_PEOPLE_WRITE = {"forget_undo_why.py", "recognition.py", "interrupt_questions.py"}
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


def test_no_module_holds_sentences_for_people_and_each_names_texts_that_there_are():
    for module in MODULES:
        source = module.read_text("utf-8")
        named = re.findall(r"\b(?:task\.)?(?:replies|texts)(?:\(\))?\.([a-z_]+)\b(?!\()", source)
        assert set(named) <= vars(ENGLISH).keys(), module.name
        if module.name not in FOR_THE_MODEL | WHAT_PEOPLE_WRITE:
            assert sentences(source) == [], module.name


def test_a_sentence_in_the_code_would_be_seen():
    assert sentences('"""Doc string here."""\ndef f(word):\n    return f"I do not know {word}."') == ["I do not know "]


def texts_of(replies):
    """Every text by its place: its name, and in a mapping the key."""
    found = {}
    for name, held in vars(replies).items():
        found |= {(name, key): text for key, text in (held.items() if isinstance(held, dict) else [("", held)])}
    return found


def filled_in(text):
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name is not None)


@pytest.mark.spec("U-2")
@for_each("language", ["en", "he", "es"])
def test_every_text_is_there_in_every_language_and_is_filled_in_with_the_same(language):
    translated, english = texts_of(replies_in(language)), texts_of(ENGLISH)

    assert translated.keys() == english.keys()
    for place, text in translated.items():
        assert text.strip(), place
        assert "" not in filled_in(text), place
        assert filled_in(text) == filled_in(english[place]), place


@pytest.mark.spec("U-2")
@for_each("language", ["he", "es"])
def test_every_text_is_translated_and_no_sentence_stands_twice(language):
    translated, english = texts_of(replies_in(language)), texts_of(ENGLISH)

    same = {place for place, text in translated.items() if text == english[place]}
    assert same <= {("instruction_on", ""), ("no_word", "")}  # the Spanish for "no"
    assert len(set(english.values())) == len(english)


def test_a_text_that_is_not_there_is_named():
    with pytest.raises(AttributeError, match="hello_there"):
        ENGLISH.hello_there  # noqa: B018


@pytest.mark.spec("U-2")
@for_each("language", ["he", "es"])
def test_help_names_commands_that_are_known_in_the_language(memory, language):
    for usage in replies_in(language).usage.values():
        assert memory.commands.knows(usage.split()[0])


def test_help_lists_each_command_once_and_no_other(memory):
    listed = memory.command("+972501234567", "/help").splitlines()

    assert [line.split()[0] for line in listed] == list(ENGLISH.usage)
    assert all(memory.command("+972501234567", command) for command in ENGLISH.usage)


def test_braces_in_what_a_person_writes_are_left_alone(memory):
    assert memory.command("+972501234567", "/remember my {code} is {0}") == ENGLISH.remembered.replace(
        "{fact}", "my {code} is {0}"
    )
