"""What the templates are written with: a network layer by layer, and a project with its card."""

from __future__ import annotations

from typing import Any

from workbench.backbones import insert_backbone
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Choice, Project, View
from workbench.core.specs import BackboneSpec
from workbench.core.training.recipe import TrainingRecipe


class Sketch:
    """A graph drawn layer by layer: each new layer hangs below the last one."""

    def __init__(self, *shape: int) -> None:
        self.graph = Graph()
        self.folded: frozenset[str] = frozenset()
        self.last = ""
        self.add("input", shape=shape)

    def add(self, kind: str, *, after: tuple[str, ...] = (), **params: Any) -> str:
        """Adds a layer below `after` (or the last one) and returns its id."""
        node = Node(self.graph.new_id(), kind, self.graph.new_name(kind), params)
        graph = self.graph.with_node(node)
        sources = after or ((self.last,) if self.last else ())
        for port, source in enumerate(sources):
            graph = graph.with_edge(Edge(source, node.id, port))
        self.graph, self.last = graph, node.id
        return node.id

    def backbone(self, spec: BackboneSpec) -> str:
        """A pretrained network, frozen, drawn as one card."""
        inserted = insert_backbone(self.graph, spec, self.last, spec.input_shape)
        self.graph, self.last = inserted.graph, inserted.last
        self.folded |= {inserted.group}
        return self.last

    def conv(self, filters: int, size: int = 3, **params: Any) -> str:
        """A convolution that keeps height and width, with ReLU by default."""
        defaults = {"padding": "same", "activation": "relu"}
        return self.add(
            "conv2d", filters=filters, kernel_size=(size, size), **{**defaults, **params}
        )

    def pool(self) -> str:
        """Max pooling that halves height and width."""
        return self.add("max_pooling2d", pool_size=(2, 2))

    def dense(self, units: int, activation: str = "relu", **params: Any) -> str:
        """A fully connected layer."""
        return self.add("dense", units=units, activation=activation, **params)


def project(
    net: Sketch,
    dataset: tuple[str, Choice],
    *,
    title: str,
    summary: str,
    note: str,
    recipe: TrainingRecipe,
    differs: str = "",
) -> tuple[Project, dict[str, Any]]:
    """A project, and the other words of its card.

    Args:
        net: Its network.
        dataset: Title and choice of its data set.
        title: Of the project.
        summary: Of the project, in one line.
        note: What it is good for, or reaches.
        recipe: How it trains.
        differs: What is not as it was published.
    """
    dataset_title, choice = dataset
    view = View(folded=net.folded)
    made = Project(net.graph, recipe, choice, view=view, title=title, summary=summary)
    words = {"note": note, "dataset_title": dataset_title}
    return made, words | ({"differs": differs} if differs else {})
