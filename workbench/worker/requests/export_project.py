"""ExportProject: a project, never trained, as a program that trains it elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from workbench.core.network.names import keras_names
from workbench.core.network.pipeline_split import pipeline_nodes
from workbench.core.network.precision import float32_nodes
from workbench.core.params import check_all
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import parse_project
from workbench.core.specs import Shape
from workbench.core.training.recipe import TrainingRecipe, recipe_to_plain
from workbench.datasets import all_datasets
from workbench.errors import InputError, SaveError
from workbench.exports import project_exports
from workbench.layers import all_layers
from workbench.programs.notebook_cells import network_source
from workbench.protocol.messages import AnyAnswer, Done, ExportProject
from workbench.worker.input.sources import fit_of
from workbench.worker.process.lazy_keras import keras
from workbench.worker.requests.export import with_suffix
from workbench.worker.requests.keras_calls import KerasCall, keras_calls
from workbench.worker.requests.load_weights import names_of_data
from workbench.worker.requests.session import Job
from workbench.worker.saved_models.model_runner import build_whole


class ProgramContext:
    """What the `write` of an ExportSpec without weights is handed.

    Args:
        project: What is to be trained; without errors.
        class_names: As the data set names them; empty where it is not at hand.

    Attributes:
        title, recipe, class_names: Values of the project.
        built: Its network, built.
        num_outputs: Scores that the network gives.
    """

    def __init__(self, project: Project, class_names: list[str]) -> None:
        self._project = project
        self._graph = project.graph
        self._spec = all_datasets().get(project.dataset.key)
        self.title = project.title
        self.recipe: TrainingRecipe = project.recipe
        self.built = build_whole(project.graph, "the project")
        self.num_outputs = int(self.built.model.output_shape[-1])
        self.class_names = class_names

    @property
    def is_logits(self) -> bool:
        """The network ends without softmax."""
        return self.built.is_logits

    @property
    def input_shape(self) -> Shape:
        """Shape of an input image: (height, width, channels)."""
        return self.built.input_shape

    @property
    def fit(self) -> str:
        """How pictures of other proportions are brought to the network's."""
        return fit_of(self._project.dataset.params)

    @property
    def load_program(self) -> str:
        """The body of a function that loads the pictures; "" where people bring them."""
        return self._spec.program if self._spec is not None else ""

    @property
    def is_fixed_shape(self) -> bool:
        """The data set's own pictures have the size that the network takes."""
        return self._spec is not None and self._spec.shape == tuple(self.input_shape)

    @property
    def data_path(self) -> str:
        """The name of the pictures' file or folder, without where it is on this computer."""
        path = str(self._project.dataset.params.get("path", ""))
        return Path(path).name or "pictures"

    @property
    def has_split(self) -> bool:
        """Some pictures have to be kept apart from those to train on."""
        return not self.load_program or self.recipe.validation == "split"

    @property
    def recipe_values(self) -> Mapping[str, Any]:
        """The recipe as plain values, as a project file holds it."""
        return recipe_to_plain(self.recipe)

    def keras_calls(self) -> list[KerasCall]:
        """The network as Keras calls, in the order that data flows."""
        return self._calls

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
            SaveError: its weights are others, so that they could not be read back.
        """
        words: dict[str, Any] = {
            "keras": keras,
            "layers": keras.layers,
            "INPUT_SHAPE": tuple(self.input_shape),
            "BATCH_SIZE": self.recipe.batch_size,
            "CORES": 1,
            "__name__": "exported",
        }
        source = network_source(self)
        exec(compile(source, "exported.py", "exec"), words)  # noqa: S102 - our own text
        built = words["build_model"]()
        model = built[0] if self.front else built
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


def export_project(job: Job, request: ExportProject) -> AnyAnswer:
    """Writes the program.

    Raises:
        InputError: no such format.
        ProjectFileError: the project text is damaged.
        WeightsError: the network has errors.
        SaveError: the file could not be written.
    """
    spec = project_exports().get(request.format)
    if spec is None:
        raise InputError(
            "Unknown export format for a project.",
            received=request.format,
            expected="one of " + ", ".join(project_exports()),
        )
    project = parse_project(request.project, "the project")
    path = with_suffix(Path(request.path), spec.suffix)
    job.progress(f"Writing {path.name}")
    context = ProgramContext(project, _class_names(job, project))
    job.check_cancelled()
    spec.write(context, str(path))
    text = f"Wrote {path}. It writes workbench_result.zip, which can be imported here."
    if not context.load_program:
        text += " Set DATA to the path of the images."
    return Done(id=job.id, text=text, path=str(path))


def _class_names(job: Job, project: Project) -> list[str]:
    """As the data set has them; [] where it is not at hand."""
    spec = all_datasets().get(project.dataset.key)
    if spec is None or check_all(spec.params, project.dataset.params)[1]:
        return []
    return list(names_of_data(job, project))
