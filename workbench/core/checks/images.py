"""The images a network is for, and the shape that its Input is to have for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Self

from workbench.core.checks.learning import FindPretrained
from workbench.core.checks.problems import Fix, Problem, Severity
from workbench.core.format import shape_text
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.roles import (
    Layers,
    input_nodes,
    node_text,
    pipeline_nodes,
    shape_params,
)
from workbench.core.specs import DatasetSpec, Shape
from workbench.core.specs.dataset import edited_classes
from workbench.core.training.recipe import RECIPE_PARAMS, TrainingRecipe

_IMAGE_RANK = 3
_USUAL_SIDES = (32, 48, 64, 96, 128, 160, 192, 224)
"""Sides that networks for photos have, up to the usual one of pretrained networks."""
_LARGEST_SIDE = 512
"""Images of one size that are larger are photos: a network of this size would not fit."""
_SMALL, _REDUCED, _ENLARGED = 1 / 4, 1 / 2, 4
"""Pixels of Input for one of the images: below the first a warning, below the second or above the
third a hint."""


@dataclass(frozen=True)
class DatasetFacts:
    """What is known of the images the network is for.

    Attributes:
        shape: (height, width, channels) where all images have the same, else None.
        num_classes: Number of classes, None while it is not known.
        title: Words for messages.
        num_train, num_test: Its images; 0 while that is not known.
        typical: (height, width, channels) typical of images that differ in size, None while it is
            not known.
        unreadable: Files among its images that cannot be read, as far as that is known.
        has_test: It comes with test images: none are split off.
    """

    shape: Shape | None
    num_classes: int | None
    title: str
    num_train: int = 0
    num_test: int = 0
    typical: Shape | None = None
    unreadable: tuple[str, ...] = ()
    has_test: bool = False

    @classmethod
    def of(cls, spec: DatasetSpec | None, edits: Mapping[str, str]) -> Self | None:
        """What a data set is known to hold, before it is read; None where that is nothing.

        Args:
            spec: The data set.
            edits: Edits of its classes, as in `DataEdits.classes`.
        """
        if spec is None or not (spec.shape or spec.class_names):
            return None
        classes = edited_classes(spec.class_names, edits)
        # How many images classes that are left out have is not known.
        counts = (0, 0) if -1 in classes.numbers else (spec.num_train, spec.num_test)
        number = len(classes.names) or None
        has_test = bool(spec.num_test)
        typical = spec.typical_shape
        return cls(spec.shape, number, spec.title, *counts, typical=typical, has_test=has_test)

    @property
    def images(self) -> Shape | None:
        """(height, width, channels) of an image, a typical one where they differ in size."""
        found = self.shape or self.typical
        return found if found is not None and len(found) == _IMAGE_RANK else None


def unused_settings(recipe: TrainingRecipe, facts: DatasetFacts | None) -> set[str]:
    """Keys of the recipe that change nothing: beside its other values, or for these images."""
    unused = {param.key for param in RECIPE_PARAMS if not recipe.is_used(param.key)}
    return unused | {"test_share"} if facts is not None and facts.has_test else unused


def input_shape(facts: DatasetFacts | None, pretrained: Shape | None = None) -> Shape | None:
    """The (height, width, channels) that Input is to have: that of the images, where all have the
    same; else the usual size of the pretrained network behind it, or that of networks for photos,
    which does not enlarge them. None where nothing is known.

    Args:
        facts: What is known of the images.
        pretrained: The usual shape of an image of the network's pretrained layers, if it has any.
    """
    images = None if facts is None else facts.images
    if images is None:
        return pretrained
    side = min(images[:2])
    is_same = facts is not None and facts.shape is not None and max(images[:2]) <= _LARGEST_SIDE
    if pretrained is not None:
        fits = is_same and side >= min(pretrained[:2]) and images[2] == pretrained[2]
        return images if fits else pretrained
    if is_same:
        return images
    usual = max((each for each in _USUAL_SIDES if each <= side), default=side)
    return usual, usual, images[2]


def pretrained_shape(graph: Graph, find: FindPretrained | None) -> Shape | None:
    """The usual (height, width, channels) of an image of the pretrained network in a graph; None
    without one.
    """
    names = (node.pretrained for node in graph.nodes.values() if node.pretrained)
    found = (find(name) for name in names) if find is not None else ()
    return next((each.input_shape for each in found if each and each.input_shape), None)


def with_input_shape(graph: Graph, node_id: str, shape: Shape, layers: Layers) -> Graph:
    """Gives an Input another shape. Layers of a pretrained network that have only brought its
    images to this size, or gray ones to three channels, are taken out.
    """
    if node_id not in graph.nodes:
        return graph
    spec = layers[graph.nodes[node_id].kind]
    graph = graph.with_params(node_id, **shape_params(spec, shape))
    chain = [key for key in pipeline_nodes(graph, layers) if not graph.nodes[key].group]
    return _without_adapters(graph, (node_id, *chain)[-1], shape)


def _without_adapters(graph: Graph, source: str, shape: Shape) -> Graph:
    for target in graph.targets(source):
        node = graph.nodes[target]
        if node.group and not node.pretrained and _does_nothing(graph, node, shape):
            for edge in graph.edges_from(target):
                graph = graph.without_edge(edge).with_edge(Edge(source, edge.target, edge.port))
            return _without_adapters(graph.without_nodes([target]), source, shape)
    return graph


def _does_nothing(graph: Graph, node: Node, shape: Shape) -> bool:
    """Whether a layer resizes images to what they are, or makes three channels of one that there
    are by now.
    """
    sides = node.params.get("height"), node.params.get("width")
    sources = graph.sources(node.id)
    triples = len(sources) == shape[2] > 1 and len(set(sources)) == 1
    return sides == shape[:2] or triples


def check_images(
    graph: Graph,
    layers: Layers,
    shapes: Mapping[str, Shape],
    facts: DatasetFacts,
    find: FindPretrained | None,
) -> Iterator[Problem]:
    """Whether Input has a shape that images can be brought to without losing much."""
    wanted = input_shape(facts, pretrained_shape(graph, find))
    for node in (node for node in input_nodes(graph, layers) if node.id in shapes):
        shape = shapes[node.id]
        if shape[2] not in {1, 3}:
            yield _wrong_channels(node, shape, facts, layers)
        elif facts.images is not None and wanted is not None and shape != wanted:
            yield from _resized(node, shape, wanted, facts, layers)


def _data_text(facts: DatasetFacts) -> str:
    return f"“{facts.title}”" if facts.title else "the data set"


def _set_fix(node: Node, shape: Shape, layers: Layers) -> Fix:
    spec = layers[node.kind]
    title = f"Set {spec.title} to {shape_text(shape)}"
    change = partial(with_input_shape, node_id=node.id, shape=shape, layers=layers)
    return Fix(f"set_{spec.params[0].key}", title, change)


def _wrong_channels(node: Node, shape: Shape, facts: DatasetFacts, layers: Layers) -> Problem:
    channels = facts.images[2] if facts.images else 3
    return Problem(
        node.id,
        "error",
        "Images need 1 or 3 channels",
        f"{node_text(node, layers)} has {shape[2]} channels, but the images of "
        f"{_data_text(facts)} are grayscale (1) or color (3).",
        (_set_fix(node, (*shape[:2], channels), layers),),
    )


def _resized(
    node: Node, shape: Shape, wanted: Shape, facts: DatasetFacts, layers: Layers
) -> Iterator[Problem]:
    """A problem where Input differs from images of one size, or much from a typical one."""
    images = facts.images or wanted
    # What a pretrained network enlarges, and what nobody trains on, is not lost.
    pixels = min(images[0] * images[1], wanted[0] * wanted[1])
    part = shape[0] * shape[1] / pixels
    is_gray = images[2] > shape[2]
    if facts.shape is None and not is_gray and _REDUCED <= part <= _ENLARGED:
        return
    if shape == images:  # the network takes them as they are
        return
    severity: Severity = "warning" if is_gray or part < _SMALL else "hint"
    sizes = f"are {shape_text(images)}"
    if facts.shape is None:
        sizes = f"differ in size, typically {shape_text(images)}"
    lost = "Their color is dropped. " if is_gray else ""
    lost += "Most of their detail is lost. " if part < _SMALL else ""
    yield Problem(
        node.id,
        severity,
        "Images will be resized",
        f"Images of {_data_text(facts)} {sizes}; {node_text(node, layers)} is "
        f"{shape_text(shape)}. {lost}Images are resized and converted to that shape before "
        "training.",
        tuple(_shape_fixes(node, shape, wanted, layers, is_gray=is_gray and part >= _REDUCED)),
    )


def _shape_fixes(
    node: Node, shape: Shape, wanted: Shape, layers: Layers, *, is_gray: bool
) -> Iterator[Fix]:
    """The shape that suits the images; before it, where only their color is dropped, this size."""
    if is_gray and shape[:2] != wanted[:2]:
        yield _set_fix(node, (*shape[:2], wanted[2]), layers)
    yield _set_fix(node, wanted, layers)
