"""Runs the code cells of an exported notebook, or an exported script, as a notebook service does.

python notebook_cells.py PROGRAM CORES PICTURES.npy ANSWERS.npy
python notebook_cells.py PROGRAM CORES trace FAULTS.json
python notebook_cells.py PROGRAM CORES phases PICTURES.npy WEIGHTS.npz

In the working folder. Each cell is a file of its own, as the source of functions must be found.
With several cores the processor is split, as a TPU's cores are. At the end the trained model of
the program answers for some pictures.

With "trace" the cores are a TPU's that does not exist: all cells run up to the training itself,
whose calls are traced, of both phases where there are two, and what is not as it must be on a TPU
is written.

With "phases" a notebook of two phases is run, and the weights are written as they are at its start,
where the phases meet, and at the end: as "start/LAYER/NUMBER", "head/...", "end/...". The answers
of the untrained model are there as "answers".
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np


def main(program: Path, cores: int, pictures: Path, answers: Path) -> None:
    if cores > 1:
        _split_processor(cores)
    names = _run(_cells(program), {"__name__": "__main__"})
    model, x = names["model"], np.load(pictures).astype(np.float32)
    np.save(answers, np.asarray(model(x, training=False)))


def trace(program: Path, cores: int, faults: Path) -> None:
    import tensorflow as tf

    from tests.fake_tpu import _trace, fake_strategy

    strategy = fake_strategy(tf, cores)
    tf.distribute.OneDeviceStrategy = lambda _device: strategy
    names, training = _prepared(_cells(program))

    def faults_of_steps() -> list[str]:
        call = names["train_steps"].get_concrete_function(tf.TensorSpec((), tf.int32))
        return _trace(call, len(names["network"].trainable_variables)).faults(cores)

    found = faults_of_steps()
    if "start_fine_tuning" in names:
        before = len(names["network"].trainable_variables)
        # As the training does it, whose own steps cannot run here.
        assert "= start_fine_tuning()" in training[0]
        names["optimizer"] = names["start_fine_tuning"]()
        names["train_steps"] = tf.function(names["train_steps"].python_function)
        assert len(names["network"].trainable_variables) > before
        found += faults_of_steps()
    batch = next(iter(names["test_batches"]))
    scored = _trace(names["score_batch"].get_concrete_function(*batch), 0)
    if scored.replicas != (cores,) or any("Conv" in op for op in scored.outside):
        found.append(f"scoring: {scored.replicas} replicas, outside {sorted(scored.outside)}")
    faults.write_text(json.dumps(found))


def phases(program: Path, cores: int, pictures: Path, weights: Path) -> None:
    if cores > 1:
        _split_processor(cores)
    names, training = _prepared(_cells(program))
    model, x = names["model"], np.load(pictures).astype(np.float32)
    found = {"answers": np.asarray(model(x, training=False))}

    def keep(when: str) -> None:
        for layer in model.layers:
            for number, array in enumerate(layer.get_weights()):
                found[f"{when}/{layer.name}/{number}"] = array

    def watched() -> Any:
        keep("head")
        return start()

    keep("start")
    start, names["start_fine_tuning"] = names["start_fine_tuning"], watched
    _run(training, names)
    keep("end")
    np.savez(weights, **found)


def _prepared(cells: list[str]) -> tuple[dict[str, Any], list[str]]:
    """What the cells before the training define, and the cells from there on."""
    (training,) = [number for number, text in enumerate(cells) if text.startswith("best_epoch")]
    return _run(cells[:training], {"__name__": "__main__"}), cells[training:]


def _run(cells: list[str], names: dict[str, Any]) -> dict[str, Any]:
    for number, text in enumerate(cells):
        cell = Path(f"cell_{number}_of_{len(cells)}.py").resolve()
        cell.write_text(text, encoding="utf-8")
        exec(compile(text, str(cell), "exec"), names)  # noqa: S102 - what is under test
    return names


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
    gc.disable()  # looking for garbage takes a fifth of so short a program's time
    if sys.argv[3] == "trace":
        sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
        trace(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[4]))
    elif sys.argv[3] == "phases":
        phases(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[4]), Path(sys.argv[5]))
    else:
        main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]))
