"""The one check of a project, made after every edit: shapes, costs and all problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from workbench.core.checks.costs import ALL_LEARN, Costs, PhaseWork, estimate, work_of_phases
from workbench.core.checks.data import Missing, check_data, is_asked_for
from workbench.core.checks.fixes import REMOVE, remove_fix
from workbench.core.checks.gradients import check_activations, check_gradients, check_pixels
from workbench.core.checks.images import (
    DatasetFacts,
    check_images,
    input_shape,
    pretrained_shape,
)
from workbench.core.checks.learning import (
    FindPretrained,
    check_learning,
    check_pretrained,
    check_ranges,
)
from workbench.core.checks.problems import SEVERITIES, Fix, Problem, with_fixes_of_all
from workbench.core.checks.recipe import check_recipe, check_split
from workbench.core.checks.shapes import Propagation
from workbench.core.checks.structure import (
    check_dense_inputs,
    check_end,
    check_inputs,
    check_names,
    check_outputs,
    check_places,
)
from workbench.core.format import memory_text
from workbench.core.network.graph import Graph
from workbench.core.network.roles import Layers, input_node, node_text
from workbench.core.specs import Shape, TargetLimits
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import GraphError, WorkbenchError

# trial ---------------------------------------------------------------------------------------
# Fixes are tried before they are offered: applied to the value, and what is left is counted.

MOST_OFFERED = 4

Left = tuple[int, int]
"""(problems that stop training, all problems) that are left after a fix."""


class Trial:
    """Tries the fixes of the problems that were found in a graph and a recipe.

    Args:
        graph, recipe: Where the problems were found.
        problems: All of them.
        find: The problems of another graph and recipe.
    """

    def __init__(
        self,
        graph: Graph,
        recipe: TrainingRecipe,
        problems: Sequence[Problem],
        find: Callable[[Graph, TrainingRecipe], Sequence[Problem]],
    ) -> None:
        self._graph, self._recipe = graph, recipe
        self._problems = problems
        self._find = find

    def choose(self, problem: Problem, offered: Iterable[Fix]) -> Iterator[tuple[Fix, ...] | None]:
        """Tries a fix in each step, then gives the first few that help: those that leave least
        come first, and removing a layer comes last. Where nothing else stops a layer from
        preventing training, its removal is one, if that leaves fewer problems.
        """
        found: dict[Fix, Left] = {}
        for fix in offered:
            left = None if fix in found else self._problems_after(problem, fix)
            if left is not None:
                found[fix] = left
            if len(found) == MOST_OFFERED:
                break
            yield None
        if not found and problem.stops_training and problem.node is not None:
            removal = remove_fix(problem.node, self._graph.nodes[problem.node].name)
            left = self._problems_after(problem, removal)
            if left is not None and left[1] < len(_counted(self._problems, problem)):
                found[removal] = left
        yield tuple(sorted(found, key=lambda fix: (fix.key == REMOVE, fix.order, found[fix])))

    def _problems_after(self, problem: Problem, fix: Fix) -> Left | None:
        """The problems that are left after a fix; None for one that fails, changes nothing, makes
        more problems than there were, or as many with this one still among them.
        """
        try:
            graph, recipe = fix.apply(self._graph), self._recipe.with_values(**fix.recipe)
        except WorkbenchError:
            return None
        if (graph, recipe) == (self._graph, self._recipe):
            return None
        before = _counted(self._problems, problem)
        after = _counted(self._find(graph, recipe), problem)
        if len(after) > len(before):
            return None
        if len(after) == len(before) and _is_among(problem, after):
            return None
        return sum(other.stops_training for other in after), len(after)


def _counted(problems: Sequence[Problem], fixed: Problem) -> list[Problem]:
    """The problems that count when one is fixed: a hint outweighs nothing that is worse."""
    return [each for each in problems if each.severity != "hint" or fixed.severity == "hint"]


def _is_among(problem: Problem, problems: Iterable[Problem]) -> bool:
    return any(other.place == problem.place for other in problems)


# analysis ------------------------------------------------------------------------------------

MANY_PARAMETERS = 100_000_000
MUCH_MEMORY_BYTES = 12_000_000_000


@dataclass(frozen=True)
class Analysis:
    """All that is known of a network.

    Attributes:
        shapes: Output shape by node id, where it can be known.
        inputs: Input shapes by node id in the order of the ports.
        input_shape: (height, width, channels) of the images, None while it is not known.
        costs: Parameters, multiply-adds and memory, per node and in all.
        problems: Errors first, then what is not finished, warnings and hints, each in the order
            of the network.
        phases: What each phase of the training computes.
    """

    shapes: Mapping[str, Shape]
    inputs: Mapping[str, tuple[Shape, ...]]
    input_shape: Shape | None
    costs: Costs
    problems: list[Problem]
    phases: tuple[PhaseWork, ...] = (ALL_LEARN,)

    @property
    def is_trainable(self) -> bool:
        """True where no problem stops training: warnings and hints do not."""
        return not self.errors

    @cached_property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that stop training: what is wrong, then what is not finished."""
        return tuple(problem for problem in self.problems if problem.stops_training)

    @property
    def is_unfinished(self) -> bool:
        """True where nothing is wrong, and the network can be trained when it is finished."""
        return bool(self.errors) and self.errors[0].severity == "unfinished"

    @property
    def blocking_words(self) -> str:
        """Why training cannot start, in a few words; "" where it can."""
        if not self.errors:
            return ""
        first = self.errors[0]
        return f"Not finished: {first.step}" if self.is_unfinished else first.title

    @property
    def reason(self) -> str:
        """Why training cannot start, in sentences; "" where it can."""
        return f"{self.blocking_words}. {self.errors[0].message}" if self.errors else ""

    @cached_property
    def network_errors(self) -> tuple[Problem, ...]:
        """The problems that stop training with any data and weights."""
        return tuple(problem for problem in self.errors if not is_asked_for(problem))

    def refuse_errors(self) -> None:
        """Raises GraphError, which names every reason, where the network has errors."""
        if self.errors:
            raise GraphError(
                " ".join(f"{problem.title}: {problem.message}" for problem in self.errors),
                where="the network",
                fix="The problems and their fixes are listed in Design, in a terminal by "
                "`workbench check`.",
            )

    @cached_property
    def problems_by_node(self) -> Mapping[str | None, tuple[Problem, ...]]:
        """The problems of each node that has any, worst first; those of the whole network
        under None.
        """
        by_node: dict[str | None, list[Problem]] = {}
        for problem in self.problems:
            by_node.setdefault(problem.node, []).append(problem)
        return {node: tuple(problems) for node, problems in by_node.items()}


def analyse(
    graph: Graph,
    layers: Layers,
    *,
    recipe: TrainingRecipe,
    dataset: DatasetFacts | None = None,
    limits: TargetLimits | None = None,
    missing: Sequence[Missing] = (),
    pretrained: FindPretrained | None = None,
) -> Analysis:
    """Computes all shapes and costs, and finds all problems. Never raises for a wrong graph.

    Without `dataset` the classes are not checked; without the target's `limits` nothing is said
    of how it suits the recipe, whose batch size and optimizer set the memory. `missing` is
    what has to come from elsewhere first. `pretrained` finds what weights were trained for.
    """
    facts = dataset or DatasetFacts(None, None, "")
    context = _Context(layers, facts, limits, pretrained, has_dataset=dataset is not None)
    found = _find(graph, recipe, context)
    trial = Trial(
        graph,
        recipe,
        found.problems,
        lambda other, values: _find(other, values, context, known=found).problems,
    )
    start = input_node(graph, layers)
    offered = with_fixes_of_all(found.problems)
    tried = (replace(problem, choose=trial.choose) for problem in offered)
    return Analysis(
        found.propagation.shapes,
        found.propagation.inputs,
        None if start is None else found.propagation.shapes.get(start.id),
        found.costs,
        sorted((*check_data(missing), *tried, *_check_right(graph, layers, found)), key=_rank),
        work_of_phases(graph, layers, found.propagation, recipe),
    )


@dataclass(frozen=True)
class _Context:
    """What stays the same while fixes are tried."""

    layers: Layers
    facts: DatasetFacts
    limits: TargetLimits | None
    pretrained: FindPretrained | None
    has_dataset: bool


@dataclass(frozen=True)
class _Found:
    """The result of checking a graph."""

    propagation: Propagation
    costs: Costs
    problems: list[Problem]


def _find(
    graph: Graph, recipe: TrainingRecipe, context: _Context, known: _Found | None = None
) -> _Found:
    """Finds all; nodes that are as in `known` are not worked out again."""
    layers, facts = context.layers, context.facts
    earlier = None if known is None else known.propagation
    wanted = input_shape(facts, pretrained_shape(graph, context.pretrained))
    propagation = Propagation(graph, layers, earlier, pictures=wanted)
    costs = estimate(
        graph,
        layers,
        propagation,
        batch_size=recipe.batch_size,
        optimizer=recipe.optimizer,
        known=None if known is None else known.costs,
    )
    problems = [
        *check_inputs(graph, layers, wanted),
        *propagation.problems,
        *check_places(graph, layers),
        *check_dense_inputs(graph, layers, propagation),
        *check_outputs(graph, layers, propagation),
        *check_gradients(graph, layers, propagation),
        *check_activations(graph, layers, propagation),
        *check_end(graph, layers, propagation, facts.num_classes, facts.title),
        *check_names(graph, layers),
        *_check_pretrained(graph, propagation, context),
        *_check_costs(graph, layers, costs, recipe),
        *check_recipe(recipe, facts.num_classes),
        *(check_split(recipe, context.limits) if context.limits else ()),
        *(
            check_images(graph, layers, propagation.shapes, facts, context.pretrained)
            if context.has_dataset
            else ()
        ),
    ]
    is_unfinished = any(problem.severity == "unfinished" for problem in problems)
    problems += check_learning(graph, layers, costs, recipe, is_unfinished=is_unfinished)
    problems.sort(key=_rank)
    return _Found(propagation, costs, problems)


def _check_right(graph: Graph, layers: Layers, found: _Found) -> Iterator[Problem]:
    """What is said of a network once it can be trained: no reason against a fix of one that
    cannot.
    """
    if not any(problem.stops_training for problem in found.problems):
        yield from check_pixels(graph, layers, found.costs)


def _check_pretrained(graph: Graph, found: Propagation, context: _Context) -> Iterator[Problem]:
    find, layers = context.pretrained, context.layers
    if find is None or not any(node.pretrained for node in graph.nodes.values()):
        return
    yield from check_pretrained(graph, layers, found, find)
    yield from check_ranges(graph, layers, found, find)


def _rank(problem: Problem) -> int:
    return SEVERITIES.index(problem.severity)


def _check_costs(
    graph: Graph, layers: Layers, costs: Costs, recipe: TrainingRecipe
) -> Iterator[Problem]:
    total = costs.parameters.total
    if total > MANY_PARAMETERS:
        heaviest = max(costs.nodes, key=lambda key: costs.nodes[key].parameters.total)
        share = costs.nodes[heaviest].parameters.total
        yield Problem(
            heaviest,
            "warning",
            "Too many parameters",
            f"{node_text(graph.nodes[heaviest], layers)} has {share:,} of the network's "
            f"{total:,} parameters. Weights, gradients and optimizer state alone need "
            f"{memory_text(costs.weight_bytes)} during training. Add pooling before it, or reduce "
            "its units.",
        )
    written = costs.memory_bytes - costs.weight_bytes
    if total <= MANY_PARAMETERS and written > MUCH_MEMORY_BYTES:
        yield Problem(
            None,
            "warning",
            "Large activations",
            f"The layers' outputs and their gradients take {memory_text(written)} in float32 at "
            f"batch {recipe.batch_size:,}. Reduce the batch size, or pool earlier.",
        )
