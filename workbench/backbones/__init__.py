"""The pretrained networks, one file each: SPEC. Found by walking this folder.

A backbone is no special layer. Its graph is a resource, its preprocessing is the first layer, and
`insert_backbone` puts ordinary layers into a graph; each names its initial weights in
`Node.pretrained`. The worker reads and checks these weights (`load_pretrained`). Files whose names
begin with "_" are shared code, not plug-ins.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache

from workbench.backbones._block import Block as Block
from workbench.backbones._block import Inserted as Inserted
from workbench.backbones._block import SourceArray as SourceArray
from workbench.backbones._block import block_of as block_of
from workbench.backbones._block import insert_backbone as insert_backbone
from workbench.backbones._files import checked_file as checked_file
from workbench.backbones._files import fetch_weights as fetch_weights
from workbench.backbones._files import has_weights as has_weights
from workbench.backbones._files import weights_file as weights_file
from workbench.core.checks.data import MissingWeights
from workbench.core.network.graph import Graph
from workbench.core.registry import Registry
from workbench.core.specs import BackboneSpec, DownloadedWeights, PretrainedLayer
from workbench.errors import WeightsError


def lost_weights(graph: Graph, node_ids: Collection[str]) -> dict[str, str]:
    """What `Node.pretrained` was of layers that start with random weights now, by node id: of
    those in a group of a pretrained network that have their names of then.
    """
    groups = {graph.nodes[key].group for key in node_ids} - {""}
    sources = {name: _source_of(graph, name) for name in groups}
    lost: dict[str, str] = {}
    for key in node_ids:
        node, spec = graph.nodes[key], sources.get(graph.nodes[key].group)
        variables = {} if spec is None else block_of(spec).variables
        stem = re.sub(r"_\d+$", "", node.name)
        name = next((each for each in (node.name, stem) if each in variables), "")
        if spec is not None and name and not node.pretrained:
            lost[key] = f"{spec.key}/{name}"
    return lost


def _source_of(graph: Graph, group: str) -> BackboneSpec | None:
    """The pretrained network that a group was: by the weights that are left, or by its name."""
    known = all_backbones()
    left = (graph.nodes[key].pretrained.partition("/")[0] for key in graph.groups[group])
    by_weights = next((known[key] for key in left if key in known), None)
    return by_weights or next((s for s in known.values() if group.startswith(s.title)), None)


@cache
def all_backbones() -> Registry[BackboneSpec]:
    """Every pretrained network by key."""
    return Registry.from_package("workbench.backbones", BackboneSpec)


def known_backbone(key: str) -> BackboneSpec:
    """A pretrained network by its key; raises WeightsError where this version has none."""
    spec = all_backbones().get(key)
    if spec is None:
        raise WeightsError(
            "The pretrained weights are of a network that this version does not have.",
            received=key[:80],
            expected=", ".join(all_backbones()),
            fix="Open the project with the version that made it, or start with random weights.",
        )
    return spec


def pretrained_layer(name: str) -> PretrainedLayer | None:
    """What `Node.pretrained` names; None where this version has no such layer."""
    key, _, layer = name.partition("/")
    spec = all_backbones().get(key)
    return None if spec is None else block_of(spec).layers.get(layer)


def backbone_keys(graph: Graph) -> tuple[str, ...]:
    """The keys of the pretrained networks whose weights a graph names, known or not."""
    names = (node.pretrained for node in graph.nodes.values() if node.pretrained)
    return tuple(dict.fromkeys(name.partition("/")[0] for name in names))


def missing_weights(keys: Iterable[str]) -> tuple[MissingWeights, ...]:
    """The weights of pretrained networks that are to be downloaded yet. Looks at the disk: not for
    the window's own thread.
    """
    known = (all_backbones().get(key) for key in keys)
    return tuple(
        MissingWeights(spec.key, spec.title, spec.weights.num_bytes)
        for spec in known
        if spec is not None
        and isinstance(spec.weights, DownloadedWeights)
        and not has_weights(spec)
    )
