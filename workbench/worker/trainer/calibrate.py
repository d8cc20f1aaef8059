"""The end of a training: temperature and distance of the weights that it has kept.

Where the frozen part's outputs are known, only the head is computed. The answers are those of the
network as it was trained: in bfloat16 they differ from the later ones, in float32, by less than the
temperature is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from workbench.core.calibration.distance import Halves, reference_places
from workbench.core.projects.project import Project
from workbench.errors import WorkbenchError
from workbench.inference.answers import Answers, answers_of
from workbench.pictures.prepare import PreparedPart
from workbench.protocol.trained.calibration import Calibration, calibration_words
from workbench.runs.store.references import keep_calibration
from workbench.worker.checkpoints.prepared import PreparedTraining, TrainingJob
from workbench.worker.execution.compiled import Compiled
from workbench.worker.input.pipeline import evaluation_pipeline
from workbench.worker.input.sharding import is_on_processors
from workbench.worker.model.build import BuiltModel
from workbench.worker.model.hidden_outputs import (
    flat_hidden,
    head_with_hidden,
    hidden_node,
    with_hidden,
)
from workbench.worker.process.lazy_keras import keras, tf
from workbench.worker.saved_models.calibrating import (
    MOST_VALIDATION,
    Floats,
    fit_calibration,
    refusal,
)
from workbench.worker.saved_models.keras_runner import load_keras_runner
from workbench.worker.trainer.after_training import AfterTraining, Report

_BATCH = 64
"""Images at once, where the training itself has as many: what it fits into is enough here."""


_PIECE = 512

OnImages = Callable[[int], None]
"""Takes how many images of a part are done."""

_Measure = Callable[[PreparedPart, OnImages], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Calibrated:
    """What makes answers of a network's outputs, as what answers later does.

    Attributes:
        found: The calibration.
        references: What the distance is measured by; None where it is not.
        hidden: The node whose outputs that takes; None without references.
    """

    found: Calibration = field(default_factory=Calibration)
    references: Halves | None = None
    hidden: str | None = None

    def answers(self, raw: Floats, hidden: Floats, losses: Floats) -> Answers:
        """See `answers_of`."""
        return answers_of(self.found, self.references, raw, hidden, losses)


def calibrate_run(job: TrainingJob, ready: PreparedTraining, after: AfterTraining) -> Calibrated:
    """Calibrates the weights that the run has kept, which are in the network. Where that is not
    possible the card and the log say why; where it is skipped, the log.
    """
    images, recipe = ready.images, job.project.recipe
    reason = refusal(recipe, images.validation)
    found, kept = Calibration(reason=reason, no_distance=reason), None
    try:
        if images.validation is not None and not reason:
            fitted = after.phase(
                "calibrating",
                "Calibrating on the validation images",
                partial(_fitted, job, ready),
            )
            if fitted is None:
                return Calibrated()
            found, kept = fitted
        found = keep_calibration(job.run, found, kept)
    except WorkbenchError as error:
        job.events.log_line(f"The model was not calibrated. {error}", level="warning")
        return Calibrated()
    job.events.log_line(calibration_words(found))
    hidden = hidden_node(ready.compiled.built, job.project.graph) if kept is not None else None
    return Calibrated(found, kept, hidden)


def _fitted(
    job: TrainingJob, ready: PreparedTraining, report: Report
) -> tuple[Calibration, Halves | None]:
    train, validation, size, measure = _measuring(job, ready)
    total = min(len(validation), MOST_VALIDATION) + len(reference_places(len(train), size))
    done = 0

    def reported(part: PreparedPart) -> tuple[Floats, Floats]:
        nonlocal done
        found = measure(part, lambda number: report((done + number) / max(total, 1)))
        done += len(part)
        return found

    return fit_calibration(validation, train, size, reported)


def _measuring(
    job: TrainingJob, ready: PreparedTraining
) -> tuple[PreparedPart, PreparedPart, int, _Measure]:
    """Training and validation images, or features; how many hidden outputs there are; and what
    computes them.
    """
    compiled, images = ready.compiled, ready.images
    validation = images.validation
    assert validation is not None  # noqa: S101 - for the type: it was refused
    if not is_on_processors(ready.target.strategy):
        runner = load_keras_runner(job.run.path)
        measure = _by_pieces(runner.outputs)
        return images.train, validation, runner.hidden_size, measure
    size = min(_BATCH, compiled.loop.step.batch_size)
    head = _head(job.project, compiled)
    features = compiled.features
    if head is not None and features is not None and features.validation is not None:
        measure = _by_model(head, features.head, [], size)
        return features.train, features.validation, int(head.outputs[1].shape[-1]), measure
    hidden = hidden_node(compiled.built, job.project.graph)
    layers = [layer for _, layer in compiled.built.pipeline]
    model = compiled.built.model if hidden is None else with_hidden(compiled.built, hidden)
    num_hidden = 0 if hidden is None else int(model.outputs[1].shape[-1])
    measure = _by_model(model, compiled.built, layers, size)
    return images.train, validation, num_hidden, measure


def _head(project: Project, compiled: Compiled) -> Any | None:
    """The network behind its frozen part with the hidden outputs; None where there is no such."""
    features, graph = compiled.features, project.graph
    hidden = hidden_node(compiled.built, graph)
    if features is None or hidden is None:
        return None
    return head_with_hidden(compiled.built, graph, features.end, hidden)


def _by_model(model: Any, built: BuiltModel, layers: Sequence[Any], size: int) -> _Measure:
    def measure(part: PreparedPart, on_images: OnImages) -> tuple[Floats, Floats]:
        rows = []
        for found in _outputs(model, built, evaluation_pipeline(part, layers, batch_size=size)):
            rows.append(found)
            on_images(min(size * len(rows), len(part)))
        columns = zip(*rows, strict=True)
        probabilities, hidden = (np.concatenate(column)[: len(part)] for column in columns)
        return probabilities, hidden

    return measure


def _outputs(model: Any, built: BuiltModel, batches: Any) -> Iterator[tuple[Floats, Floats]]:
    for batch in batches:
        found = model(tf.cast(batch[0], built.input_dtype), training=False)
        scores, hidden = found if isinstance(found, list | tuple) else (found, found[:, :0])
        scores = tf.cast(scores, tf.float32)
        scores = keras.ops.softmax(scores) if built.is_logits else scores
        yield scores.numpy(), flat_hidden(hidden).numpy()


def _by_pieces(outputs: Any) -> _Measure:
    def measure(part: PreparedPart, on_images: OnImages) -> tuple[Floats, Floats]:
        rows = []
        for start in range(0, len(part), _PIECE):
            on_images(start)
            rows.append(outputs(part.x[start : start + _PIECE]))
        probabilities, hidden = (np.concatenate(column) for column in zip(*rows, strict=True))
        return probabilities, hidden

    return measure
