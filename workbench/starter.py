"""A project to start from for a data set: a network, a split and a recipe that fit what is
there. Of a folder the files are counted, no image is opened.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.core.checks.analysis import analyse
from workbench.core.format import plural, share
from workbench.core.network.graph import Graph
from workbench.core.network.roles import has_role, input_node
from workbench.core.projects.project import Choice, Project
from workbench.core.specs import Role, Shape
from workbench.core.training.recipe import TrainingRecipe
from workbench.datasets.folder import SPEC as FOLDER
from workbench.errors import DatasetError
from workbench.layers import all_layers
from workbench.pictures.class_folders import class_folders
from workbench.templates import Template, find_template, list_templates

_TEMPLATE = "flowers_gap"
_BATCHES_PER_EPOCH = 20
_MAX_BATCH = 64
_STEPS_WANTED = 3_000
_EPOCHS = (15, 60)
_VALIDATED_PER_CLASS = 10
_MAX_VALIDATION_SHARE = 0.2
_IMAGE_RANK = 3


@dataclass(frozen=True)
class Start:
    """A project to start from.

    Attributes:
        project: Trains with its settings as they are.
        template: Key of the template it was made of.
        reason: Why this network, in one sentence.
    """

    project: Project
    template: str
    reason: str


@dataclass(frozen=True)
class FolderCount:
    """Class folders and their images, by name."""

    folder: str
    pictures: dict[str, int]

    @property
    def total(self) -> int:
        """Images in all classes."""
        return sum(self.pictures.values())


def count_folder(folder: str) -> FolderCount:
    """Counts the images in each class folder.

    Raises:
        DatasetError: fewer than two class folders with images.
    """
    root = Path(folder)
    filled = {name: len(files) for name, files in class_folders(root).train.items()}
    if len(filled) < 2:
        raise DatasetError(
            "This folder has fewer than two classes.",
            where=folder,
            received=", ".join(filled) or "no folder with images",
            expected="a folder with one folder of images per class",
            fix="Put the images of each class into a folder named after the class.",
        )
    return FolderCount(str(root.absolute()), filled)


def project_for_folder(folder: str) -> Project:
    """A project that trains on a folder with the settings as they are.

    Raises:
        DatasetError: the folder is no data set.
    """
    found = count_folder(folder)
    template = find_template(_TEMPLATE).project
    batch = max(8, min(_MAX_BATCH, found.total // _BATCHES_PER_EPOCH))
    steps = max(1, found.total // batch)
    low, high = _EPOCHS
    epochs = max(low, min(high, _STEPS_WANTED // steps))
    recipe = template.recipe.with_values(
        batch_size=batch,
        epochs=epochs,
        keep="best",
        validation_share=_validation_share(found, template.recipe),
    )
    values = {param.key: param.default for param in FOLDER.params}
    return replace(
        template,
        title=Path(found.folder).name,
        summary=f"{len(found.pictures)} classes, {found.total:,} images",
        graph=with_classes(template.graph, len(found.pictures)),
        dataset=Choice(FOLDER.key, {**values, FOLDER.source_param: found.folder}),
        recipe=recipe,
    )


def start_for_folder(folder: str) -> Start:
    """`project_for_folder` with the reason; raises DatasetError for a folder of no classes."""
    project = project_for_folder(folder)
    recipe = project.recipe
    reason = (
        f"{project.summary}: {find_template(_TEMPLATE).title}, batch {recipe.batch_size}, "
        f"{plural(recipe.epochs, 'epoch')}, {share(recipe.validation_share)} for validation."
    )
    return Start(project, _TEMPLATE, reason)


def start_for_template_of(choice: Choice) -> Start | None:
    """The first template for a bundled or published data set; None where there is none."""
    for template in list_templates():
        if template.project.dataset.key == choice.key != FOLDER.key:
            reason = f"{template.title}, made for {template.dataset_title}."
            return Start(template.project, template.key, reason)
    return None


def start_for_data(choice: Choice, shape: Shape, num_classes: int) -> Start:
    """The template with the input of the nearest size, with the shape and classes of the data.

    Args:
        choice: The data set.
        shape: Height, width and channels of its images; empty where they differ in size.
        num_classes: How many classes it has.
    """
    templates = sorted(list_templates(), key=lambda each: _size_difference(each, shape))
    for template in templates:
        project = _fitted(template.project, choice, shape, num_classes)
        if analyse(project.graph, all_layers(), recipe=project.recipe).is_trainable:
            break
    words = " × ".join(map(str, shape)) or "different sizes"
    classes = plural(num_classes, "class", "classes")
    return Start(project, template.key, f"{words}, {classes}: {template.title}.")


def _fitted(project: Project, choice: Choice, shape: Shape, num_classes: int) -> Project:
    graph = with_classes(project.graph, num_classes)
    start = input_node(graph, all_layers())
    if start is not None and len(shape) == _IMAGE_RANK:
        graph = graph.with_params(start.id, shape=tuple(shape))
    recipe = project.recipe
    if recipe.validation == "test":  # a published figure is reproduced so; nothing else is
        recipe = recipe.with_values(validation="split")
    return replace(project, graph=graph, dataset=choice, recipe=recipe, title="", summary="")


def _size_difference(template: Template, shape: Shape) -> float:
    """How far the template's images are from others in size, as |log| of the ratio of sides."""
    start = input_node(template.project.graph, all_layers())
    if start is None or len(shape) != _IMAGE_RANK:
        return 0.0
    sides = zip(start.params["shape"][:2], shape[:2], strict=True)
    return sum(abs(math.log(mine / theirs)) for mine, theirs in sides)


def _validation_share(found: FolderCount, recipe: TrainingRecipe) -> float:
    """The recipe's share, or a larger one where it would leave too few to choose by."""
    num_train = found.total * (1.0 - recipe.test_share)
    wanted = _VALIDATED_PER_CLASS * len(found.pictures) / num_train
    return max(recipe.validation_share, min(round(wanted, 2), _MAX_VALIDATION_SHARE))


def with_classes(graph: Graph, num_classes: int) -> Graph:
    """The graph with its last Dense layer as wide as there are classes."""
    layers = all_layers()
    dense = [key for key in graph.order if has_role(graph.nodes[key], layers, Role.DENSE)]
    if not dense:
        return graph
    width = layers[graph.nodes[dense[-1]].kind].width
    return graph.with_params(dense[-1], **{width: num_classes})
