"""The notebook for Colab and Kaggle, run as a notebook by another Python, and its results imported."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
KINDS = {
    "without a TPU": ["tensorflow", "keras==3.15.1"],
    "packages for TPUs": ["tensorflow-tpu==2.20.0", "libtpu==0.0.31", "keras==3.15.1"],
}
"""Environments in which the cells run, on a processor."""

_EXECUTE = (
    "import nbformat; from nbclient import NotebookClient;"
    "book = nbformat.read('train.ipynb', as_version=4);"
    "NotebookClient(book, timeout=1800).execute();"
    "outputs = [o.get('text', '') for c in book.cells for o in c.get('outputs', [])];"
    "print(*outputs, sep='')"
)


def main() -> int:
    """Prints a line for each environment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default="python3.13", help="what makes the environments")
    python = shutil.which(parser.parse_args().python)
    if python is None:
        raise SystemExit("No such Python: give --python PROGRAM.")
    for kind, packages in KINDS.items():
        with tempfile.TemporaryDirectory() as name:
            print(f"| {kind} | {_try(Path(name), python, packages)} |", flush=True)
    return 0


def _try(place: Path, python: str, packages: list[str]) -> str:
    """Exports here, trains there, imports and evaluates here; what was used, and the results."""
    x = np.random.default_rng(1).integers(0, 256, (600, 28, 28), np.uint8)
    y = np.arange(600) % 10
    x[:, :, :] //= 4
    for number, label in enumerate(y):
        x[number, 2 * label : 2 * label + 4] = 250  # a bar at the height of the class
    np.savez(place / "bars.npz", x_train=x[:500], y_train=y[:500], x_test=x[500:], y_test=y[500:])
    here = [sys.executable, "-m", "workbench"]
    _run(place, *here, "new", "fashion_convnet", "p.workbench")
    values = ("epochs=4", "batch_size=50", "validation_freq=2", "keep=best")
    _run(place, *here, "set", "p.workbench", "data=npz:bars.npz", *values)
    _run(place, *here, "notebook", "p.workbench", "train.ipynb")
    there = place / "there" / "bin" / "python"
    _run(place, python, "-m", "venv", str(place / "there"))
    began = time.monotonic()
    install = (str(there), "-m", "pip", "install", "--quiet", "nbclient", "ipykernel")
    _run(place, *install, *packages)
    installed_s = time.monotonic() - began
    printed = _run(place, str(there), "-c", _EXECUTE)
    device = next(line for line in printed.splitlines() if line.startswith("TensorFlow "))
    version = _run(place, str(there), "--version").strip()
    read = _run(place, *here, "readback", "workbench_result.zip", "p.workbench", "--json")
    run = str(json.loads(read.splitlines()[-1])["run"])
    found = json.loads(_run(place, *here, "evaluate", run, "--json").splitlines()[-1])
    return (
        f"{version}, {device}; installed in {installed_s:.0f} s; imported, "
        f"test accuracy {found['accuracy']:.3f}"
    )


def _run(place: Path, *words: str) -> str:
    own = {
        "WORKBENCH_HOME": str(place / "home"),
        "PYTHONPATH": str(ROOT) if words[0] == sys.executable else "",
        "PATH": f"{Path(words[0]).parent}{os.pathsep}{os.environ['PATH']}",
        "TPU_SKIP_MDS_QUERY": "1",  # this is no TPU VM: libtpu would ask for what it is
    }
    done = subprocess.run(
        words, cwd=place, env={**os.environ, **own}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
