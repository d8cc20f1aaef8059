"""Findings about when layers learn and what they start from: everything is frozen, fine-tuning has
nothing to tune, or pretrained weights are no longer those of their layer or get other values than
in their training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from workbench.core.checks.costs import Costs
from workbench.core.checks.problems import Fix, Problem, recipe_fix, recipe_problem
from workbench.core.checks.shapes import Propagation
from workbench.core.format import list_text, plural
from workbench.core.network.graph import Graph, Node, Training, removed
from workbench.core.network.roles import (
    Layers,
    has_role,
    keeps_statistics,
    learning_from,
    node_text,
    with_training,
)
from workbench.core.specs import ACTIVATION_CATEGORY, PretrainedLayer, Role, ValueRange
from workbench.core.training.recipe import TrainingRecipe

FindPretrained = Callable[[str], PretrainedLayer | None]
"""What a node's `pretrained` names; None where there is no such layer."""

_TUNED_PART = 1 / 3
"""Share of a group's layers that are fine-tuned, the last ones: they are closest to the task at
hand."""

PIXELS: ValueRange = (0.0, 255.0)
"""Lowest and highest value of an image."""

_SAME = 0.02
"""Ranges are the same where their ends differ by at most so much of their width: rounding, and the
different means of well-known networks.
"""


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
            f"In the first {plural(recipe.head_epochs, 'epoch')} no layer learns: all with weights "
            "are frozen, or learn in the fine-tuning phase only.",
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
            recipe_fix(f"Fine-tune after {plural(half, 'epoch')}", fine_tuning_after=half),
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
            f"It begins after {plural(after, 'epoch')}, but there are only "
            f"{plural(recipe.epochs, 'epoch')}.",
            recipe_fix(f"Fine-tune after {plural(half, 'epoch')}", fine_tuning_after=half),
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


def check_ranges(
    graph: Graph, layers: Layers, found: Propagation, find: FindPretrained
) -> Iterator[Problem]:
    """Problems where the values that reach the first pretrained weights of a network have another
    range than in its training; none where layers that learn come before.
    """
    for node in graph.nodes.values():
        weights = find(node.pretrained) if node.pretrained else None
        if weights is None or weights.input_range is None:
            continue
        path = _path(graph, layers, found, node.id)
        if path is None:
            continue
        wanted = _trained_range(weights, layers)
        got = _range_behind(path, graph, layers, found)
        if _is_same(got, wanted):
            continue
        foreign = [
            key
            for key in path
            if graph.nodes[key].group != node.group and _scales(graph, layers, key)
        ]
        rest = [key for key in path if key not in foreign]
        name = node_text(node, layers)
        if foreign and _is_same(_range_behind(rest, graph, layers, found), wanted):
            yield _twice(graph, layers, foreign, node.group or name)
        else:
            yield _other_range(node.id, name, got, wanted)


def _path(graph: Graph, layers: Layers, found: Propagation, node_id: str) -> list[str] | None:
    """The layers between Input and a node, in order; None where their values cannot be known."""
    path: list[str] = []
    at = node_id
    while True:
        sources = set(graph.sources(at))
        if len(sources) != 1:
            return None
        (at,) = sources
        if at not in found.shapes:
            return None
        if has_role(graph.nodes[at], layers, Role.INPUT):
            return path[::-1]
        spec = layers[graph.nodes[at].kind]
        counts = spec.count_params(found.params[at], found.inputs[at])
        is_open = counts.total or spec.category == ACTIVATION_CATEGORY
        if is_open and spec.range_of is None:
            return None
        path.append(at)


def _scales(graph: Graph, layers: Layers, key: str) -> bool:
    return layers[graph.nodes[key].kind].range_of is not None


def _range_behind(
    path: Sequence[str], graph: Graph, layers: Layers, found: Propagation
) -> ValueRange:
    values = PIXELS
    for key in path:
        change = layers[graph.nodes[key].kind].range_of
        values = values if change is None else change(found.params[key], values)
    return values


def _trained_range(weights: PretrainedLayer, layers: Layers) -> ValueRange:
    """What reached the weights when they were trained."""
    values = weights.input_range or PIXELS
    for kind, params in weights.before:
        spec = layers[kind]
        if spec.range_of is not None:
            values = spec.range_of({**spec.defaults(), **params}, values)
    return values


def _is_same(one: ValueRange, other: ValueRange) -> bool:
    width = other[1] - other[0]
    return all(abs(a - b) <= _SAME * width for a, b in zip(one, other, strict=True))


def _twice(graph: Graph, layers: Layers, foreign: list[str], block: str) -> Problem:
    names = list_text([node_text(graph.nodes[key], layers) for key in foreign])
    title = "Remove " + list_text([f"“{graph.nodes[key].name}”" for key in foreign])
    return Problem(
        foreign[0],
        "warning",
        "Values are scaled twice",
        f"{names} before {block} changes the pixel values, but {block} takes images as they are "
        "and scales them itself. Its pretrained weights get other values than in their training.",
        (Fix("scale_once", title, lambda graph: removed(graph, foreign)),),
    )


def _other_range(node_id: str, name: str, got: ValueRange, wanted: ValueRange) -> Problem:
    return Problem(
        node_id,
        "warning",
        "Values are not as in the training of the weights",
        f"{name} gets values from {_words(got)}. Its pretrained weights were trained with values "
        f"from {_words(wanted)}: with others its features are of little use.",
    )


def _words(values: ValueRange) -> str:
    return " to ".join(f"{value:.3g}".replace("-", "−") for value in values)
