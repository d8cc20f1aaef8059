"""ExportProject: a project, never trained, as a program that trains it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from workbench.assets import data_path
from workbench.backbones import backbone_keys
from workbench.core.network.names import keras_names
from workbench.core.network.roles import float32_nodes, pipeline_nodes
from workbench.core.params import check_all
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import parse_project
from workbench.core.specs import ExportSpec, Shape
from workbench.core.training.recipe import TrainingRecipe, recipe_to_plain
from workbench.datasets import all_datasets
from workbench.errors import SaveError
from workbench.exports import training_exports, untrained_exports
from workbench.layers import all_layers
from workbench.programs.notebook_cells import network_source
from workbench.programs.pretrained import pretrained_name
from workbench.protocol.export import ExportProject
from workbench.protocol.messages import AnyAnswer, Done
from workbench.worker.input.sources import fit_of
from workbench.worker.process.lazy_keras import keras
from workbench.worker.requests.exporting.comparison import compare_answers, noise
from workbench.worker.requests.exporting.handler import format_of
from workbench.worker.requests.keras_calls import (
    KerasCall,
    initial_model,
    keras_calls,
    weights_bytes,
)
from workbench.worker.requests.load_weights import names_of_data
from workbench.worker.requests.session import Job
from workbench.worker.saved_models.keras_runner import build_whole

_BY_ORDER = {"split": "order", "group_by": "none", "split_seed": None, "folds": None}

_NUM_COMPARED = 2
"""Images that the start of a training is compared on: networks from ImageNet take their time."""


class ProgramContext:
    """What an ExportSpec is handed to write a project without errors: as `write` where it needs no
    weights, else as `write_project`.

    Attributes:
        class_names: As the data set names them; empty where it is not at hand.
        built: The project's network, built; it ends without softmax where `is_logits`.
        num_outputs: Scores that the network gives.
        input_shape: (height, width, channels) of an input image.
        fit: How images of other proportions are brought to the network's.
        load_program: The body of a function that loads the images; "" where people bring them.
        is_fixed_shape: The data set's own images have the network's input size.
        data_path: The name of the images' file or folder, without where it is on this computer.
        archive: The file with that name that comes with Workbench; None where people have it.
        has_split: Some images have to be kept apart from those to train on.
        recipe_values: The recipe as plain values, as a project file holds it.
    """

    def __init__(self, project: Project, class_names: list[str]) -> None:
        spec, params = all_datasets().get(project.dataset.key), project.dataset.params
        self._graph = project.graph
        self.title = project.title
        # A plain program knows no contents: it splits by the order of its images, and so does the
        # run that is made of its result.
        recipe = project.recipe.with_values(**_BY_ORDER)
        self.recipe: TrainingRecipe = recipe
        self.recipe_values: Mapping[str, Any] = recipe_to_plain(recipe)
        self.built = build_whole(project.graph, "the project")
        self.is_logits = self.built.is_logits
        self.num_outputs = int(self.built.model.output_shape[-1])
        self.input_shape: Shape = self.built.input_shape
        self.class_names = class_names
        self.fit = fit_of(params)
        # A plain program has no edits: its user brings the images as they are to be.
        has_program = spec is not None and not project.edits.changes_data
        self.load_program = spec.program if spec and has_program else ""
        self.is_fixed_shape = spec is not None and spec.shape == tuple(self.input_shape)
        self.archive = data_path(spec.archive) if spec is not None and spec.archive else None
        given = Path(str(params.get("path", ""))).name
        self.data_path = given or (self.archive.name if self.archive else "pictures")
        self.has_split = not self.load_program or project.recipe.validation == "split"

    def keras_calls(self) -> list[KerasCall]:
        """The network as Keras calls, in the order that data flows."""
        return self._calls

    @property
    def has_pretrained(self) -> bool:
        """Whether its training starts with pretrained weights."""
        return bool(backbone_keys(self._graph))

    def initial_weights(self) -> bytes:
        """What its training starts with, as a `.weights.h5` file."""
        return weights_bytes(self._initial_model)

    @cached_property
    def _initial_model(self) -> Any:
        return initial_model(self._graph, self.recipe.seed)

    @cached_property
    def _calls(self) -> list[KerasCall]:
        return keras_calls(self._graph)

    @cached_property
    def front(self) -> tuple[str, ...]:
        """Names of the layers that work on the host, in order.

        Layers of the chain that are no augmentation are left to the cores where they may be.
        """
        layers, names = all_layers(), keras_names(self._graph)
        chain = list(pipeline_nodes(self._graph, layers))
        while chain and layers[self._graph.nodes[chain[-1]].kind].place != "pipeline":
            chain.pop()
        return tuple(names[node_id] for node_id in chain)

    @property
    def float32_names(self) -> tuple[str, ...]:
        """Names of the layers that stay in float32 where the others do not."""
        names, chosen = keras_names(self._graph), float32_nodes(self._graph, all_layers())
        return tuple(names[node_id] for node_id in self._graph.order if node_id in chosen)

    def check(self) -> None:
        """Builds the network as the program does, and compares it with the project's.

        Raises:
            SaveError: its weights are others, so that they could not be read back; or it would
                put the pretrained weights elsewhere.
        """
        words: dict[str, Any] = {
            "keras": keras,
            "layers": keras.layers,
            "INPUT_SHAPE": tuple(self.input_shape),
            "BATCH_SIZE": self.recipe.batch_size,
            "CORES": 1,
            "__name__": "exported",
        }
        built = _build(network_source(self), words)
        self._compare(built[0] if self.front else built)

    def check_script(self, text: str) -> None:
        """Builds the network as a stand-alone script does, and compares it as `check` does."""
        self._compare(_build(text, {"__name__": "exported"}))

    def _compare(self, model: Any) -> None:
        ours = [tuple(weight.shape) for weight in self.built.model.weights]
        theirs = [tuple(weight.shape) for weight in model.weights]
        if ours != theirs:
            raise SaveError(
                "The script was not written: it would train a different model.",
                where=self.title,
                received=f"{len(theirs)} weight arrays",
                expected=f"{len(ours)} arrays with the project's shapes",
                fix="Please report this with the project file.",
            )
        if self.has_pretrained:
            self._compare_start(model)

    def _compare_start(self, model: Any) -> None:
        """Gives a program's network the weights that its training starts with, as it does."""
        with tempfile.TemporaryDirectory(prefix="workbench-export-") as folder:
            path = Path(folder) / "initial.weights.h5"
            path.write_bytes(self.initial_weights())
            model.load_weights(path)
        what = "The program was not written: its training would start with another network."
        images = noise(_NUM_COMPARED, self.input_shape)
        compare_answers(self._initial_model, model, images, what, self.title)


def _build(source: str, words: dict[str, Any]) -> Any:
    """What `build_model` of a program returns."""
    exec(compile(source, "exported.py", "exec"), words)  # noqa: S102 - our own text
    return words["build_model"]()


def export_project(job: Job, request: ExportProject) -> AnyAnswer:
    """Writes the program.

    Raises:
        InputError: no such format.
        ProjectFileError: the project text is damaged.
        WeightsError: the network has errors.
        SaveError: the file could not be written.
    """
    exports = training_exports() | untrained_exports()
    spec, path = format_of(request, exports, "Unknown export format for a project.")
    project = parse_project(request.project, "the project")
    job.progress(f"Writing {path.name}")
    names = _class_names(job, project)
    job.keras()
    context = ProgramContext(project, names)
    job.check_cancelled()
    write = spec.write_project or spec.write
    write(context, str(path))
    words = " ".join([f"Wrote {path}.", *_next_steps(spec, context, path.name)])
    return Done(id=job.id, text=words, path=str(path))


def _next_steps(spec: ExportSpec, context: ProgramContext, file: str) -> list[str]:
    if spec.needs_weights:
        steps = ["It builds the untrained network, and trains it with plain Keras."]
        if context.has_pretrained:
            steps.append(f"Keep {pretrained_name(file)} beside it: the pretrained weights.")
        return steps if context.class_names else [*steps, "Set CLASS_NAMES to your classes."]
    steps = ["It writes workbench_result.zip, which can be imported here."]
    if context.has_pretrained:
        steps.append(f"Take {pretrained_name(file)} along: it starts from these weights.")
    if context.archive is not None:
        return [*steps, f"It reads the images from {context.archive}: take that file along."]
    return steps if context.load_program else [*steps, "Set DATA to the path of the images."]


def _class_names(job: Job, project: Project) -> list[str]:
    """As the data set has them; [] where it is not at hand."""
    spec = all_datasets().get(project.dataset.key)
    if spec is None or check_all(spec.params, project.dataset.params)[1]:
        return []
    return list(names_of_data(job, project))
