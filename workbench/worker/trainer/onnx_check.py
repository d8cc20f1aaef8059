"""Whether ONNX Runtime classifies as TensorFlow does, by images of a training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.errors import NeedsTensorFlowError, WorkbenchError
from workbench.inference.load import load_onnx_runner
from workbench.inference.runner import Runner
from workbench.parts import CLASSIFY
from workbench.runs.model_card import MAX_DIFFERENCE, OnnxCheck
from workbench.runs.store.onnx_check import keep_onnx_check
from workbench.worker.checkpoints.prepared import PreparedTraining, TrainingJob
from workbench.worker.input.sharding import is_on_processors
from workbench.worker.saved_models.keras_runner import load_keras_runner

NUM_COMPARED = 32
"""Images: enough to find a layer that is computed otherwise, and no wait."""

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


def is_comparable(ready: PreparedTraining) -> bool:
    """Whether ONNX Runtime is there, and TensorFlow computes on the processor, too."""
    return CLASSIFY.is_installed and is_on_processors(ready.target.strategy)


def check_onnx(job: TrainingJob, ready: PreparedTraining, report: Callable[[float], None]) -> None:
    """Compares what both compute with the saved weights, and keeps the result in the card; with a
    line in the log where the model is computed by TensorFlow. `report` takes the fraction done.

    Call it where `is_comparable`: on another device TensorFlow computes with fewer digits.
    """
    images = ready.images
    part = images.test or images.validation or images.train
    path = job.run.path
    try:
        x = np.asarray(part.x[:NUM_COMPARED])
        runner = load_onnx_runner(path)
        report(1 / 4)
        keras = load_keras_runner(path)
        report(1 / 2)
        found = compared(runner, keras, x)
        keep_onnx_check(job.run, found)
    except NeedsTensorFlowError as error:
        job.events.log_line(f"The model classifies by TensorFlow. {error}")
    except WorkbenchError as error:
        job.events.log_line(str(error), level="warning")
    else:
        if not found.is_passed:
            job.events.log_line(_words(found), level="warning")


def compared(runner: Runner, keras: Runner, x: Pixels) -> OnnxCheck:
    """What two runners of one model compute for images (n, height, width, channels)."""
    rows, expected = runner.outputs(x)[0], keras.outputs(x)[0]
    wanted = expected.argmax(axis=1)[:, None]
    behind = rows.max(axis=1) - np.take_along_axis(rows, wanted, axis=1)[:, 0]
    return OnnxCheck(
        num_images=len(x),
        # Of two classes that are equally probable each is right.
        num_other_labels=int((behind > MAX_DIFFERENCE).sum()),
        max_difference=float(np.abs(rows - expected).max()),
    )


def _words(found: OnnxCheck) -> str:
    return (
        "The model classifies by TensorFlow: the probabilities of ONNX Runtime differ by up to "
        f"{found.max_difference:.1e}, and {found.num_other_labels} of {found.num_images} images "
        "have another class."
    )
