"""Small projects: one is trained in a moment, one has no images yet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.worker.conftest import chain, stripes
from workbench.backbones import all_backbones, insert_backbone
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Choice, Project
from workbench.core.specs import BackboneSpec
from workbench.core.training.recipe import TrainingRecipe
from workbench.templates import find_template


def stripes_project(folder: Path) -> Project:
    """A linear classifier of stripes, whose pictures are written to a folder."""
    (x_train, y_train), (x_test, y_test) = stripes(600, 1), stripes(100, 2)
    path = folder / "stripes.npz"
    np.savez(path, x_train=x_train, y_train=y_train, x_test=x_test, y_test=y_test)
    dense = ("dense", {"units": 3, "activation": "softmax"})
    return Project(
        graph=chain(("input", {"shape": (8, 8, 1)}), ("rescaling", {}), ("flatten", {}), dense),
        recipe=TrainingRecipe().with_values(epochs=1, batch_size=50, learning_rate=0.05),
        dataset=Choice("npz", {"path": str(path)}),
    )


def network_on(spec: BackboneSpec, *before: tuple[str, dict], units: int = 5) -> Graph:
    """A head on a pretrained network, with layers before that."""
    shape = (64, 64, 3)
    start = chain(("input", {"shape": shape}), *before)
    found = insert_backbone(start, spec, start.order[-1], shape)
    head = Node("head", "dense", "head", {"units": units, "activation": "softmax"})
    return found.graph.with_node(head).with_edge(Edge(found.last, "head"))


def unbundled() -> BackboneSpec:
    """A pretrained network whose weights are downloaded, and have no published checksum."""
    known = all_backbones().values()
    return next(spec for spec in known if not (spec.is_bundled or spec.weights.checksum))


def project_to_download() -> Project:
    """A network on included images, whose pretrained weights are to be downloaded."""
    return Project(network_on(unbundled()), dataset=Choice("flowers1000"))


def project_without_folder() -> Project:
    """A network for the user's own images, before a folder is chosen."""
    choice = Choice("folder", {"path": "", "fit": "crop"})
    return replace(find_template("flowers_gap").project, dataset=choice)
