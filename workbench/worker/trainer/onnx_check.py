"""Whether ONNX Runtime classifies as TensorFlow does, by the test images of a training."""

from __future__ import annotations

import numpy as np

from workbench.errors import NeedsTensorFlowError, WorkbenchError
from workbench.inference.answers import ImageResults
from workbench.inference.load import load_onnx_runner
from workbench.inference.runner import Runner
from workbench.pictures.prepare import PreparedPart
from workbench.runs.model_card import MAX_DIFFERENCE, OnnxCheck
from workbench.runs.store.onnx_check import keep_onnx_check
from workbench.worker.checkpoints.prepared import PreparedTraining, TrainingJob
from workbench.worker.input.sharding import is_on_processors

NUM_COMPARED = 256
"""The first test images: enough to find a layer that is computed otherwise, and no wait."""


def check_onnx(job: TrainingJob, ready: PreparedTraining, expected: ImageResults) -> None:
    """Compares the saved weights' answers with TensorFlow's for the test images, and keeps what
    that has found in the card; with a line in the log where the answers differ.

    Another device computes with fewer digits: then nothing is compared.
    """
    part = ready.images.test
    if part is None or not is_on_processors(ready.target.strategy):
        return
    try:
        found = compared(load_onnx_runner(job.run.path), part, expected)
        keep_onnx_check(job.run, found)
    except NeedsTensorFlowError as error:
        job.events.log_line(f"The model classifies with TensorFlow. {error}")
        return
    except WorkbenchError as error:
        job.events.log_line(str(error), level="warning")
        return
    if not found.is_passed:
        job.events.log_line(
            "The model classifies with TensorFlow: ONNX Runtime's probabilities differ by up to "
            f"{found.max_difference:.1e}, with {found.num_other_labels} other classes on "
            f"{found.num_images} images.",
            level="warning",
        )


def compared(runner: Runner, part: PreparedPart, expected: ImageResults) -> OnnxCheck:
    """The first images as a runner classifies them, beside what is expected.

    Args:
        runner: The model to check.
        part: Images, at least one.
        expected: What TensorFlow answers for them, in float32.
    """
    count = min(NUM_COMPARED, len(part))
    rows, _ = runner.outputs(np.asarray(part.x[:count]))
    wanted = expected.predicted[:count]
    own, highest = rows[np.arange(count), wanted], rows.max(axis=1)
    return OnnxCheck(
        num_images=count,
        # Of two classes that are equally probable each is right.
        num_other_labels=int((highest - own > MAX_DIFFERENCE).sum()),
        max_difference=float(np.abs(own - expected.raw[:count]).max()),
    )
