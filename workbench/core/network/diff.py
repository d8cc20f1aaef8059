"""What changed between two graphs: the canvas repaints only this."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.core.network.graph import Edge, Graph


@dataclass(frozen=True)
class GraphDiff:
    """The difference of two graphs: node ids and edges, each in the order of its graph.

    Attributes:
        added_nodes: Ids only in the new graph.
        removed_nodes: Ids only in the old graph.
        changed_nodes: Ids in both that differ in anything.
        added_edges, removed_edges: Edges only in the new, only in the old graph.
    """

    added_nodes: tuple[str, ...] = ()
    removed_nodes: tuple[str, ...] = ()
    changed_nodes: tuple[str, ...] = ()
    added_edges: tuple[Edge, ...] = ()
    removed_edges: tuple[Edge, ...] = ()

    def __bool__(self) -> bool:
        """True when anything differs."""
        nodes = self.added_nodes or self.removed_nodes or self.changed_nodes
        return bool(nodes or self.added_edges or self.removed_edges)


def diff(old: Graph, new: Graph) -> GraphDiff:
    """What has to be done to `old` to make it `new`."""
    old_edges, new_edges = frozenset(old.edges), frozenset(new.edges)
    return GraphDiff(
        added_nodes=tuple(key for key in new.nodes if key not in old.nodes),
        removed_nodes=tuple(key for key in old.nodes if key not in new.nodes),
        changed_nodes=tuple(
            key
            for key, node in new.nodes.items()
            if key in old.nodes and old.nodes[key] is not node and old.nodes[key] != node
        ),
        added_edges=tuple(edge for edge in new.edges if edge not in old_edges),
        removed_edges=tuple(edge for edge in old.edges if edge not in new_edges),
    )
