"""The network: its drawing, its layers, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.checks.analysis import Analysis
from workbench.core.format import count, memory_text, plural, short
from workbench.core.network.folding import Folding
from workbench.core.network.graph import Graph
from workbench.report.blocks import Block, Figure, Section, Table, Text
from workbench.report.blocks import Facts as Names
from workbench.report.facts import Facts, SectionSpec
from workbench.report.figures.network import MOST_CARDS, Card, cards_of, network_drawing

_MOST_LAYERS = 500


def section(facts: Facts) -> Section:
    """The network from its input to its classes."""
    project, analysis = facts.project, facts.analysis
    if project is None or analysis is None:
        missing = "The network is not shown: the project of this run cannot be read."
        return Section("Network", [Text(missing, "missing")])
    graph = project.graph
    folding = Folding.of(graph, graph.groups)
    cards = list(cards_of(folding, analysis).values())
    return Section(
        "Network", [_figure(graph, analysis, cards), _costs(graph, analysis), _layers(cards)]
    )


def _figure(graph: Graph, analysis: Analysis, cards: Sequence[Card]) -> Block:
    drawing = network_drawing(graph, analysis)
    if drawing is None:
        words = f"A figure is drawn of 1 to {MOST_CARDS} layers without cycles."
        return Text(f"The network is not drawn. {words}", "missing")
    steps = ", then ".join(card.title for card in cards[:30])
    caption = (
        "From the input to the scores of the classes. A card shows the layer, its settings, the "
        "shape of its output and, on the right, its parameters."
    )
    alt = f"Layers in their order: {steps}" + (", and more" if len(cards) > 30 else "")
    return Figure(drawing=drawing, caption=caption, alt=alt)


def _costs(graph: Graph, analysis: Analysis) -> Names:
    parameters, costs = analysis.costs.parameters, analysis.costs
    is_whole = parameters.trainable == parameters.total
    trained = "all" if is_whole else f"{count(parameters.trainable)} of them"
    return Names(
        [
            ("Layers", count(len(graph.nodes))),
            ("Parameters", f"{count(parameters.total)}, {trained} trained"),
            ("Multiply-adds per image", short(costs.multiply_adds)),
            ("Weights in float32", memory_text(4 * parameters.total)),
        ]
    )


def _layers(cards: Sequence[Card]) -> Table:
    rows = [
        [card.title, card.name, card.settings, card.shape, card.trained, _count(card.parameters)]
        for card in cards[:_MOST_LAYERS]
    ]
    columns = ["Layer", "Name", "Settings", "Output shape", "Trained", "Parameters"]
    title = "Layers" if len(rows) == len(cards) else f"The first {plural(len(rows), 'layer')}"
    return Table(title=title, columns=columns, rows=rows, num_text=5)


def _count(number: int) -> str:
    return count(number) if number else ""


SPEC = SectionSpec(key="network", order=20, make=section)
