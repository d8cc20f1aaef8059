"""The texts and numbers of a group's card and frame, without any drawing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.core.checks.analysis import Analysis
from workbench.core.format import count, shape_text
from workbench.core.network.folding import Folding
from workbench.core.network.graph import TRAININGS, Graph, Node, Training
from workbench.core.network.roles import Layers
from workbench.gui.design.canvas.node_facts import TRAINING_WORDS, NodeFacts, problems_of


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
