"""Findings about when layers learn: everything is frozen, or fine-tuning has nothing to tune."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from workbench.core.checks.costs import Costs
from workbench.core.checks.problems import Fix, Problem, recipe_fix, recipe_problem
from workbench.core.network.graph import Graph, Training
from workbench.core.network.learning import (
    keeps_statistics,
    learning_from,
    with_random_weights,
    with_training,
)
from workbench.core.network.roles import Layers
from workbench.core.network.text import node_text
from workbench.core.training.recipe import TrainingRecipe

NumWeights = Callable[[str], int | None]
"""Numbers in the pretrained weights of a name; None for weights that are not known."""

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


def check_weights(
    graph: Graph, layers: Layers, costs: Costs, num_weights: NumWeights
) -> Iterator[Problem]:
    """Layers whose pretrained weights have another size than they, or are not known."""
    for key, node in graph.nodes.items():
        if not node.pretrained or key not in costs.nodes:
            continue
        known, needed = num_weights(node.pretrained), costs.nodes[key].parameters.total
        if known == needed:
            continue
        reason = (
            "are of a network that this version does not have"
            if known is None
            else f"are {known:,} numbers, but with these settings it has {needed:,}"
        )
        name = node_text(node, layers)
        yield Problem(
            key,
            "error",
            "Pretrained weights do not fit",
            f"The pretrained weights of {name} {reason}. Undo the change, or start it with random "
            "weights.",
            (_random_fix(key, f"Use random weights in “{node.name}”"),),
        )


def _random_fix(key: str, title: str) -> Fix:
    return Fix(
        "random_weights",
        title,
        lambda graph: with_training(with_random_weights(graph, [key]), [key], "always"),
    )


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
