"""Rows of facts about a layer, some layers, or the whole network, for people."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.checks.analysis import Analysis
from workbench.core.checks.estimates.run_estimate import RunEstimate
from workbench.core.format import count, memory_text, shape_text, short
from workbench.core.network.graph import Graph
from workbench.core.training.recipe import TrainingRecipe

Facts = list[tuple[str, str]]


def layer_facts(node_id: str, analysis: Analysis, batch_size: int) -> Facts:
    """Shapes and costs of one layer, as far as they are known."""
    inputs = analysis.inputs.get(node_id, ())
    facts: Facts = []
    for number, shape in enumerate(inputs, start=1):
        facts.append(("Input" if len(inputs) == 1 else f"Input {number}", shape_text(shape)))
    output = analysis.shapes.get(node_id)
    facts.append(("Output", shape_text(output) if output else "unknown"))
    cost = analysis.costs.nodes.get(node_id)
    if cost is None:
        return facts
    facts.append(("Parameters", count(cost.parameters.total)))
    if cost.parameters.non_trainable:
        facts.append(("Non-trainable", count(cost.parameters.non_trainable)))
    facts.append(("Multiply-adds", _with_share(cost.multiply_adds, analysis.costs.multiply_adds)))
    activations = memory_text(cost.activation_bytes * batch_size)
    facts.append((f"Activations, batch {count(batch_size)}", activations))
    return facts


def selection_facts(node_ids: Sequence[str], analysis: Analysis) -> Facts:
    """Sums over some layers."""
    costs = [analysis.costs.nodes[key] for key in node_ids if key in analysis.costs.nodes]
    multiply_adds = sum(cost.multiply_adds for cost in costs)
    kept = sum(cost.parameters.non_trainable for cost in costs)
    return [
        ("Layers", count(len(node_ids))),
        ("Parameters", count(sum(cost.parameters.total for cost in costs))),
        *([("Non-trainable", count(kept))] if kept else []),
        ("Multiply-adds", _with_share(multiply_adds, analysis.costs.multiply_adds)),
    ]


def group_facts_rows(node_ids: Sequence[str], graph: Graph, analysis: Analysis) -> Facts:
    """What goes into and out of a group, and sums over its layers, first to last."""
    inside, facts = set(node_ids), list[tuple[str, str]]()
    first = next((key for key in node_ids if not inside.issuperset(graph.sources(key))), "")
    last = next((k for k in reversed(node_ids) if not inside.issuperset(graph.targets(k))), "")
    if entering := analysis.inputs.get(first or node_ids[0]):
        facts.append(("Input", shape_text(entering[0])))
    if leaving := analysis.shapes.get(last or node_ids[-1]):
        facts.append(("Output", shape_text(leaving)))
    return [*facts, *selection_facts(node_ids, analysis)]


def network_facts(
    graph: Graph, analysis: Analysis, recipe: TrainingRecipe, estimate: RunEstimate | None
) -> Facts:
    """Totals of the network, and what training it takes as far as that is known."""
    costs, batch = analysis.costs, count(recipe.batch_size)
    needed = memory_text(estimate.memory_bytes) if estimate else "–"
    # A head on cached features holds next to none: a row of a few kB beside the GB of the process
    # reads as a mistake.
    is_telling = not estimate or estimate.activation_bytes >= estimate.memory_bytes / 100
    activations = memory_text(estimate.activation_bytes) if estimate else "–"
    kept = costs.parameters.non_trainable
    return [
        ("Layers", count(len(graph.nodes))),
        ("Parameters", count(costs.parameters.total)),
        *([("Non-trainable", count(kept))] if kept else []),
        ("Multiply-adds", short(costs.multiply_adds)),
        (f"Training memory, batch {batch}", needed),
        *([("of which activations", activations)] if is_telling else []),
    ]


def _with_share(part: int, whole: int) -> str:
    if part == 0 or whole == 0:
        return short(part)
    return f"{short(part)} ({100 * part / whole:.0f}%)"
