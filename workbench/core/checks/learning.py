"""Findings about when layers learn and what they start from: everything is frozen, fine-tuning has
nothing to tune, or pretrained weights are no longer those of their layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from workbench.core.checks.costs import Costs
from workbench.core.checks.problems import Fix, Problem, recipe_fix, recipe_problem
from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Graph, Node, Training
from workbench.core.network.learning import keeps_statistics, learning_from, with_training
from workbench.core.network.roles import Layers
from workbench.core.network.text import node_text
from workbench.core.specs import PretrainedLayer
from workbench.core.training.recipe import TrainingRecipe

FindPretrained = Callable[[str], PretrainedLayer | None]
"""What a node's `pretrained` names; None where there is no such layer."""

_TUNED_PART = 1 / 3
"""Of a group, from its end: the layers that are closest to the task at hand."""


def check_learning(
    graph: Graph,
    layers: Layers,
    costs: Costs,
    recipe: TrainingRecipe,
    *,
    is_unfinished: bool = False,
) -> Iterator[Problem]:
    """Findings about frozen layers, and those for fine-tuning. An unfinished network may get the
    layers that learn yet.
    """
    marked = [key for key, node in graph.nodes.items() if node.training == "fine_tuning"]
    frozen = [key for key, node in graph.nodes.items() if node.training == "never"]
    if (marked or frozen) and not is_unfinished:
        yield from _check_any(graph, layers, costs, recipe)
    yield from _check_phases(graph, layers, costs, recipe, marked)


def _check_any(
    graph: Graph, layers: Layers, costs: Costs, recipe: TrainingRecipe
) -> Iterator[Problem]:
    """Whether any layer learns from the start on."""
    counts = {key: cost.parameters for key, cost in costs.nodes.items() if cost.parameters.total}
    with_weights = [key for key in graph.order if key in counts]
    learning = {graph.nodes[key].training for key in with_weights if counts[key].trainable}
    if not with_weights or "always" in learning:
        return
    last = with_weights[-1]
    fix = _train_fix(last, f"Train {node_text(graph.nodes[last], layers)}", [last])
    if not learning or not recipe.has_fine_tuning:
        yield Problem(
            None,
            "error",
            "Nothing to train",
            "All layers with weights are frozen, or learn in the fine-tuning phase only: training "
            "would change nothing.",
            (fix, _train_fix(last, "Train all layers", _free(graph, layers))),
        )
    else:
        yield Problem(
            None,
            "warning",
            "Nothing learns before fine-tuning",
            f"In the first {_epochs(recipe.head_epochs)} no layer learns: all with weights are "
            "frozen, or learn in the fine-tuning phase only.",
            (fix,),
        )


def _free(graph: Graph, layers: Layers) -> list[str]:
    return [key for key in graph.nodes if not keeps_statistics(graph, key, layers)]


def _check_phases(
    graph: Graph, layers: Layers, costs: Costs, recipe: TrainingRecipe, marked: list[str]
) -> Iterator[Problem]:
    """Whether the fine-tuning phase of the recipe and the layers marked for it go together."""
    after, half = recipe.fine_tuning_after, max(1, recipe.epochs // 2)
    if after is None and marked:
        layer = "layer learns" if len(marked) == 1 else "layers learn"
        yield recipe_problem(
            "hint",
            "No fine-tuning phase",
            f"{len(marked):,} {layer} in the fine-tuning phase only, but the recipe has none.",
            recipe_fix(f"Fine-tune after {_epochs(half)}", fine_tuning_after=half),
            Fix(
                "freeze_marked", "Freeze them", lambda graph: with_training(graph, marked, "never")
            ),
        )
    elif after is not None and not marked:
        yield recipe_problem(
            "hint",
            "No layers to fine-tune",
            "The recipe has a fine-tuning phase, but no layer is marked to learn in it: its epochs "
            "only train at a lower rate.",
            *_tune_fixes(graph, layers, costs),
            recipe_fix("Turn fine-tuning off", fine_tuning_after=None),
        )
    elif after is not None and not recipe.has_fine_tuning and recipe.epochs > 1:
        yield recipe_problem(
            "warning",
            "Fine-tuning never begins",
            f"It begins after {_epochs(after)}, but there are only {_epochs(recipe.epochs)}.",
            recipe_fix(f"Fine-tune after {_epochs(half)}", fine_tuning_after=half),
        )


def _tune_fixes(graph: Graph, layers: Layers, costs: Costs) -> Iterator[Fix]:
    """Fine-tuning the last part of each frozen group, from a layer with weights on."""
    counts = {key for key, cost in costs.nodes.items() if cost.parameters.total}
    for name, ids in graph.groups.items():
        is_frozen = all(graph.nodes[key].training == "never" for key in ids)
        tunable = [key for key in ids if key in counts and not keeps_statistics(graph, key, layers)]
        if is_frozen and tunable:
            start = min(len(tunable) - 1, round(len(tunable) * (1 - _TUNED_PART)))
            yield _tune_fix(tunable[start], name, graph, layers)


def _tune_fix(first: str, group: str, graph: Graph, layers: Layers) -> Fix:
    title = f"Fine-tune {group} from {graph.nodes[first].name} on"
    tuned: Training = "fine_tuning"
    return Fix(f"tune_{group}", title, lambda graph: learning_from(graph, first, tuned, layers))


def _train_fix(key: str, title: str, ids: list[str]) -> Fix:
    always: Training = "always"
    return Fix(f"train_{key}_{len(ids)}", title, lambda graph: with_training(graph, ids, always))


def _epochs(number: int) -> str:
    return "1 epoch" if number == 1 else f"{number:,} epochs"


def check_pretrained(
    graph: Graph, layers: Layers, found: Propagation, find: FindPretrained
) -> Iterator[Problem]:
    """Layers that have another number of parameters than their pretrained weights."""
    for node in graph.nodes.values():
        if not node.pretrained or node.id not in found.shapes:
            continue
        weights = find(node.pretrained)
        count = layers[node.kind].count_params(found.params[node.id], found.inputs[node.id]).total
        if weights is None:
            yield _unknown(node, layers)
        elif count != weights.num_parameters or node.kind != weights.kind:
            yield Problem(
                node.id,
                "error",
                "Pretrained weights do not fit",
                f"{node_text(node, layers)} has {count:,} parameters, but its pretrained weights "
                f"({node.pretrained}) have {weights.num_parameters:,}: its settings or its inputs "
                "were changed.",
                (*_restore(node, weights), _forget(node)),
            )


def _unknown(node: Node, layers: Layers) -> Problem:
    return Problem(
        node.id,
        "error",
        "Unknown pretrained weights",
        f"{node_text(node, layers)} starts with the weights “{node.pretrained}”, which this "
        "version does not have.",
        (_forget(node),),
    )


def _forget(node: Node) -> Fix:
    def change(graph: Graph) -> Graph:
        known = graph.nodes.get(node.id)
        # Random weights that never learn would be of no use.
        return (
            graph
            if known is None
            else graph.with_node(replace(known, pretrained="", training="always"))
        )

    return Fix("forget_pretrained", "Start with random weights, and train them", change)


def _restore(node: Node, weights: PretrainedLayer) -> Iterator[Fix]:
    def change(graph: Graph) -> Graph:
        known = graph.nodes.get(node.id)
        return graph if known is None else graph.with_node(replace(known, params=weights.params))

    if node.kind == weights.kind and node.params != weights.params:
        yield Fix("restore_settings", "Restore the settings that the weights are for", change)
