"""The notebooks run from top to bottom."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.slow

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.spec("U-7")
@pytest.mark.filterwarnings("default")  # the kernel's own libraries are not ours to mend
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_something(path):
    notebook = nbformat.read(path, as_version=4)

    NotebookClient(notebook, timeout=100, kernel_name="python3").execute()

    assert any(cell.get("outputs") for cell in notebook.cells)
