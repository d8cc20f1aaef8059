"""ExportProject: a project, never trained, as a program that trains it.

A program reads no images of people: they go with it, packed as a run of the project has them. Only
data sets that Keras downloads, without edits and at their own size, are loaded by the program
itself.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from workbench.backbones import backbone_keys
from workbench.core.format import bytes_text, plural
from workbench.core.network.graph import keras_names
from workbench.core.network.roles import float32_nodes, pipeline_nodes
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import parse_project
from workbench.core.specs import ExportSpec, Shape
from workbench.core.training.recipe import TrainingRecipe, recipe_to_plain
from workbench.datasets import all_datasets
from workbench.errors import DatasetError, InputError, ParamError, SaveError
from workbench.exports import training_exports, untrained_exports
from workbench.layers import all_layers
from workbench.programs.notebook import network_source
from workbench.programs.texts import images_name, pretrained_name
from workbench.protocol.export import ExportProject
from workbench.protocol.messages import Done
from workbench.runs.state.preparing import with_remembered_split
from workbench.runs.trust import UnknownPlaceError
from workbench.worker.input.packed_images import (
    PackedImages,
    is_loaded_there,
    packed_images,
    refuse_other_outputs,
)
from workbench.worker.input.sources import fit_of
from workbench.worker.model.build import BuiltModel
from workbench.worker.process.lazy_keras import keras
from workbench.worker.requests.exporting.converter import (
    KerasCall,
    initial_model,
    keras_calls,
    weights_bytes,
)
from workbench.worker.requests.exporting.handler import format_of
from workbench.worker.requests.exporting.proof import compare_answers, noise
from workbench.worker.requests.load_weights import names_of_data
from workbench.worker.requests.session import Job
from workbench.worker.saved_models.keras_runner import build_whole

_BY_ORDER = {"split": "order", "group_by": "none", "split_seed": None, "folds": None}

_NUM_COMPARED = 2
"""Images that the start of a training is compared on: networks from ImageNet take their time."""


class ProgramContext:
    """What an ExportSpec is handed to write a project without errors: as `write` where it needs no
    weights, else as `write_project`.

    Args:
        project: The project.
        built: Its network.
        images: What a run of it would train on; None where the program, or people, bring them.
        class_names: Where there are no `images`.

    Attributes:
        class_names: As the data set names them; empty where it is not at hand.
        built: The project's network; it ends without softmax where `is_logits`.
        num_outputs: Scores that the network gives.
        input_shape: (height, width, channels) of an input image.
        fit: How images of other proportions are brought to the network's.
        images: As given.
        load_program: The body of a function that loads the images; "" where the program has none.
        recipe: What the program trains by: without validation where there are no images for it,
            with batches that are not larger than the training part.
        recipe_values: The project's recipe as plain values, as a project file holds it, for the
            run that is made of the program's result.
        has_test: There are images to test on.
    """

    def __init__(
        self,
        project: Project,
        built: BuiltModel,
        images: PackedImages | None,
        class_names: Sequence[str] = (),
    ) -> None:
        spec = all_datasets().get(project.dataset.key)
        self._graph = project.graph
        self.title = project.title
        self.built = built
        self.is_logits = built.is_logits
        self.num_outputs = int(built.model.output_shape[-1])
        self.input_shape: Shape = built.input_shape
        self.class_names = list(images.class_names if images is not None else class_names)
        self.fit = fit_of(project.dataset.params)
        self.images = images
        self.load_program = spec.program if spec is not None and images is None else ""
        recipe = project.recipe
        if images is None:
            # A program alone knows no contents: it splits by the order of its images, and so does
            # the run that is made of its result.
            recipe = recipe.with_values(**_BY_ORDER)
        self.recipe_values: Mapping[str, Any] = recipe_to_plain(recipe)
        self.recipe = recipe if images is None else _fitting(recipe, images)
        self.has_test = images is None or images.counts[2] > 0

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


def export_project(job: Job, request: ExportProject) -> Done:
    """Writes the program, and the images and weights that it needs beside it.

    Raises:
        InputError: no such format.
        ProjectFileError: the project text is damaged.
        WeightsError: the network has errors.
        DatasetError: the program would train on other images than a run here, as they cannot be
            packed.
        SaveError: a file could not be written.
    """
    exports = training_exports() | untrained_exports()
    spec, path = format_of(request, exports, "Unknown export format for a project.")
    project = with_remembered_split(parse_project(request.project, "the project"))
    job.progress(f"Writing {path.name}")
    job.keras()
    built = build_whole(project.graph, "the project")
    images, why = _images(job, project, spec, built)
    names = () if images is not None else names_of_data(job, project)
    context = ProgramContext(project, built, images, names)
    job.check_cancelled()
    write = spec.write_project or spec.write
    write(context, str(path))
    words = " ".join([f"Wrote {path}.", *_next_steps(spec, context, path, why)])
    return Done(id=job.id, text=words, path=str(path))


def _images(
    job: Job, project: Project, spec: ExportSpec, built: BuiltModel
) -> tuple[PackedImages | None, str]:
    """The images that go with the program, or None with the reason why there are none: "" where it
    loads them itself.

    Raises:
        DatasetError: the program could not train without them, or on them.
    """
    num_outputs = int(built.model.output_shape[-1])
    if is_loaded_there(project, built.input_shape):
        if not spec.needs_weights:
            refuse_other_outputs(names_of_data(job, project), num_outputs)
        return None, ""
    try:
        return packed_images(job, project, built.input_shape, num_outputs), ""
    except (InputError, ParamError, UnknownPlaceError) as error:
        if spec.needs_weights:  # the network is worth having by itself
            return None, error.what
        raise DatasetError(
            "The program was not written: the images that it has to train on cannot be packed.",
            where=error.where,
            received=error.what,
            expected=error.expected,
            fix=error.fix or "Choose the images in Data, or open the project where they are.",
        ) from error


def _fitting(recipe: TrainingRecipe, images: PackedImages) -> TrainingRecipe:
    """A recipe for the images at hand, as the trainer takes it."""
    num_train, num_validation, num_test = images.counts
    is_validated = {"split": num_validation, "test": num_test, "none": 0}[recipe.validation] > 0
    return recipe.with_values(
        validation=recipe.validation if is_validated else "none",
        batch_size=min(recipe.batch_size, num_train),
    )


def _next_steps(spec: ExportSpec, context: ProgramContext, path: Path, why: str) -> list[str]:
    """What people have to know, in sentences."""
    if spec.needs_weights:
        steps = ["It builds the untrained network, and trains it with plain Keras."]
    else:
        steps = ["It writes workbench_result.zip, which can be imported here."]
    if context.images is not None:
        file = path.with_name(images_name(path.name))
        size = bytes_text(file.stat().st_size)
        steps.append(f"Take {file} along, {size}: the images it trains on, {context.images.words}.")
        if context.images.bad_files:
            steps.append(f"{plural(len(context.images.bad_files), 'unreadable image')} left out.")
    if why:
        steps.append(f"The images are not packed with it. {why}")
    if context.has_pretrained:
        file = path.with_name(pretrained_name(path.name))
        steps.append(f"Take {file} along, the pretrained weights it starts from.")
    return steps if context.class_names else [*steps, "Set CLASS_NAMES to your classes."]
