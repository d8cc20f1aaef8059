"""Batch and epoch of a training."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.core.projects.project import Project
from workbench.errors import DatasetError


@dataclass(frozen=True)
class Sizes:
    """Batch and epoch of a training.

    Attributes:
        batch_size: Pictures a step, over all replicas together.
        steps_per_epoch: Steps an epoch.
        epochs: Epochs.
    """

    batch_size: int
    steps_per_epoch: int
    epochs: int

    @property
    def total_steps(self) -> int:
        """Steps of the whole training."""
        return self.steps_per_epoch * self.epochs


def sizes_of(project: Project, num_train: int, *, replicas: int = 1) -> Sizes:
    """The sizes a recipe means for so many pictures.

    A batch is never larger than the training part, and a multiple of the replicas.

    Raises:
        DatasetError: there are fewer pictures than replicas.
    """
    if num_train < replicas:
        raise DatasetError(
            "There are fewer training images than replicas.",
            received=f"{num_train:,} images, {replicas:,} replicas",
            expected="at least one image per replica",
            fix="Use fewer replicas, or add images.",
        )
    recipe = project.recipe
    batch_size = min(recipe.batch_size, num_train)
    batch_size = max(batch_size // replicas, 1) * replicas
    steps = recipe.steps_per_epoch or max(1, num_train // batch_size)
    return Sizes(batch_size, steps, recipe.epochs)
