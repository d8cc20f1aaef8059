"""Networks with very many layers, for what must not hold up the window."""

from __future__ import annotations

from dataclasses import replace

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Project
from workbench.templates import find_template


def deep_project(blocks: int = 67, *, strays: int = 0) -> Project:
    """A chain of 4 layers a block between Input and two more; `strays` layers get no input."""
    project = find_template("lenet5").project
    nodes, edges, last = [Node("in", "input", "input")], [], "in"
    kinds = ("conv2d", "batch_normalization", "activation", "dropout")
    tail = [("flatten", 0, {}), ("dense", 0, {"units": 10, "activation": "softmax"})]
    chain = [(kind, at, {}) for at in range(blocks) for kind in kinds]
    for kind, at, params in (*chain, *tail):
        node = Node(f"{kind}{at}", kind, f"{kind}_{at}", params)
        nodes.append(node)
        edges.append(Edge(last, node.id))
        last = node.id
    nodes += [Node(f"stray{at}", "dense", f"stray_{at}", {}) for at in range(strays)]
    return replace(project, graph=Graph.of(nodes, edges))
