"""Runs the code cells of an exported notebook, or an exported script, as a notebook service does.

python notebook_cells.py PROGRAM CORES PICTURES.npy ANSWERS.npy

In the working folder. Each cell is a file of its own, as the source of functions must be found.
With several cores the processor is split, as a TPU's cores are. At the end the trained model of
the program answers for some pictures.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np


def main(program: Path, cores: int, pictures: Path, answers: Path) -> None:
    if cores > 1:
        _split_processor(cores)
    names = {"__name__": "__main__"}
    for number, text in enumerate(_cells(program)):
        cell = Path(f"cell_{number}.py").resolve()
        cell.write_text(text, encoding="utf-8")
        exec(compile(text, str(cell), "exec"), names)  # noqa: S102 - what is under test
    model, x = names["model"], np.load(pictures).astype(np.float32)
    np.save(answers, np.asarray(model(x, training=False)))


def _cells(program: Path) -> list[str]:
    text = program.read_text(encoding="utf-8")
    if program.suffix == ".py":
        return [text]
    return ["".join(c["source"]) for c in json.loads(text)["cells"] if c["cell_type"] == "code"]


def _split_processor(cores: int) -> None:
    import tensorflow as tf

    processor = tf.config.list_physical_devices("CPU")[0]
    parts = [tf.config.LogicalDeviceConfiguration()] * cores
    tf.config.set_logical_device_configuration(processor, parts)
    mirrored = tf.distribute.MirroredStrategy(
        [f"/cpu:{number}" for number in range(cores)],
        cross_device_ops=tf.distribute.ReductionToOneDevice(),
    )
    tf.distribute.OneDeviceStrategy = lambda _device: mirrored


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]))
