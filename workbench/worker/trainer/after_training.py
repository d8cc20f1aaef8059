"""What a trainer does behind its last step, when the weights are saved: phases that each have a
bar and can be skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from workbench.core.calibration import Halves, reference_places
from workbench.core.projects.project import Project
from workbench.errors import NeedsTensorFlowError, WorkbenchError
from workbench.inference.onnx_runner import load_onnx_runner
from workbench.inference.runner import Answers, ImageResults, Runner, answers_of, score_all
from workbench.parts import CLASSIFY
from workbench.pictures.prepare import PreparedPart
from workbench.protocol.events import TestResult
from workbench.protocol.trained.calibration import Calibration, calibration_words
from workbench.runs.folder import RunFolder
from workbench.runs.home import check_own
from workbench.runs.model_card import MAX_DIFFERENCE, OnnxCheck, write_card
from workbench.runs.store.evaluation import keep_robustness
from workbench.runs.store.image_features import keep_calibration
from workbench.worker.checkpoints.training_state import PreparedTraining, TrainingJob
from workbench.worker.execution.compiled import Compiled
from workbench.worker.input.pipeline import WHOLE, evaluation_pipeline, is_on_processors
from workbench.worker.model.build import BuiltModel
from workbench.worker.model.inference_form import (
    flat_hidden,
    head_with_hidden,
    hidden_node,
    with_hidden,
)
from workbench.worker.process.lazy_keras import keras, tf
from workbench.worker.process.run_channel import BaseLoadContext, finite
from workbench.worker.saved_models.calibrating import (
    MOST_VALIDATION,
    Floats,
    fit_calibration,
    refusal,
)
from workbench.worker.saved_models.evaluation import (
    class_scores_of,
    evaluation_of,
    keep,
    refuse_unknown,
    robustness_of,
    scored_images,
)
from workbench.worker.saved_models.keras_runner import load_keras_runner
from workbench.worker.step.training_loop import TimeLedger

# loading -------------------------------------------------------------------------------------
# A model that classifies at once: by ONNX Runtime where it can be, else in Keras.


def load_runner(path: str | Path) -> Runner:
    """Loads a run folder, or a `.keras` that Workbench has exported.

    Raises:
        RunFolderError: no weights yet, or a damaged or newer card.
        WeightsError: damaged weights, or a file that Workbench has not exported.
        ProjectFileError: the card's graph is damaged.
    """
    try:
        return load_onnx_runner(path)
    except NeedsTensorFlowError:
        return load_keras_runner(path)


# onnx check ----------------------------------------------------------------------------------
# What comparing ONNX Runtime with TensorFlow has found, in a run's card.


def keep_onnx_check(run: RunFolder, found: OnnxCheck) -> None:
    """Writes what was found of a run's present weights into its card.

    Raises:
        LinkFoundError: the folder is a link.
        RunFolderError, SaveError: it cannot be read or written.
    """
    check_own(run.path)
    write_card(run.path, msgspec.structs.replace(run.model_card(), onnx_check=found))


# onnx check ----------------------------------------------------------------------------------
# Whether ONNX Runtime classifies as TensorFlow does, by images of a training.

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


# after training ------------------------------------------------------------------------------

Report = Callable[[float], None]
"""Takes the fraction done, 0..1, of a phase; ends it, by an exception, where it is skipped."""

T = TypeVar("T")


class SkippedError(Exception):
    """A phase was left out on request."""


class AfterTraining:
    """Carries out one phase after the other.

    Args:
        job: Its event log gets the phases; a stop that comes from now on ends all of them.
        ledger: All of the time is booked under "after".
    """

    def __init__(self, job: TrainingJob, ledger: TimeLedger) -> None:
        self._events = job.events
        self._stop = job.stop
        self._stop.begin_after()
        ledger.begin_after()

    def phase(self, name: str, words: str, work: Callable[[Report], T]) -> T | None:
        """What `work` returns; None where it was skipped, which is logged.

        Args:
            name: As of `PhaseChanged.phase`.
            words: What is done, as "Evaluating on the test set".
            work: Called with what takes its progress.
        """
        report = partial(self._report, name, words)
        try:
            report(0.0)
            return work(report)
        except SkippedError:
            self._events.log_line(f"Skipped: {words[:1].lower()}{words[1:]}.")
            return None

    def _report(self, name: str, words: str, fraction: float) -> None:
        if self._stop.ends_all or self._stop.takes_skip():
            raise SkippedError
        self._events.phase(name, words, fraction, can_skip=True)


# saved test ----------------------------------------------------------------------------------
# The test of what a training has saved: by the weights on the disk, as Evaluate tests them.

_MAX_WORDS = 400
"""Characters that are logged of a library's error; TensorFlow's can be pages long."""


def is_saved_test_needed(ready: PreparedTraining) -> bool:
    """Whether the training computes with fewer digits than what answers later, in float32. Of
    several machines only one has the weights.
    """
    compiled = ready.compiled
    return compiled.plan.precision != "float32" and compiled.loop.share == WHOLE


def saved_test(
    job: TrainingJob, ready: PreparedTraining, report: Callable[[float], None]
) -> ImageResults | None:
    """What the saved weights answer for the test images; None without any, or, with a warning in
    the log, where they cannot be loaded.
    """
    part = ready.images.test
    if part is None:
        return None
    try:
        # Another device is faster than ONNX Runtime on the processor.
        is_here = is_on_processors(ready.target.strategy)
        load: Callable[[Path], Runner] = load_runner if is_here else load_keras_runner
        return score_all(load(job.run.path), part.x, part.y, report)
    except WorkbenchError as error:
        job.events.log_line(str(error), level="warning")
        return None


def test_result(part: PreparedPart, results: ImageResults, loss: float) -> TestResult:
    """The scores of a test in all."""
    accuracy = float(np.mean(results.predicted == part.y))
    return TestResult(loss=finite(loss), accuracy=accuracy, count=len(part))


def keep_test(
    job: TrainingJob,
    part: PreparedPart,
    results: ImageResults,
    report: Callable[[float], None],
) -> None:
    """Keeps the test with what was answered for each image as the run's evaluation; with a warning
    in the log where that is not possible. `report` takes the fraction done.

    Images that were sent from another computer are not kept: it has them under other names.
    """
    if job.run.request().parcel:
        return
    try:
        card = job.run.model_card()
        images = scored_images(part, part.y, results, TestLoadContext(report))
        rows = class_scores_of(part.y, results)
        keep(job.run, card, evaluation_of(card, part.y, results), images, rows)
    except WorkbenchError as error:
        job.events.log_line(str(error), level="warning")


def is_robustness_wanted(job: TrainingJob) -> bool:
    """Whether the project has robustness tests, and its images are here."""
    return bool(job.project.robustness) and not job.run.request().parcel


def keep_measured(job: TrainingJob, part: PreparedPart, report: Callable[[float], None]) -> None:
    """Measures the saved weights on the project's robustness tests and keeps that with the run;
    with a warning in the log where it is not possible. `report` takes the fraction done.
    """
    tests = job.project.robustness
    try:
        refuse_unknown(tests)
        runner = load_runner(job.run.path)
        result = robustness_of(runner, part.x, part.y, tests, on_progress=report)
        keep_robustness(job.run, result, runner.card.checksum)
    except SkippedError:
        raise
    except WorkbenchError as error:
        job.events.log_line(str(error), level="warning")
    except Exception as error:  # noqa: BLE001 - the weights are kept: a full GPU fails no training
        words = f"The robustness was not measured. {type(error).__name__}: {error}"
        job.events.log_line(words[:_MAX_WORDS], level="warning")


class TestLoadContext(BaseLoadContext):
    """A LoadContext that a stop of the training does not end."""

    __test__ = False

    def __init__(self, report: Callable[[float], None]) -> None:
        self._report = report

    def check_cancelled(self) -> None:
        """No-op: the test is not canceled."""

    def keras(self) -> Any:
        """Is never called: no data set is loaded here."""
        raise NotImplementedError

    def _report_progress(self, _text: str, fraction: float | None) -> None:
        self._report(fraction or 0.0)


# calibrate -----------------------------------------------------------------------------------
# The end of a training: temperature and distance of the weights that it has kept.
#
# Where the frozen part's outputs are known, only the head is computed. The answers are those of the
# network as it was trained: in bfloat16 they differ from the later ones, in float32, by less than
# the temperature is known.

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
