"""Small projects: one is trained in a moment, one has no images yet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.worker.conftest import chain, stripes
from workbench.core.projects.project import Choice, Project
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


def project_without_folder() -> Project:
    """A network for the user's own images, before a folder is chosen."""
    choice = Choice("folder", {"path": "", "fit": "crop"})
    return replace(find_template("flowers_gap").project, dataset=choice)
