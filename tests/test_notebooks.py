"""The notebooks run from top to bottom, and were kept with what they show."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

from tests.cases import for_each

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.spec("U-7")
@pytest.mark.filterwarnings("default")  # the kernel's own libraries are not ours to mend
@for_each("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_something(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)

    # By files: a port that is free when it is chosen can be taken when the kernel begins to listen.
    files = Config({"KernelManager": {"transport": "ipc", "ip": str(tmp_path / "kernel")}})
    NotebookClient(notebook, timeout=250, startup_timeout=250, kernel_name="python3", config=files).execute()

    assert any(cell.get("outputs") for cell in notebook.cells)


@pytest.mark.spec("U-7")
@for_each("path", NOTEBOOKS)
def test_a_notebook_was_kept_with_what_it_shows_and_nothing_of_the_machine_it_ran_on(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    outputs = [output for cell in cells for output in cell.outputs]

    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert outputs
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]
    assert not [output for output in outputs if str(Path.home()) + "/" in str(output) or "/tmp/" in str(output)]
