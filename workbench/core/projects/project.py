"""A project: what to train, how, on what, where; and how it looks on the canvas."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from workbench.core.network.graph import Graph
from workbench.core.network.layout import Position
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.data_versions import Versions
from workbench.core.projects.robustness import RobustnessTest
from workbench.core.training.recipe import TrainingRecipe

_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Choice:
    """A plug-in chosen by key, with its parameter values: a dataset or a target."""

    key: str
    params: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)


@dataclass(frozen=True)
class View:
    """Layout and zoom of the canvas; has no meaning for training.

    Attributes:
        positions: Top-left corner of each node in scene pixels, by node id.
        zoom: Scale of the canvas, 1.0 is 100%.
        center: Scene point in the middle of the canvas, or None to fit all.
        folded: Names of the groups that are drawn as one card.
    """

    positions: Mapping[str, Position] = field(default_factory=lambda: _EMPTY)
    zoom: float = 1.0
    center: Position | None = None
    folded: frozenset[str] = frozenset()


def new_project_id() -> str:
    """An identity that no other project has."""
    return secrets.token_hex(8)


HERE = Choice("this_computer")
"""The target of a project that names none: the computer that the program runs on."""


@dataclass(frozen=True)
class Project:
    """Everything a project file holds. A value: changes make a new one.

    Attributes:
        id: Identifies it among all projects, whatever they are called: runs belong to the
            project with their id. "" for one that has no identity yet, such as a template.
        title: Words for people; the file name is used where it is empty.
        summary: One sentence about it.
        edits: What the user has changed about the images, beside the files.
        robustness: Alterations of the test images that each run is measured on.
        data_versions: Named earlier states of the edits.
        extra: Top-level fields of the file that this version does not define; written back.
    """

    graph: Graph = field(default_factory=Graph)
    recipe: TrainingRecipe = field(default_factory=TrainingRecipe)
    dataset: Choice = field(default_factory=lambda: Choice("fashion_mnist"))
    target: Choice = HERE
    edits: DataEdits = field(default_factory=DataEdits)
    robustness: tuple[RobustnessTest, ...] = ()
    data_versions: Versions = ()
    view: View = field(default_factory=View)
    id: str = ""
    title: str = ""
    summary: str = ""
    extra: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)
