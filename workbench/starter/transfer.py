"""A network on a pretrained one: frozen, with a head for the classes of the data set."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from workbench.backbones import all_backbones, insert_backbone
from workbench.core.checks.analysis import analyse
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.roles import input_node, specs_of
from workbench.core.projects.project import Project, View
from workbench.core.specs import BackboneSpec, BundledWeights, Role, Shape
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import GraphError
from workbench.layers import all_layers

SMALLEST_SIDE = 48
"""Shorter side, in pixels, of the images that are worth enlarging for a pretrained network."""

_MOST_MULTIPLY_ADDS = 1.6e12
"""Multiply-adds of the frozen layers for all images together: about 20 s on two cores that compute
in bfloat16. The limit does not depend on this computer, so that a folder gives the same project
everywhere."""

_MOST_BYTES = 2e9
"""Bytes of all images together, which are kept as they are fitted to the input."""

_SIDE_STEP = 32
_LARGEST_TO_USUAL = 10 / 7


def backbone_for(num_images: int) -> BackboneSpec:
    """The largest bundled backbone that computes the features of so many images within seconds, or
    else the smallest.
    """
    specs = [s for s in all_backbones().values() if isinstance(s.weights, BundledWeights)]
    smallest, *larger = sorted(specs, key=multiply_adds)
    affordable = [s for s in larger if num_images * multiply_adds(s) <= _MOST_MULTIPLY_ADDS]
    return affordable[-1] if affordable else smallest


def input_shape_for(spec: BackboneSpec, num_images: int) -> Shape:
    """Height, width and channels of the images that a frozen backbone is used with.

    Pooled features of images somewhat larger than those that a network was trained on classify
    better (Touvron et al. 2019, "Fixing the train-test resolution discrepancy";
    `packaging/bench.sh input_sizes` compares): the largest for which so many images, if their
    number is known, need only seconds and little of the disk.
    """
    usual, _, channels = spec.input_shape
    if not num_images:
        return spec.input_shape
    for side in range(int(usual * _LARGEST_TO_USUAL), usual, -_SIDE_STEP):
        is_computed_soon = num_images * multiply_adds(spec, side) <= _MOST_MULTIPLY_ADDS
        if is_computed_soon and num_images * channels * side**2 <= _MOST_BYTES:
            return (side, side, channels)
    return spec.input_shape


def with_backbone(project: Project, spec: BackboneSpec, num_images: int = 0) -> Project:
    """A project with another backbone in place of its only one, folded, and the input of the size
    that is good for it and so many images; 0 where their number is not known.

    Raises:
        GraphError: the network has no group of pretrained layers between its input and a head.
    """
    graph, start = project.graph, input_node(project.graph, all_layers())
    old = {node.group for node in graph.nodes.values() if node.group and node.pretrained}
    if start is None or len(old) != 1:
        raise GraphError("The network does not have exactly one backbone.", where=project.title)
    members = {key for key, node in graph.nodes.items() if node.group in old}
    outgoing = [e for e in graph.edges if e.source in members and e.target not in members]
    (before,) = {e.source for e in graph.edges if e.target in members and e.source not in members}
    rest = graph.without_nodes(members)
    shape = input_shape_for(spec, num_images)
    rest = rest.with_params(start.id, **{_shape_key(rest, start.id): shape})
    inserted = insert_backbone(rest, spec, before, shape)
    whole = inserted.graph
    for edge in outgoing:
        whole = whole.with_edge(Edge(inserted.last, edge.target, edge.port))
    return replace(project, graph=whole, view=View(folded=frozenset({inserted.group})))


@cache
def multiply_adds(spec: BackboneSpec, side: int = 0) -> int:
    """Multiply-adds of one image, which is square, of the backbone's usual size if not another."""
    layers = all_layers()
    start = specs_of(layers, Role.INPUT)[0]
    shape = (side, side, spec.input_shape[-1]) if side else spec.input_shape
    node = Node("n1", start.key, start.key, {start.params[0].key: shape})
    inserted = insert_backbone(Graph.of([node]), spec, node.id, shape)
    return analyse(inserted.graph, layers, recipe=TrainingRecipe()).costs.multiply_adds


def _shape_key(graph: Graph, node_id: str) -> str:
    return all_layers()[graph.nodes[node_id].kind].params[0].key
