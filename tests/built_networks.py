"""Networks built in this process with random weights, as a worker has them."""

from __future__ import annotations

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project_file import graph_to_plain
from workbench.layers import all_layers
from workbench.runs.model_card import ModelCard
from workbench.worker.model.build import build_model
from workbench.worker.saved_models.keras_runner import KerasRunner


def runner_of(graph: Graph, *, seed: int = 1) -> KerasRunner:
    built = build_model(graph, all_layers(), whole=True, pretrained=False, seed=seed)
    names = [f"class {number}" for number in range(int(built.model.output_shape[-1]))]
    card = ModelCard(
        class_names=names,
        input_shape=list(built.input_shape),
        fit="crop",
        graph=graph_to_plain(graph),
        title="Test",
    )
    return KerasRunner(card, built, graph)


def graph_of(edges: list[tuple[str, str]], **kinds: tuple[str, dict]) -> Graph:
    """A graph of named nodes; the edges into a node take its ports in their order."""
    nodes = [Node(key, kind, key, params) for key, (kind, params) in kinds.items()]
    ports: dict[str, int] = {}
    made = []
    for source, target in edges:
        made.append(Edge(source, target, ports.setdefault(target, 0)))
        ports[target] += 1
    return Graph.of(nodes, made)
