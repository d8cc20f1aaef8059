"""Models that answer at once: loaded from a run or an exported `.keras`, kept warm.

A foreign configuration is never turned into a model. What builds the network is our own
graph, from the model card; the weights are plain arrays under names the graph dictates.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from workbench.core.calibration.distance import Halves
from workbench.core.calibration.verdict import unknown_reason
from workbench.core.checks.analysis import analyse
from workbench.core.network.graph import Graph
from workbench.core.network.learning import with_training
from workbench.core.projects.project_file import graph_from_plain
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import RunError, WeightsError
from workbench.layers import all_layers
from workbench.pictures.decode import decode_reduced
from workbench.pictures.fit import fit_picture, side_to_decode
from workbench.processes.memory import available_memory
from workbench.protocol.trained.calibration import Calibration
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard
from workbench.runs.store.references import (
    MAX_FILE_BYTES,
    REFERENCES_NAME,
    read_references,
    references_path,
)
from workbench.runs.store.weights_file import read_arrays
from workbench.worker.foreign.foreign_weights import (
    read_any_card,
    read_archive_member,
    read_foreign_weights,
)
from workbench.worker.model.build import BuiltModel, assign_weights, build_model
from workbench.worker.model.hidden_outputs import flat_hidden, hidden_node, with_hidden
from workbench.worker.model.image_results import Answers, answers_of
from workbench.worker.model.inference_form import fast_inference
from workbench.worker.process.lazy_keras import keras, tf
from workbench.worker.saved_models.weights_layout import weights_layout

Pixels = np.ndarray[Any, np.dtype[np.uint8]]
Labels = np.ndarray[Any, np.dtype[np.int64]]
Probabilities = np.ndarray[Any, np.dtype[np.float32]]
Losses = np.ndarray[Any, np.dtype[np.float32]]

BATCH_SIZES = (1, 8, 32, 256)
"""Images are padded to one of these, so that few programs are compiled."""

_LARGE_BATCH_NUMBERS = 4_000_000
"""The largest batch is used only where its images hold fewer numbers than this."""


class Runner:
    """A model with its weights and its card, compiled on first use for each batch size. It is the
    whole network: preprocessing inside, augmentation at rest.

    Args:
        card: Its card, with the calibration.
        built: The network with its weights.
        graph: Its layers.
        references: What the distance from the training images is measured by; None for nothing.

    Attributes:
        extras: What others have made for this model, by their key; it is gone with the model.
    """

    def __init__(
        self, card: ModelCard, built: BuiltModel, graph: Graph, references: Halves | None = None
    ) -> None:
        self.card = card
        self.built = built
        self.graph = graph
        self.calibration = card.calibration or Calibration()
        self.extras: dict[str, Any] = {}
        self._shape = tuple(card.input_shape)
        self._sizes = [
            size
            for size in BATCH_SIZES
            if size <= 32 or size * int(np.prod(self._shape)) < _LARGE_BATCH_NUMBERS
        ]
        self.hidden = hidden_node(built, graph)
        # Converted once: each comparison would take another millisecond.
        fits = references is not None and references.shape[1:] == (self.hidden_size,)
        self.references = references.astype(np.float32) if references is not None and fits else None
        self._answer, self._score = _compiled(built, self.hidden)

    @property
    def hidden_size(self) -> int:
        """Outputs of the last hidden layer; 0 without one."""
        if self.hidden is None:
            return 0
        return int(with_hidden(self.built, self.hidden).outputs[1].shape[-1])

    def decoded(self, picture: str) -> tuple[Pixels, Pixels]:
        """An image, uint8 (height, width, channels), and the same as it is fitted to the model.

        Raises:
            PictureError: it cannot be read.
        """
        whole = decode_reduced(picture, side_to_decode(self._shape)).pixels
        return whole, fit_picture(whole, self._shape, fit=self.card.fit)

    def predict(self, x: Pixels) -> Probabilities:
        """Class probabilities of images, calibrated where the model is.

        From uint8 (n, height, width, channels), fitted to the card's input shape, to float32
        (n, classes); each row sums to 1 where the network ends in a softmax.

        Raises:
            RunError: the network's answer is not finite: its training has diverged.
        """
        return self.answer(x).probabilities

    def answer(self, x: Pixels) -> Answers:
        """As `predict`, with the distance from the training images."""
        rows, hidden = self._outputs(x)
        return self._answers(rows, hidden, None)

    def outputs(self, x: Pixels) -> tuple[Probabilities, Probabilities]:
        """Uncalibrated probabilities (n, classes) and the outputs of the last hidden layer (n, d),
        no columns without one; errors as `predict`.
        """
        rows, hidden = self._outputs(x)
        return self._finite(rows), _joined(hidden, self.hidden_size)

    def _outputs(self, x: Pixels) -> tuple[list[Probabilities], list[Probabilities]]:
        rows, hidden = [], []
        for padded, count, _ in self._batches(x):
            answer, inner = self._answer(padded)
            rows.append(answer.numpy()[:count])
            hidden.append(inner.numpy()[:count])
        return rows, hidden

    def score(self, x: Pixels, labels: Labels) -> Answers:
        """As `answer`, with each image's loss. Labels are int64 (n,)."""
        return self._answers(*self._scores(x, labels))

    def score_with_hidden(self, x: Pixels, labels: Labels) -> tuple[Answers, Probabilities]:
        """The same, with the outputs of the last hidden layer (n, d)."""
        rows, hidden, losses = self._scores(x, labels)
        return self._answers(rows, hidden, losses), _joined(hidden, self.hidden_size)

    def _scores(
        self, x: Pixels, labels: Labels
    ) -> tuple[list[Probabilities], list[Probabilities], Losses]:
        rows, hidden, losses = [], [], []
        for padded, count, start in self._batches(x):
            truth = np.zeros(len(padded), np.int64)
            truth[:count] = labels[start : start + count]
            answer, inner, loss = self._score(padded, truth)
            rows.append(answer.numpy()[:count])
            hidden.append(inner.numpy()[:count])
            losses.append(loss.numpy()[:count])
        return rows, hidden, np.concatenate(losses)

    def _answers(
        self, rows: list[Probabilities], hidden: list[Probabilities], losses: Losses | None
    ) -> Answers:
        inner = _joined(hidden, self.hidden_size if self.references is not None else 0)
        return answers_of(self.calibration, self.references, self._finite(rows), inner, losses)

    def unknown(self, answers: Answers, place: int) -> str:
        """Why the answer to the image at a place is "unknown"; "" where it is not."""
        found, far = self.calibration, answers.distances
        return unknown_reason(
            float(answers.probabilities[place].max()),
            least=found.least_probability,
            distance=float(far[place]) if far is not None else None,
            limit=found.limit,
        )

    def _batches(self, x: Pixels) -> Iterator[tuple[Pixels, int, int]]:
        """Pieces of one of the batch sizes: (images, how many of them count, where)."""
        if x.shape[1:] != self._shape:
            raise ValueError(f"images of shape {x.shape[1:]}, not {self._shape}")
        start = 0
        while start < len(x):
            waiting = len(x) - start
            size = next((size for size in self._sizes if size >= waiting), self._sizes[-1])
            chunk = np.ascontiguousarray(x[start : start + size])
            count = len(chunk)
            if count < size:
                chunk = np.concatenate([chunk, np.zeros((size - count, *self._shape), np.uint8)])
            yield chunk, count, start
            start += count

    def _finite(self, rows: list[Probabilities]) -> Probabilities:
        answer = _joined(rows, len(self.card.class_names))
        if not np.isfinite(answer).all():
            raise RunError(
                "The outputs of the model are not finite: its training diverged.",
                where=self.card.title,
                fix="Train it again with a lower learning rate.",
            )
        return answer


def _joined(rows: list[Probabilities], columns: int) -> Probabilities:
    return np.concatenate(rows) if rows else np.zeros((0, columns), np.float32)


def _compiled(built: BuiltModel, hidden: str | None) -> tuple[Any, Any]:
    """Two functions of uint8 images, compiled once for each batch size.

    The first gives probabilities and hidden outputs, of no columns without a hidden layer; the
    second has labels as an input too, and gives the losses, too. Both compute the network in its
    fast form, with the weights of now.
    """
    fast = fast_inference(built.model if hidden is None else with_hidden(built, hidden))

    def outputs_of(pictures: Any) -> tuple[Any, Any]:
        found = fast(pictures)
        outputs, inner = (found, found[:, :0]) if hidden is None else found
        return tf.cast(outputs, tf.float32), flat_hidden(inner)

    def answer(pictures: Any) -> Any:
        outputs, inner = outputs_of(pictures)
        return keras.ops.softmax(outputs) if built.is_logits else outputs, inner

    def score(pictures: Any, labels: Any) -> Any:
        outputs, inner = outputs_of(pictures)
        losses = keras.losses.sparse_categorical_crossentropy(
            labels, outputs, from_logits=built.is_logits
        )
        return keras.ops.softmax(outputs) if built.is_logits else outputs, inner, losses

    return tf.function(answer, autograph=False), tf.function(score, autograph=False)


def load_runner(path: str | Path) -> Runner:
    """Loads a model that can classify: a run folder, or a `.keras` that Workbench has exported.

    Raises:
        RunFolderError: no weights yet, or a damaged or newer card.
        WeightsError: damaged weights, or a file that Workbench has not exported.
        ProjectFileError: the card's graph is damaged.
    """
    path = Path(path)
    card = read_any_card(path)
    try:
        return _load(path, card)
    except WeightsError:
        # A trainer may have kept newer weights between our reading of card and weights.
        newer = read_any_card(path)
        if newer.checksum == card.checksum:
            raise
        return _load(path, newer)


def _load(path: Path, card: ModelCard) -> Runner:
    graph = graph_from_plain(card.graph, str(path))
    built = build_whole(graph, str(path))
    card = _with_all_names(card, built, str(path))
    assign_weights(built, _arrays(path, card, built))
    return Runner(card, built, graph, _references(path, card))


def _references(path: Path, card: ModelCard) -> Halves | None:
    """What the distance is measured by; None where there is none, or, with a line in the log, where
    it cannot be used: the model classifies without it.
    """
    mark = card.calibration.distance if card.calibration is not None else None
    if mark is None:
        return None
    try:
        if path.is_dir():
            return read_references(references_path(RunFolder(path)), mark.checksum)
        data = read_archive_member(path, REFERENCES_NAME, max_bytes=MAX_FILE_BYTES)
        return read_references(path, mark.checksum, data)
    except WeightsError as error:
        sys.stderr.write(f"The distance from the training images is not checked. {error}\n")
        return None


def build_whole(graph: Graph, where: str) -> BuiltModel:
    """The network with everything inside, float32, after its size has been judged.

    Raises:
        WeightsError: the graph has problems, or is too large for this computer.
    """
    # That a network is frozen keeps it from being trained, not from being used.
    usable = with_training(graph, graph.nodes, "always")
    analysis = analyse(usable, all_layers(), recipe=TrainingRecipe())
    if analysis.errors:
        raise WeightsError(
            f"The model cannot be built: {analysis.errors[0].title}.",
            where=where,
            received=analysis.errors[0].message,
            fix="Fix the problems of the project first.",
        )
    wanted = 4 * analysis.costs.parameters.total
    free = available_memory()
    if wanted > 0.9 * free:
        raise WeightsError(
            "The model is too large for this computer.",
            where=where,
            received=f"{wanted:,} bytes of weights",
            expected=f"at most {int(0.9 * free):,} bytes, 90% of the free memory",
        )
    return build_model(graph, all_layers(), whole=True, pretrained=False)


def _arrays(path: Path, card: ModelCard, built: BuiltModel) -> Mapping[str, np.ndarray[Any, Any]]:
    if path.is_dir():
        return read_arrays(RunFolder(path).weights_path, checksum=card.checksum)
    return read_foreign_weights(path, weights_layout(built))


def _with_all_names(card: ModelCard, built: BuiltModel, where: str) -> ModelCard:
    """The card with a name for each output: a network may have more outputs than classes."""
    units = int(built.model.output_shape[-1])
    if units < len(card.class_names) or tuple(built.input_shape) != tuple(card.input_shape):
        raise WeightsError(
            "The model card does not match its model.",
            where=where,
            received=f"{len(card.class_names)} classes, images {tuple(card.input_shape)}",
            expected=f"{units} classes, images {tuple(built.input_shape)}",
        )
    unnamed = [f"output {number + 1}" for number in range(len(card.class_names), units)]
    return msgspec.structs.replace(card, class_names=[*card.class_names, *unnamed])
