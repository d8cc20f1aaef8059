"""A model computed by ONNX Runtime, from the run's graph and weights."""

from __future__ import annotations

import math
import os
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from workbench.core.calibration import Halves
from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Graph, keras_names
from workbench.core.network.roles import find_outputs, input_nodes, last_hidden
from workbench.core.projects.project_file import graph_from_plain
from workbench.errors import (
    GraphError,
    NeedsTensorFlowError,
    RunError,
    WeightsError,
    WorkbenchError,
)
from workbench.inference.many import classify_many
from workbench.inference.runner import (
    Labels,
    Outputs,
    Pixels,
    Runner,
    load_by_card,
    references_of,
    refuse_large,
    with_all_names,
)
from workbench.layers import all_layers
from workbench.onnx.model import HIDDEN, IMAGES, SCORES, onnx_model
from workbench.parts import CLASSIFY, TRAIN
from workbench.protocol.bases import Answer
from workbench.protocol.classify import ClassifyMany
from workbench.protocol.messages import Failed, Progress
from workbench.protocol.wire import error_parts
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard
from workbench.runs.store.image_features import read_references, references_path
from workbench.runs.store.weights_file import read_run_weights

_TOGETHER_NUMBERS = 1_000_000
"""Numbers that the largest layer puts out for the images that are computed together. With more,
they leave the processor's cache, and large images are classified faster one by one."""

_MOST_TOGETHER = 256

_MOST_THREADS = 8
"""Pieces that are computed at the same time: each takes memory of its own."""

Values = np.ndarray[Any, np.dtype[np.float32]]


class OnnxRunner(Runner):
    """A model in ONNX Runtime. May be used by several threads at once.

    Args:
        card: Its card, with the calibration and a name for each output.
        model: The network in ONNX, with logits, see `onnx_model`; and with the outputs of the last
            hidden layer where there is one.
        largest_layer: Numbers that its largest layer gives for an image.
        hidden_size: Outputs of the last hidden layer; 0 without one.
        references: What the distance from the training images is measured by; None for nothing.

    Raises:
        Exception: ONNX Runtime refuses the model; of its own classes.
    """

    def __init__(
        self,
        card: ModelCard,
        model: bytes,
        *,
        largest_layer: int,
        hidden_size: int,
        references: Halves | None = None,
    ) -> None:
        super().__init__(card, hidden_size, references)
        together = _TOGETHER_NUMBERS // max(largest_layer, math.prod(self._shape))
        # A power of two, which divides the batches that images come in.
        self._together = min(_MOST_TOGETHER, 1 << max(0, together.bit_length() - 1))
        self._session = _session(model)
        self._wanted = [SCORES, HIDDEN] if hidden_size else [SCORES]

    def _compute(self, x: Pixels, labels: Labels | None) -> Outputs:
        starts = range(0, len(x), self._together)
        pieces = [np.ascontiguousarray(x[start : start + self._together]) for start in starts]
        found: Iterable[list[Values]] = map(self._run, pieces)
        if len(pieces) > 1:
            found = self._threads.map(self._run, pieces)
        logits, *hidden = (np.concatenate(column) for column in zip(*found, strict=True))
        inner = hidden[0] if hidden else np.zeros((len(x), 0), np.float32)
        losses = None if labels is None else cross_entropy(logits, labels)
        return Outputs(softmax(logits), inner, losses)

    def _run(self, x: Pixels) -> list[Values]:
        found: list[Values] = self._session.run(self._wanted, {IMAGES: x})
        return found

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        count = min(_MOST_THREADS, os.cpu_count() or 1)
        return ThreadPoolExecutor(count, thread_name_prefix="classify")


def softmax(logits: Values) -> Values:
    """Probabilities of logits (n, classes)."""
    with np.errstate(invalid="ignore"):  # of infinite ones: not finite, which the runner reports
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares: Values = powers / powers.sum(axis=1, keepdims=True)
    return shares


def cross_entropy(logits: Values, labels: Labels) -> Values:
    """The loss of each image (n,), of logits (n, classes) and labels (n,)."""
    with np.errstate(invalid="ignore"):
        shifted = logits - logits.max(axis=1, keepdims=True)
        own = np.take_along_axis(shifted, labels[:, None], axis=1)[:, 0]
        losses: Values = np.log(np.exp(shifted).sum(axis=1)) - own
    return losses


def _session(model: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # what it refuses is raised as well
    # Threads that wait for work by spinning take the processor from those that decode images.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


# load ----------------------------------------------------------------------------------------
# Loading a run folder as a model that classifies without TensorFlow.

Arrays = Mapping[str, np.ndarray[Any, Any]]


def load_onnx_runner(path: str | Path) -> OnnxRunner:
    """The model of a run folder.

    Raises:
        NeedsTensorFlowError: it is no run folder, or its network is not computed here; TensorFlow,
            which then computes it, is installed.
        MissingPartError: what computes it is not installed.
        RunFolderError: no weights yet, or a damaged or newer card.
        WeightsError: damaged weights, or not those of the network.
        ProjectFileError: the card's graph is damaged.
    """
    try:
        return _load_run(RunFolder(Path(path)))
    except NeedsTensorFlowError as error:
        if TRAIN.is_installed:
            raise
        raise TRAIN.error(reason=f"{error.what} {error.received}".strip()) from error


def _load_run(run: RunFolder) -> OnnxRunner:
    if not run.path.is_dir():
        where = str(run.path)
        raise NeedsTensorFlowError("Weights of Keras are read with TensorFlow.", where=where)
    if not CLASSIFY.is_installed:
        if TRAIN.is_installed:
            raise NeedsTensorFlowError("ONNX Runtime is not installed.")
        raise CLASSIFY.error()
    return load_by_card(run.model_card, partial(_load, run))


def _load(run: RunFolder, card: ModelCard) -> OnnxRunner:
    where = str(run.path)
    if card.onnx_check is not None and not card.onnx_check.is_passed:
        raise NeedsTensorFlowError("ONNX Runtime computed other outputs.", where=where)
    graph, layers = graph_from_plain(card.graph, where), all_layers()
    known = Propagation(graph, layers)
    outputs = find_outputs(graph, layers)
    if known.problems or len(outputs) != 1 or len(known.shapes[outputs[0]]) != 1:
        raise NeedsTensorFlowError("The network has problems.", where=where)
    first, output = input_nodes(graph, layers)[0].id, outputs[0]
    largest = max(math.prod(shape) for shape in known.shapes.values())
    card = with_all_names(card, known.shapes[output][0], known.shapes[first], where)
    arrays = read_run_weights(run.path, card)
    # ONNX Runtime copies the weights that the model holds, twice while it is opened.
    num_bytes = 3 * sum(array.nbytes for array in arrays.values()) + 2 * 4 * largest
    refuse_large(num_bytes, "bytes while it is loaded", where)
    hidden = last_hidden(graph, layers, partial(_has_kernel, keras_names(graph), arrays))
    model = _written(graph, arrays, hidden, where)
    try:
        return OnnxRunner(
            card,
            model,
            largest_layer=largest,
            hidden_size=0 if hidden is None else known.shapes[hidden][-1],
            references=references_of(card, partial(read_references, references_path(run))),
        )
    except Exception as error:  # of ONNX Runtime: it has no common class
        raise NeedsTensorFlowError(
            "ONNX Runtime refuses the network.", where=where, received=str(error)[:400]
        ) from error


def _written(graph: Graph, arrays: Arrays, hidden: str | None, where: str) -> bytes:
    try:
        return onnx_model(graph, all_layers(), arrays, hidden=hidden, as_logits=True)
    except GraphError as error:
        raise NeedsTensorFlowError(error.what, where=error.where or where) from error
    except WeightsError as error:
        raise WeightsError(error.what, where=where, received=error.received) from error
    except ValueError as error:  # weights of shapes that NumPy cannot compute with
        raise NeedsTensorFlowError(
            "The network cannot be written in ONNX.", where=where, received=str(error)[:400]
        ) from error


def _has_kernel(names: Mapping[str, str], arrays: Arrays, node: str) -> bool:
    own = f"{names[node]}/"
    return any(array.ndim > 1 for name, array in arrays.items() if name.startswith(own))


# local call ----------------------------------------------------------------------------------
# Classification in this process, in place of a service worker: nothing else is started.


class LocalCall:
    """Classifies as the service worker does, with one model.

    Args:
        model: Path of a run folder.

    Raises:
        NeedsTensorFlowError: a service worker is needed; see `load_onnx_runner` for other errors.
    """

    def __init__(self, model: str) -> None:
        self._runner = load_onnx_runner(model)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        pass

    def answers(self, request: ClassifyMany) -> Iterator[Answer]:
        """Yields the answers as they come; the last is a final one. A caller that goes away before
        the last cancels the request.
        """
        task = _Task(request.id, self._runner)
        thread = threading.Thread(target=_work, args=(task, request), name="classify", daemon=True)
        thread.start()
        try:
            while (answer := task.answers.get()) is not None:
                yield answer
        finally:
            task.cancel()
            thread.join()


class _Task:
    """The request while it is done, see `Task`."""

    def __init__(self, request_id: int, runner: Runner) -> None:
        self.id = request_id
        self.answers: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
        self._runner = runner
        self._cancelled = threading.Event()

    def send(self, answer: Answer, /) -> None:
        self.answers.put(answer)

    def progress(self, text: str, fraction: float | None = None) -> None:
        self.send(Progress(id=self.id, text=text, fraction=fraction))

    def cancel(self) -> None:
        self._cancelled.set()

    def check_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise RunError("Canceled.")

    def runner(self, _model: str) -> Runner:
        return self._runner


def _work(task: _Task, request: ClassifyMany) -> None:
    try:
        task.send(classify_many(task, request))
    except WorkbenchError as error:
        task.send(Failed(id=task.id, error=error_parts(error)))
    finally:
        task.answers.put(None)
