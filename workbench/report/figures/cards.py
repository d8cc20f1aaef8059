"""What the card of a layer, or of a folded group, says in a report."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.core.checks.analysis import Analysis
from workbench.core.format import plural, shape_text
from workbench.core.network.folding import Folding
from workbench.core.network.graph import Node
from workbench.core.params import check_all
from workbench.layers import all_layers
from workbench.report.blocks import plain_name

TRAINED = {"always": "yes", "fine_tuning": "in fine-tuning", "never": "no (frozen)"}
"""When a layer learns."""


@dataclass(frozen=True)
class Card:
    """A layer, or all layers of a group.

    Attributes:
        title: Its type, or the name of the group.
        name: Its name; "" for a group.
        settings: What differs from the defaults, in words.
        shape: Output shape in words; "" where it is not known.
        parameters: Numbers that it learns or keeps.
        trained: When it learns, in words.
        category: Category of its type, for the color.
    """

    title: str
    name: str
    settings: str
    shape: str
    parameters: int
    trained: str
    category: str

    @property
    def detail(self) -> str:
        """The second line of its card; an Input's settings are its shape."""
        is_shape = self.settings.replace("×", " × ") == self.shape
        return " → ".join(filter(None, ("" if is_shape else self.settings, self.shape)))

    @property
    def words(self) -> str:
        """All of it in a line."""
        parts = (self.title, self.name, self.settings, f"output {self.shape}" if self.shape else "")
        count = f"{self.parameters:,} parameters" if self.parameters else ""
        return " · ".join(filter(None, (*parts, count)))


def cards_of(folding: Folding, analysis: Analysis) -> dict[str, Card]:
    """The card of each shown node, in the order of the network."""
    return {
        key: _group_card(folding, key, analysis)
        if key in folding.members
        else _layer_card(folding.graph.nodes[key], analysis)
        for key in folding.graph.order
    }


def _layer_card(node: Node, analysis: Analysis) -> Card:
    spec = all_layers().get(node.kind)
    cost, shape = analysis.costs.nodes.get(node.id), analysis.shapes.get(node.id)
    settings = "" if spec is None else spec.describe(check_all(spec.params, node.params)[0])
    parameters = cost.parameters.total if cost is not None else 0
    return Card(
        title=spec.title if spec is not None else plain_name(node.kind),
        name=plain_name(node.name),
        settings=plain_name(settings) if settings else "",
        shape=shape_text(shape) if shape else "",
        parameters=parameters,
        trained=TRAINED[node.training] if parameters else "",
        category=spec.category if spec is not None else "",
    )


def _group_card(folding: Folding, key: str, analysis: Analysis) -> Card:
    members = folding.members[key]
    nodes = [folding.full.nodes[member] for member in members]
    costs = [analysis.costs.nodes[member] for member in members if member in analysis.costs.nodes]
    shape = analysis.shapes.get(folding.exit(key))
    kinds = {node.training for node in nodes if analysis.costs.nodes.get(node.id) is not None}
    learned = [TRAINED[kind] for kind in TRAINED if kind in kinds]
    is_pretrained = any(node.pretrained for node in nodes)
    words = plural(len(members), "layer") + (", pretrained" if is_pretrained else "")
    return Card(
        title=plain_name(nodes[0].group),
        name="",
        settings=words,
        shape=shape_text(shape) if shape else "",
        parameters=sum(cost.parameters.total for cost in costs),
        trained=learned[0] if len(learned) == 1 else "partly",
        category="backbone" if is_pretrained else "core",
    )
