"""Export: writes a model in one of the formats of workbench/exports, then compares."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec
import numpy as np

from workbench.backbones import backbone_keys
from workbench.core.network.graph import Graph
from workbench.core.projects.project_file import graph_from_plain
from workbench.core.specs import ExportSpec
from workbench.core.training.recipe import TrainingRecipe, recipe_from
from workbench.errors import InputError, SaveError
from workbench.exports import run_exports
from workbench.inference.runner import Pixels
from workbench.layers import all_layers
from workbench.protocol.export import Export as ExportRequest
from workbench.protocol.export import ExportProject
from workbench.protocol.messages import AnyAnswer, Done
from workbench.runs.model_card import ModelCard
from workbench.runs.store.references import REFERENCES_NAME, write_references
from workbench.worker.foreign.foreign_weights import read_foreign_weights
from workbench.worker.model.build import assign_weights, build_model
from workbench.worker.requests.keras_calls import (
    KerasCall,
    initial_model,
    keras_calls,
    weights_bytes,
)
from workbench.worker.requests.session import Job
from workbench.worker.saved_models.keras_runner import KerasRunner, load_keras_runner
from workbench.worker.saved_models.weights_layout import weights_layout

NUM_COMPARED = 8
"""Images that the model and its export are compared on."""

_TOLERANCE = 1e-4


class ExportContext:
    """What an ExportSpec's `write` is handed.

    Attributes:
        card: Class names, image shape, fit, graph and recipe as stored with the run.
        model: The whole Keras model with the run's weights: preprocessing inside, so it
            accepts raw 0..255 pixels of shape (n, height, width, channels).
        references_name, references_file: What the distance from the training images is measured by,
            as a file; None where it is not.
        folder: An empty scratch folder, removed afterwards.
        difference: The largest one that a comparison has found.
    """

    def __init__(self, runner: KerasRunner) -> None:
        self.card: ModelCard = runner.card
        self.graph: Graph = graph_from_plain(runner.card.graph, "the model card")
        self.recipe: TrainingRecipe = recipe_from(runner.card.recipe)[0]
        self.model: Any = runner.built.model
        self.references_name = REFERENCES_NAME
        self.references_file = _references_file(runner)
        self.folder = Path(tempfile.mkdtemp(prefix="workbench-export-"))
        self.difference = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def card_json(self) -> bytes:
        """The model card, for formats that can carry it along."""
        return msgspec.json.format(msgspec.json.encode(self.card), indent=1)

    def keras_calls(self) -> list[KerasCall]:
        """The network as Keras calls in order, without arguments that Keras chooses itself."""
        return keras_calls(self.graph)

    @property
    def has_pretrained(self) -> bool:
        """Whether its training started with pretrained weights."""
        return bool(backbone_keys(self.graph))

    def initial_weights(self) -> bytes:
        """What a program's training starts with, as a `.weights.h5` file."""
        return weights_bytes(initial_model(self.graph, self.recipe.seed))

    def pictures(self) -> Pixels:
        """The images of the comparison: noise, the same each time; uint8 (8, h, w, c)."""
        return noise(NUM_COMPARED, self.card.input_shape)

    def compare_keras(self, path: Path) -> None:
        """Reads an exported `.keras` back as Workbench does, and compares its answers."""
        self._compare(load_keras_runner(path).built.model, path.name)

    def compare_weights(self, path: Path) -> None:
        """Reads exported weights back into a fresh model of the same graph, and compares."""
        built = build_model(self.graph, all_layers(), whole=True, pretrained=False)
        assign_weights(built, read_foreign_weights(path, weights_layout(built)))
        self._compare(built.model, path.name)

    def compare_script(self, text: str) -> None:
        """Runs an exported script's `build_model`, gives it our weights, and compares."""
        names: dict[str, Any] = {"__name__": "exported"}
        exec(compile(text, "exported.py", "exec"), names)  # noqa: S102 - our own text
        model = names["build_model"]()
        path = self.folder / "compare.weights.h5"
        self.model.save_weights(path)
        model.load_weights(path)
        self._compare(model, "the script")

    def _compare(self, exported: Any, where: str) -> None:
        """Notes how far the export's answers are from the model's; raises SaveError if far."""
        what = "The export was not written: its predictions would differ from the model's."
        difference = compare_answers(self.model, exported, self.pictures(), what, where)
        self.difference = max(self.difference, difference)


def _references_file(runner: KerasRunner) -> bytes | None:
    if runner.references is None:
        return None
    with tempfile.TemporaryDirectory(prefix="workbench-export-") as folder:
        path = Path(folder) / REFERENCES_NAME
        write_references(path, runner.references.astype(np.float16))
        return path.read_bytes()


def noise(count: int, shape: Sequence[int]) -> Pixels:
    """Images of noise of a shape (height, width, channels), the same each time."""
    return np.random.default_rng(8).integers(0, 256, (count, *shape), dtype=np.uint8)


def compare_answers(ours: Any, theirs: Any, pictures: Pixels, what: str, where: str) -> float:
    """The largest difference between the answers of two models for some images.

    Raises:
        SaveError: in the words `what`, where it is too large.
    """
    x = pictures.astype(np.float32)
    expected = np.asarray(ours(x, training=False), np.float64)
    difference = float(np.abs(expected - np.asarray(theirs(x, training=False), np.float64)).max())
    if not difference <= _TOLERANCE * max(1.0, float(np.abs(expected).max())):
        raise SaveError(
            what,
            where=where,
            received=f"a difference of {difference:.2g}",
            expected=f"at most {_TOLERANCE:g}",
            fix="Please report this with the project file.",
        )
    return difference


def export(job: Job, request: ExportRequest) -> AnyAnswer:
    """Writes the file and reports how close its answers are to the model's.

    Raises:
        InputError: no such format.
        SaveError: the file could not be written, or its answers differ.
    """
    spec, path = format_of(request, run_exports(), "Unknown export format.")
    runner = job.keras_runner(request.model)
    job.progress(f"Writing {path.name}")
    with ExportContext(runner) as context:
        spec.write(context, str(path))
        difference = context.difference
    text = (
        f"Wrote {path}. On {NUM_COMPARED} images, its predictions differ from the "
        f"model's by at most {difference:.1e}."
    )
    return Done(id=job.id, text=text, path=str(path))


def format_of(
    request: ExportRequest | ExportProject, exports: Mapping[str, ExportSpec], unknown: str
) -> tuple[ExportSpec, Path]:
    """The requested format, and the path with its own ending, which Keras insists on.

    Raises:
        InputError: no such format, in the words `unknown`.
    """
    spec = exports.get(request.format)
    if spec is None:
        expected = "one of " + ", ".join(exports)
        raise InputError(unknown, received=request.format, expected=expected)
    path = Path(request.path)
    is_named = path.name.endswith(spec.suffix)
    return spec, path if is_named else path.with_name(path.name + spec.suffix)
