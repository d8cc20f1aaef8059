"""What an export format is handed in the process that writes it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from workbench.backbones import all_backbones, backbone_keys
from workbench.core.network.graph import Graph
from workbench.core.projects.project_file import graph_from_plain
from workbench.core.specs import ExportSpec, LayerSpec
from workbench.core.training.recipe import TrainingRecipe, recipe_from
from workbench.inference.runner import Pixels
from workbench.layers import all_layers
from workbench.runs.model_card import ModelCard
from workbench.runs.store.references import REFERENCES_NAME, write_references
from workbench.worker.foreign.foreign_weights import read_foreign_weights
from workbench.worker.model.build import assign_weights, build_model, read_weights
from workbench.worker.model.inference_form import logits_of
from workbench.worker.process.lazy_keras import keras, tf
from workbench.worker.requests.exporting.comparison import compare_answers, noise
from workbench.worker.requests.exporting.keras2 import refuse_unknown_layers
from workbench.worker.requests.exporting.ready import facts_of, inner_temperature
from workbench.worker.requests.keras_calls import (
    KerasCall,
    initial_model,
    keras_calls,
    weights_bytes,
)
from workbench.worker.saved_models.keras2_file import write_keras2_weights
from workbench.worker.saved_models.keras_runner import KerasRunner, load_keras_runner
from workbench.worker.saved_models.weights_layout import weights_layout

NUM_COMPARED = 8
"""Images of noise that a file of Keras is compared on as it is written."""


class ExportContext:
    """What an ExportSpec's `write` is handed.

    Attributes:
        spec: The format.
        card: Class names, image shape, fit, graph and recipe as stored with the run.
        model: The whole Keras model with the run's weights: preprocessing inside, so it
            accepts raw 0..255 pixels of shape (n, height, width, channels).
        tf, keras: The modules.
        references_name, references_file: What the distance from the training images is measured by,
            as a file; None where it is not.
        folder: An empty scratch folder, removed afterwards.
        calibration: Training images, uint8 (n, height, width, channels); none where the format has
            not asked for them.
        has_layers: `answers` holds the outputs of each layer, too, by `layer_names`.
        until: Id of the layer whose outputs are the "scores" of `answers`; "" for the last.
        images: None: a run's program comes without the images.
    """

    tf, keras, images = tf, keras, None

    def __init__(
        self,
        runner: KerasRunner,
        spec: ExportSpec,
        folder: Path,
        calibration: Pixels | None = None,
        *,
        has_layers: bool = False,
        until: str = "",
    ) -> None:
        self.spec = spec
        self.card: ModelCard = runner.card
        self.graph: Graph = graph_from_plain(runner.card.graph, "the model card")
        self.recipe: TrainingRecipe = recipe_from(runner.card.recipe)[0]
        self.model: Any = runner.built.model
        self.references_name = REFERENCES_NAME
        self.references_file = _references_file(runner)
        self.folder = folder
        none = np.zeros((0, *runner.card.input_shape), np.uint8)
        self.calibration = none if calibration is None else calibration
        self.has_layers = has_layers
        self.until = until
        self._built = runner.built

    @cached_property
    def layer_names(self) -> dict[str, str]:
        """Name of the output of each layer in `answers`, by node id, in the order data flows."""
        nodes = [node for node in self.graph.order if node in self._built.outputs]
        return {node: f"layer_{number:04}" for number, node in enumerate(nodes)}

    @property
    def layers(self) -> Mapping[str, LayerSpec]:
        """The layer types."""
        return all_layers()

    @cached_property
    def weights(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """All weights by "layer/weight", as the run keeps them."""
        return read_weights(self._built)

    @property
    def keras_names(self) -> Mapping[str, str]:
        """Name of the Keras layer by node id."""
        return self._built.names

    def answers(self, images: Any) -> dict[str, Any]:
        """The network's answers as tensors by name: "scores", the probabilities of the classes.

        Args:
            images: A tensor of raw images 0..255 of any type, (n, height, width, channels).
        """
        if self.until:
            part = keras.Model(self.model.inputs, self._built.outputs[self.until])
            found = part(tf.cast(images, tf.float32), training=False)
            return {"scores": tf.cast(keras.ops.reshape(found, (len(found), -1)), tf.float32)}
        names = self.layer_names if self.has_layers else {}
        outputs = {name: self._built.outputs[node] for node, name in names.items()}
        network = keras.Model(self.model.inputs, {"scores": self.model.output, **outputs})
        found = dict(network(tf.cast(images, tf.float32), training=False))
        found["scores"] = self._probabilities(found["scores"])
        return {name: tf.cast(values, tf.float32) for name, values in found.items()}

    def _probabilities(self, scores: Any) -> Any:
        temperature = inner_temperature(self.card, self.spec)
        if temperature is None:
            return keras.ops.softmax(scores) if self.card.is_logits else scores
        logits = scores if self.card.is_logits else logits_of(scores)
        return keras.ops.softmax(logits * (1 / temperature))

    @staticmethod
    def lowered(function: Any) -> Any:
        """A concrete function of TensorFlow without variables, its branches and calls as operations
        of one graph.
        """
        # There is no public way.
        from tensorflow.python.framework import convert_to_constants

        return convert_to_constants.convert_variables_to_constants_v2(function)

    @property
    def made_by(self) -> str:
        """This program and its version."""
        return facts_of(self.card, self.spec).made_by

    def facts_json(self) -> bytes:
        """What a program has to know of the model, for formats that can carry it along."""
        return msgspec.json.format(msgspec.json.encode(facts_of(self.card, self.spec)), indent=1)

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

    @property
    def licenses(self) -> list[str]:
        """A sentence for each set of pretrained weights that its training started with."""
        known = all_backbones()
        keys = [key for key in backbone_keys(self.graph) if key in known]
        return [f"Pretrained weights of {known[key].title}: {known[key].license}." for key in keys]

    def initial_weights(self) -> bytes:
        """What a program's training starts with, as a `.weights.h5` file."""
        return weights_bytes(initial_model(self.graph, self.recipe.seed))

    def refuse_other_keras2(self, calls: Sequence[KerasCall]) -> None:
        """Raises SaveError where Keras 2 has not one of the layers, or not its arguments."""
        refuse_unknown_layers(calls)

    def write_keras2_weights(self, path: Path) -> None:
        """Writes the weights in the layout of Keras 2."""
        write_keras2_weights(self.model, path)

    def compare_keras(self, path: Path) -> None:
        """Reads an exported `.keras` as Workbench does; raises SaveError where it differs."""
        self._compare(load_keras_runner(path).built.model, path.name)

    def compare_weights(self, path: Path) -> None:
        """Reads exported weights into a fresh model of the graph; raises SaveError where its
        answers differ.
        """
        built = build_model(self.graph, all_layers(), whole=True, pretrained=False)
        found = read_foreign_weights(path, weights_layout(built), by_order=True)
        assign_weights(built, found.arrays)
        self._compare(built.model, path.name)

    def _compare(self, exported: Any, where: str) -> None:
        what = "The export was not written: its predictions would differ from the model's."
        pictures = noise(NUM_COMPARED, self.card.input_shape)
        compare_answers(self.model, exported, pictures, what, where)


def _references_file(runner: KerasRunner) -> bytes | None:
    if runner.references is None:
        return None
    with tempfile.TemporaryDirectory(prefix="workbench-export-") as folder:
        path = Path(folder) / REFERENCES_NAME
        write_references(path, runner.references.astype(np.float16))
        return path.read_bytes()
