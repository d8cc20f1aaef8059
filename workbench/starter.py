"""A project to start from for a folder of pictures: a network, a split and a recipe that
fit what is there, judged by counting files (no picture is opened).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from workbench.core.network.graph import Graph
from workbench.core.network.roles import has_role
from workbench.core.projects.project import Choice, Project
from workbench.core.specs import Role
from workbench.core.training.recipe import TrainingRecipe
from workbench.datasets.folder import SPEC as FOLDER
from workbench.errors import DatasetError
from workbench.layers import all_layers
from workbench.pictures.folders import list_folders, list_pictures
from workbench.templates import find_template

_TEMPLATE = "flowers_gap"
_BATCHES_PER_EPOCH = 20
_MAX_BATCH = 64
_STEPS_WANTED = 3_000
_EPOCHS = (15, 60)
_VALIDATED_PER_CLASS = 10
_MAX_VALIDATION_SHARE = 0.2
_TRAIN = ("train", "training")


@dataclass(frozen=True)
class FolderCount:
    """Class folders and their pictures, by name."""

    folder: str
    pictures: dict[str, int]

    @property
    def total(self) -> int:
        """Pictures in all classes."""
        return sum(self.pictures.values())


def count_folder(folder: str) -> FolderCount:
    """Counts the pictures in each class folder.

    Raises:
        DatasetError: fewer than two class folders with pictures.
    """
    root = Path(folder)
    try:
        classes = list_folders(root)
        classes = next((list_folders(p) for p in classes if p.name.lower() in _TRAIN), classes)
        counts = {each.name: len(list_pictures(each)) for each in classes}
    except OSError as error:
        raise DatasetError(
            "The folder cannot be read.", where=folder, received=str(error.strerror)
        ) from error
    filled = {name: number for name, number in counts.items() if number}
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
