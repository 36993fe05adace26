"""The resolver as it is imported from the top: the offline model helps with indirect answers and nothing else."""

import json
import subprocess
import sys

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langmem_plugin import references, resolve

pytestmark = pytest.mark.slow

SONGS = [
    {"name": "Thunder Road", "about": "A loud rock anthem with electric guitars and a shouting crowd."},
    {"name": "Clair de Lune", "about": "A soft piano piece that helps people fall asleep."},
]
OFFERED = [
    HumanMessage("play something"),
    AIMessage("", tool_calls=[{"name": "songs", "args": {}, "id": "1"}]),
    ToolMessage(json.dumps(SONGS), tool_call_id="1", name="songs"),
    AIMessage("Would you like Thunder Road or Clair de Lune?"),
]


@pytest.mark.spec("R-1", "R-4")
def test_an_indirect_answer_to_a_choice_is_understood_in_meaning():
    assert not references.resolve("the quiet relaxing one", OFFERED).references
    assert resolve("the quiet relaxing one", OFFERED).items == [SONGS[1]]


@pytest.mark.spec("R-4")
def test_the_model_is_not_loaded_for_anything_else():
    code = (
        "import sys\n"
        "from langchain_core.messages import AIMessage\n"
        "from langmem_plugin import resolve\n"
        "talk = [AIMessage('1. Tea\\n2. Coffee\\n3. Milk')]\n"
        "assert resolve('number 2', talk).references\n"
        "assert not resolve('good morning', talk).references\n"
        "print('onnxruntime' in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert run.stdout.strip() == "False"


@pytest.mark.spec("R-4")
def test_without_the_model_the_same_numbers_mean_the_same_items():
    for utterance in ("the first one", "thunder road", "both"):
        assert resolve(utterance, OFFERED) == references.resolve(utterance, OFFERED)
