"""From an edit to all shapes, costs and problems: 5 ms at 100 nodes, 50 ms at 1,000 wanted."""

from __future__ import annotations

import statistics
import time

from workbench.core.checks.analysis import analyse
from workbench.core.checks.images import DatasetFacts
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers

FACTS = DatasetFacts((32, 32, 3), 10, "CIFAR-10")
CONVOLUTION = {"filters": 16, "padding": "same", "activation": "relu"}


def residual_network(size: int) -> Graph:
    """About `size` nodes: blocks of convolution, batch normalization and a sum with a shortcut."""
    nodes = [Node("in", "input", "in", {"shape": [32, 32, 3]})]
    nodes.append(Node("stem", "conv2d", "stem", CONVOLUTION))
    edges = [Edge("in", "stem")]
    last = "stem"
    while len(nodes) < size - 2:
        a, b, c = (f"n{len(nodes) + k}" for k in range(3))
        nodes += [Node(a, "conv2d", a, CONVOLUTION), Node(b, "batch_normalization", b)]
        nodes.append(Node(c, "add", c))
        edges += [Edge(last, a), Edge(a, b), Edge(b, c), Edge(last, c, 1)]
        last = c
    nodes.append(Node("flat", "flatten", "flat"))
    nodes.append(Node("end", "dense", "end", {"units": 10, "activation": "softmax"}))
    return Graph.of(nodes, [*edges, Edge(last, "flat"), Edge("flat", "end")])


def main() -> None:
    layers = all_layers()
    for size in (100, 1000):
        graph = residual_network(size)
        walls, works = [], []
        for number in range(30):
            wall, work = time.perf_counter(), time.process_time()
            edited = graph.with_params("stem", filters=16, kernel_size=(1 + number % 3, 3))
            found = analyse(edited, layers, recipe=TrainingRecipe(), dataset=FACTS)
            walls.append(time.perf_counter() - wall)
            works.append(time.process_time() - work)
            if found.problems:
                raise SystemExit(found.problems[0].message)
        wall_ms, work_ms = (1000 * statistics.median(times) for times in (walls, works))
        print(
            f"edit and check of {len(graph.nodes):,} nodes: {wall_ms:.1f} ms, "
            f"of which {work_ms:.1f} ms CPU (wanted: {5 if size == 100 else 50} ms)"
        )


if __name__ == "__main__":
    main()
