"""Projects for the proofs of what a TPU would take: the templates, and random networks with
random recipes. The same number gives the same project.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from tests.strategies import random_valid_graph
from workbench.core.projects.project import Project
from workbench.core.training.optimizers import all_optimizers
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers
from workbench.templates import list_templates

CHANCE = 0.3
"""Of each thing that a recipe may have."""


def templates() -> Iterator[tuple[str, Project]]:
    """Every template by its key."""
    for template in list_templates():
        yield template.key, template.project


def with_optimizer(project: Project, optimizer: str) -> Project:
    """The project trained by another optimizer, all else as it is."""
    return replace(project, recipe=project.recipe.with_values(optimizer=optimizer))


def random_project(number: int) -> tuple[str, Project]:
    """A random network with a random recipe; optimizers take turns."""
    rng = random.Random(f"tpu {number}")
    graph = random_valid_graph(rng, all_layers())
    optimizer = list(all_optimizers())[number % len(all_optimizers())]
    recipe = TrainingRecipe().with_values(optimizer=optimizer, **_random_values(rng))
    return f"random {number} ({optimizer})", Project(graph=graph, recipe=recipe)


def _random_values(rng: random.Random) -> dict[str, object]:
    choices = {
        "clip_norm": (0.5, 10.0),
        "ema_decay": (0.9, 0.999),
        "label_smoothing": (0.1,),
        "mixing": ("mixup", "cutmix"),
        "random_erasing": (0.5,),
        "class_weights": ("balanced",),
        "weight_decay": (0.0, 0.01),
        "decay_biases": (False,),
        "loss": ("mean_squared", "focal"),
        "momentum": (0.0, 0.5),
        "nesterov": (True,),
        "top_k": (2,),
    }
    return {key: rng.choice(values) for key, values in choices.items() if rng.random() < CHANCE}
