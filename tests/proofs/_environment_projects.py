"""Small projects for a proof in another environment: the templates on a few pictures of their
size, one network with every kind of layer, random networks.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.proofs._tpu_projects import random_project, templates
from tests.strategies import Growing
from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Graph
from workbench.core.network.roles import find_outputs
from workbench.core.projects.project import Choice, Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers

_TRAIN, _TEST = 32, 10
_RECIPE: dict[str, object] = {
    "batch_size": 8, "epochs": 3, "steps_per_epoch": None, "steps_per_call": 1, "seed": 7,
    "precision": "float32", "validation": "test",
}  # fmt: skip
"""12 steps. One a call, so that a pause falls between any two of them."""

_FIRST = ("resizing", "rescaling")
"""Begin the chain that prepares pictures, before all that is random."""


def small_projects(graphs: int) -> Iterator[tuple[str, Project]]:
    """Name and project; so many random networks at the end."""
    yield "every kind of layer", Project(graph=every_kind(), recipe=TrainingRecipe())
    yield from templates()
    number = found = 0
    while found < graphs:
        _, project = random_project(number)
        if can_train(project.graph):
            yield f"random {number} ({project.recipe.optimizer})", project
            found += 1
        number += 1


def grouped() -> Project:
    """A network with a convolution in groups, which Keras has XLA compile for processors."""
    growing = Growing(random.Random(0), all_layers())
    growing.shapes[growing.put(growing.make("input", {"shape": (8, 8, 1)}))] = (8, 8, 1)
    first = _put(growing, "conv2d", ["n1"], {"filters": 4})
    _put(growing, "conv2d", [first], {"filters": 4, "groups": 2})
    growing.close()
    return Project(graph=growing.graph(), recipe=TrainingRecipe())


def can_train(graph: Graph) -> bool:
    """Whether its input is gray or color pictures, and no convolution has groups."""
    nodes = graph.nodes.values()
    channels = [node.params["shape"][-1] for node in nodes if node.kind == "input"]
    return channels[0] in {1, 3} and not any(
        node.params.get("groups", 1) > 1 for node in nodes if node.kind == "conv2d"
    )


def every_kind() -> Graph:
    """A network in which every layer type occurs."""
    layers = all_layers()
    growing = Growing(random.Random(1), layers)
    shape = (8, 8, 3)
    end = growing.put(growing.make("input", {"shape": shape}))
    growing.shapes[end] = shape
    moves = [key for key, spec in layers.items() if spec.place == "pipeline"]
    for kind in (*_FIRST, *moves):
        params = {"height": 8, "width": 8} if kind == "resizing" else {}
        end = _put(growing, kind, [end], params)
    growing.chain_length = len(growing.nodes) - 1
    rest = [kind for kind in layers if kind not in {"input", *_FIRST, *moves}]
    # Channels first: group normalization wants a multiple of 32 of them.
    rest.sort(key=lambda kind: kind != "conv2d")
    for kind in rest:
        if layers[kind].min_inputs > 1:
            branch = _put(growing, "activation", [end], {"activation": "tanh"})
            after = _put(growing, kind, [end, branch], {})
        else:
            params = {"units": 32} if kind == "dense" else {}
            after = _put(growing, kind, [end], params)
        has_room = len(growing.shapes[after]) == 3 and growing.shapes[after][0] >= 6
        if has_room and growing.shapes[after][-1] % 32 == 0 and growing.shapes[after][0] <= 12:
            end = after
    growing.close()
    missing = set(layers) - {node.kind for node in growing.nodes}
    assert not missing, missing
    return growing.graph()


def _put(growing: Growing, kind: str, sources: list[str], params: dict[str, object]) -> str:
    assert growing.try_put(kind, sources, params), (kind, growing.refused)
    return growing.nodes[-1].id


def on_pictures(project: Project, path: Path, target: Choice, **recipe: object) -> Project:
    """The project on made pictures of its size and classes, which are written as an npz file."""
    shapes = Propagation(project.graph, all_layers()).shapes
    shape = shapes[next(node.id for node in project.graph.nodes.values() if node.kind == "input")]
    classes = shapes[find_outputs(project.graph, all_layers())[0]][-1]
    rng = np.random.default_rng(3)
    labels = np.arange(_TRAIN + _TEST) % classes
    pictures = rng.integers(0, 160, (_TRAIN + _TEST, *shape), dtype=np.uint8)
    pictures += (labels * 90 // classes).astype(np.uint8)[:, None, None, None]
    np.savez(
        path, x_train=pictures[:_TRAIN], y_train=labels[:_TRAIN],
        x_test=pictures[_TRAIN:], y_test=labels[_TRAIN:],
    )  # fmt: skip
    return replace(
        project,
        dataset=Choice("npz", {"path": str(path)}),
        recipe=project.recipe.with_values(**{**_RECIPE, **recipe}),
        target=target,
    )
