"""The pages, the example and the notebook, run as they are printed."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def blocks(page):
    text = (ROOT / "docs" / page).read_text()
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


@pytest.mark.parametrize("page", ["python.md", "sweeps.md"])
def test_the_programs_of_a_page_run(page, tmp_path):
    programs = blocks(page)
    assert len(programs) >= 2
    # One program, in a process of its own: Dask's workers import it again. Blocks that have a main part stay apart.
    parts = [[]]
    for program in programs:
        parts.append([program]) if "__main__" in program else parts[0].append(program)
    for number, part in enumerate(filter(None, parts)):
        path = tmp_path / f"program{number}.py"
        # Processes of `workers` import nothing of this file, so it needs no main part.
        path.write_text("\n".join(part))
        done = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_the_bucket_is_stepped_a_thousand_times(capsys):
    example = runpy.run_path(str(ROOT / "crates/barchan_py/examples/bucket_env.py"))
    example["main"]()
    said = capsys.readouterr().out
    assert said.startswith("1000 steps")
    with capsys.disabled():
        print(said, end="")


def test_the_notebook_runs(tmp_path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(ROOT / "docs/notebooks/collapse.ipynb", as_version=4)
    # The kernel of this interpreter, not one that the user has installed.
    os.environ["JUPYTER_PATH"] = str(Path(sys.prefix) / "share" / "jupyter")
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    printed = "".join(
        output.get("text", "") for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
    )
    assert "run-out" in printed and "40 degrees" in printed
