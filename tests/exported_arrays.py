"""Runs an exported program in a process of its own, and keeps the images that it has read.

python exported_arrays.py program PROGRAM OUT.npz           a notebook, or a training script
python exported_arrays.py python PROGRAM OUT.npz IMAGES     a Python script: reads and trains
python exported_arrays.py folder CLASSIFY OUT.npz FILE...   the script of a ready folder

In the working folder. Kept are `x_train`, `y_train` and so on, or `x` of the files, and `names`, those
of the classes.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np

PARTS = ("train", "validation", "test")


def main(kind: str, program: Path, out: Path, *files: str) -> None:
    """Runs one; see above."""
    found: dict[str, Any] = {}
    if kind == "program":
        sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
        from tests.worker.notebook_cells import _cells, _run

        values = _run(_cells(program), {"__name__": "__main__"})
        found = {f"{axis}_{part}": values[f"{axis}_{part}"] for part in PARTS for axis in "xy"}
    elif kind == "python":
        sys.argv = [str(program), "train", *files, "trained.weights.h5"]
        values = runpy.run_path(str(program))
        for part, (x, y) in zip(PARTS, values["load_data"](files[0]), strict=True):
            found |= {f"x_{part}": x, f"y_{part}": y}
        values["main"]()
    else:
        values = runpy.run_path(str(program))
        found["x"] = np.stack([values["load_image"](file) for file in files])
    names = values["CLASS_NAMES"] if kind != "folder" else values["FACTS"]["class_names"]
    np.savez(out, names=np.array(names), **found)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])
