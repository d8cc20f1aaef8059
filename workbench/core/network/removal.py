"""Removing layers and connections: one rule for the Delete key, for fixes and for programs."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.core.network.graph import Edge, Graph


def removed(graph: Graph, node_ids: Iterable[str], edges: Iterable[Edge] = ()) -> Graph:
    """Removes nodes and edges, and closes the gap in a chain.

    Neighboring removed nodes count as one piece. A piece that one node fed, and that had exactly
    one edge out, was a link of a chain: its neighbors are connected, unless they are
    already, or one of these edges was itself to be removed.
    """
    gone = [key for key in graph.nodes if key in set(node_ids)]
    cut = set(edges)
    healed: list[Edge] = []
    for piece in pieces(graph, gone):
        entering = [e for key in piece for e in graph.edges_into(key) if e.source not in piece]
        leaving = [e for key in piece for e in graph.edges_from(key) if e.target not in piece]
        is_link = len({edge.source for edge in entering}) == len(leaving) == 1
        if is_link and not cut & {*entering, *leaving}:
            healed.append(Edge(entering[0].source, leaving[0].target, leaving[0].port))
    after = graph.without_nodes(gone)
    for edge in cut:
        after = after.without_edge(edge)
    for edge in healed:
        if edge.target not in after.targets(edge.source):
            after = after.with_edge(edge)
    return after


def pieces(graph: Graph, node_ids: list[str]) -> list[set[str]]:
    """Connected parts of the graph that only these nodes make up."""
    waiting, pieces = set(node_ids), []
    for start in node_ids:
        if start not in waiting:
            continue
        waiting.discard(start)
        piece, rest = {start}, [start]
        while rest:
            key = rest.pop()
            near = {*graph.sources(key), *graph.targets(key)} & waiting
            waiting -= near
            piece |= near
            rest.extend(near)
        pieces.append(piece)
    return pieces
