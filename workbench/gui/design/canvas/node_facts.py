"""The text and numbers of a node's card, without any drawing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.core.checks.analysis import Analysis
from workbench.core.checks.estimates import RunEstimate
from workbench.core.checks.problems import SEVERITIES, SEVERITY_WORDS, Problem
from workbench.core.format import count, memory_text, shape_text, short
from workbench.core.network.folding import Folding
from workbench.core.network.graph import TRAININGS, Graph, Node, Training
from workbench.core.network.roles import Layers, named_in
from workbench.core.params import check_all
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec, Role
from workbench.core.training.recipe import TrainingRecipe

# layer facts ---------------------------------------------------------------------------------
# Rows of facts about a layer, some layers, or the whole network, for people.

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


# node facts ----------------------------------------------------------------------------------

TRAINING_WORDS: Mapping[Training, str] = {
    "always": "",
    "fine_tuning": "fine-tuned",
    "never": "frozen",
}
"""When a layer learns, in one word; "" for the usual."""

TRAINING_TEXTS: Mapping[Training, str] = {
    "always": "",
    "fine_tuning": "Learns in the fine-tuning phase only",
    "never": "Frozen: keeps its weights",
}
"""When a layer learns, in a line; "" for the usual."""


@dataclass(frozen=True)
class NodeFacts:
    """What a card shows.

    Attributes:
        title: The layer's class name; the raw kind where it is unknown.
        name: The node's own name, always; `shown_name` only where a person chose it.
        words: The settings that differ from their defaults, or "".
        category: Category key, "" where the kind is unknown.
        count: Number of parameters in words, or "".
        shape: Output shape in words, or "" where it is not known.
        severity: That of the worst problem, "" without one.
        problems: All problems of the node, worst first.
        is_known: False for a placeholder.
        is_open_above: An input still waits for an edge.
        is_open_below: No edge leaves the node.
        is_named: A problem names the node: its card shows the name, too.
        training: When the layer learns.
        group: The open group that it belongs to, or "".
        data: The data set whose images come in there, or "".
    """

    title: str
    name: str
    words: str = ""
    category: str = ""
    count: str = ""
    shape: str = ""
    severity: str = ""
    problems: tuple[Problem, ...] = ()
    is_known: bool = True
    is_open_above: bool = False
    is_open_below: bool = False
    is_named: bool = False
    training: Training = "always"
    group: str = ""
    data: str = ""

    @property
    def shown_name(self) -> str:
        """The name where it says more than the title does, and where a problem names it."""
        stem = re.sub(r"_\d+$", "", self.name)
        return self.name if self.is_named or _letters(stem) != _letters(self.title) else ""

    def accessible_text(self) -> str:
        """The card in one sentence, for screen readers."""
        parts = [f"{self.title} {self.name}", self.words, TRAINING_WORDS[self.training]]
        parts.append(f"in group {self.group}" if self.group else "")
        parts.append(f"images of {self.data}" if self.data else "")
        return ", ".join((*filter(None, parts), *self._numbers_and_problems()))

    def _numbers_and_problems(self) -> list[str]:
        parts = [f"output {self.shape.replace(' × ', ' by ')}" if self.shape else ""]
        parts.append(f"{self.count} parameters" if self.count else "")
        parts += [f"{SEVERITY_WORDS[p.severity]}: {p.title}" for p in self.problems]
        return [part for part in parts if part]

    def tooltip(self, inputs: str) -> str:
        """Lines of the tooltip, as plain text."""
        lines = [f"{self.title} · {self.name}", self.words]
        lines.append(f"Input {inputs}" if inputs else "")
        lines.append(f"Images of {self.data}" if self.data else "")
        lines.append(f"Output {self.shape}" if self.shape else "")
        lines.append(f"{self.count} parameters" if self.count else "")
        lines.append(TRAINING_TEXTS[self.training])
        lines.append(f"In the group {self.group}" if self.group else "")
        if not self.is_known:
            lines.append("This version does not support this layer. It is kept unchanged.")
        # What stops training, and a warning, have a card of their own beside the layer.
        lines += [f"{p.title}: {p.message}" for p in self.problems if p.severity == "hint"]
        return "\n".join(line for line in lines if line)


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def node_facts(
    node: Node,
    graph: Graph,
    layers: Registry[LayerSpec],
    analysis: Analysis,
    *,
    words: str,
    is_named: bool = False,
    data: str = "",
) -> NodeFacts:
    """Collects what the card of a node shows; `words` are those of `settings_words`, `data` is the
    project's data set.
    """
    spec = layers.get(node.kind)
    shape = analysis.shapes.get(node.id)
    cost = analysis.costs.nodes.get(node.id)
    count = f"{cost.parameters.total:,}" if cost is not None and cost.parameters.total else ""
    problems = analysis.problems_by_node.get(node.id, ())
    return NodeFacts(
        title=spec.title if spec else node.kind,
        name=node.name,
        words=words,
        category=spec.category if spec else "",
        count=count,
        shape=shape_text(shape) if shape else "",
        severity=next((p.severity for p in problems if not p.is_next), ""),
        problems=problems,
        is_known=spec is not None,
        is_open_above=spec is not None and len(graph.edges_into(node.id)) < spec.min_inputs,
        is_open_below=not graph.edges_from(node.id),
        is_named=is_named,
        training=node.training,
        group=node.group,
        data=data if spec is not None and spec.role is Role.INPUT else "",
    )


def problems_of(analysis: Analysis, node_ids: Iterable[str]) -> tuple[Problem, ...]:
    """The problems of some nodes, worst first."""
    by_node = analysis.problems_by_node
    found = [problem for key in node_ids for problem in by_node.get(key, ())]
    return tuple(sorted(found, key=lambda problem: SEVERITIES.index(problem.severity)))


def settings_words(node: Node, spec: LayerSpec | None) -> str:
    """The second line of a card."""
    if spec is None:
        return "Unknown layer"
    values, _ = check_all(spec.params, node.params)
    return spec.describe(values)


# facts ---------------------------------------------------------------------------------------
# The texts and numbers of a group's card and frame, without any drawing.


@dataclass(frozen=True)
class GroupFacts(NodeFacts):
    """What the card of a folded group, or the frame of an open one, shows.

    Attributes:
        categories: Category of each layer, from the first to the last.
        trainings: When each layer learns, in the same order.
        inputs: Shape that comes in, in words, or "".
    """

    categories: tuple[str, ...] = ()
    trainings: tuple[Training, ...] = ()
    inputs: str = ""

    @property
    def num_layers(self) -> str:
        """How many layers there are, in words."""
        return "1 layer" if len(self.categories) == 1 else f"{count(len(self.categories))} layers"

    @property
    def state(self) -> str:
        """When its layers learn: "frozen", "20 frozen, 6 fine-tuned"."""
        counts = Counter(self.trainings)
        found = [key for key in reversed(TRAININGS) if counts[key]]
        if len(found) == 1:
            return _word(found[0])
        return ", ".join(f"{count(counts[key])} {_word(key)}" for key in found)

    @property
    def parts(self) -> list[tuple[Training, str]]:
        """The summary in pieces, short where layers differ: each with when its layers learn."""
        found = Counter(self.trainings)
        if len(found) == 1:
            (training,) = found
            return [("always", self.num_layers), (training, _word(training))]
        shown = [key for key in reversed(TRAININGS) if found[key]]
        words = [(key, count(found[key]) if TRAINING_WORDS[key] else "") for key in shown]
        return [("always", self.num_layers), *((key, text) for key, text in words if text)]

    @property
    def summary(self) -> str:
        """Layers, and when they learn."""
        return f"{self.num_layers} · {self.state}"

    def accessible_text(self) -> str:
        parts = [f"Group {self.name}", self.num_layers, self.state]
        parts.append(f"input {self.inputs}".replace(" × ", " by ") if self.inputs else "")
        return ", ".join((*filter(None, parts), *self._numbers_and_problems()))

    def tooltip(self, inputs: str) -> str:
        lines = [f"Group {self.name}", self.summary]
        lines.append(f"Input {inputs}" if inputs else "")
        lines.append(f"Output {self.shape}" if self.shape else "")
        lines.append(f"{self.count} parameters" if self.count else "")
        lines += [f"{p.title}: {p.message}" for p in self.problems if p.severity == "hint"]
        return "\n".join(line for line in lines if line)


def group_facts(
    name: str, ids: Sequence[str], shown: Folding, layers: Layers, analysis: Analysis
) -> GroupFacts:
    """Collects what is shown of a group; `ids` are its layers, each after all that feed it."""
    graph = shown.full
    nodes = [graph.nodes[key] for key in ids]
    costs = [analysis.costs.nodes[key] for key in ids if key in analysis.costs.nodes]
    total = sum(cost.parameters.total for cost in costs)
    problems = problems_of(analysis, ids)
    inside = set(ids)
    last = next((key for key in reversed(ids) if _leaves(graph, key, inside)), ids[-1])
    first = next((key for key in ids if not inside.issuperset(graph.sources(key))), ids[0])
    shape, entering = analysis.shapes.get(last), analysis.inputs.get(first, ())
    return GroupFacts(
        title=name,
        name=name,
        words=_shapes_words(entering, shape),
        count=f"{total:,}" if total else "",
        shape=shape_text(shape) if shape else "",
        severity=next((p.severity for p in problems if not p.is_next), ""),
        problems=problems,
        is_open_below=not _leaves(graph, last, inside),
        is_open_above=_waits(graph, ids[0], layers),
        categories=tuple(_category(node, layers) for node in nodes),
        trainings=tuple(node.training for node in nodes),
        inputs=shape_text(entering[0]) if entering else "",
    )


def _word(training: Training) -> str:
    return TRAINING_WORDS[training] or "trained"


def _leaves(graph: Graph, key: str, inside: set[str]) -> bool:
    return not inside.issuperset(graph.targets(key))


def _waits(graph: Graph, key: str, layers: Layers) -> bool:
    """Whether a layer has fewer inputs than it needs."""
    spec = layers.get(graph.nodes[key].kind)
    return spec is not None and len(graph.edges_into(key)) < spec.min_inputs


def _category(node: Node, layers: Layers) -> str:
    spec = layers.get(node.kind)
    return spec.category if spec else ""


def _shapes_words(entering: Sequence[tuple[int, ...]], leaving: tuple[int, ...] | None) -> str:
    """Such as "224 × 224 × 3 → 7 × 7 × 256"."""
    start = shape_text(entering[0]) if entering else ""
    end = shape_text(leaving) if leaving else ""
    return f"{start} → {end}" if start and end else start or end


# mentions ------------------------------------------------------------------------------------
# The problem that has a card, and the layers that problems name: their cards show their names, or
# are marked. Qt-free.

Place = tuple[str | None, str]
"""Identifies a problem: id of its node, None for one of no single node, and its title."""


@dataclass(frozen=True)
class Mentions:
    """Ids of layers that problems name.

    Attributes:
        named: Layers named in any message, or on a button of the problems that are shown.
        marked: Layers named by the problem that is looked at.
    """

    named: frozenset[str] = frozenset()
    marked: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        graph: Graph,
        problems: Iterable[Problem],
        shown: Iterable[str],
        looked_at: str,
    ) -> Mentions:
        """Finds the layers of a graph that texts name.

        Args:
            graph: The network.
            problems: All its problems.
            shown: Texts of the problems that are shown, with those of their buttons.
            looked_at: Text of the problem that is looked at, with those of its buttons.
        """
        texts = " ".join([*(problem.message for problem in problems), *shown])
        return cls(named_in(texts, graph), named_in(looked_at, graph))


@dataclass
class Attention:
    """Which remarks people want to see.

    Attributes:
        opened: The problem, by its place, whose card was asked for, by pointing at its layer or by
            Train.
        closed: Those that there were when the card was closed.
    """

    opened: Place | None = None
    closed: frozenset[Place] = frozenset()

    def begin(self) -> None:
        """Forgets the problem whose card was asked for, as there is another network."""
        self.opened = None

    def open(self, problem: Problem) -> None:
        """Asks for the card of a problem."""
        self.opened = problem.place

    def close(self, problems: Iterable[Problem]) -> None:
        """Keeps the cards of these problems closed until one is asked for."""
        self.opened, self.closed = None, frozenset(problem.place for problem in problems)

    def problem_to_show(
        self, analysis: Analysis, shown: Folding, cards: Collection[str], selected: Sequence[str]
    ) -> Problem | None:
        """The problem that was asked for; else the worst one of the one selected card, else the
        first of those on `cards` that stops training: the same as in the status line and at the
        head of each list. What is only missing at the network's end has to be asked for.
        """
        on_cards = [p for p in analysis.problems if p.node and shown.shown_id(p.node) in cards]
        asked = [problem for problem in on_cards if problem.place == self.opened]
        own = problems_of(analysis, shown.layers_of(selected)) if len(selected) == 1 else ()
        others = [*(p for p in own[:1] if p.severity != "hint")]
        others += (problem for problem in on_cards if problem.stops_training)
        wanted = (p for p in others if not p.is_next and p.place not in self.closed)
        return asked[0] if asked else next(wanted, None)
