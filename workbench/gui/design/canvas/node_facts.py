"""The text and numbers of a node's card, without any drawing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workbench.core.checks.analysis import Analysis
from workbench.core.checks.problems import SEVERITIES, SEVERITY_WORDS, Problem
from workbench.core.format import shape_text
from workbench.core.network.graph import Graph, Node, Training
from workbench.core.params import check_all
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec, Role

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
