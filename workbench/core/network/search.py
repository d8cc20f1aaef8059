"""Finding layers of a network by what people read on them: type, name, settings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.core.network.graph import Graph, Node
from workbench.core.network.roles import Layers
from workbench.core.params import check_all
from workbench.core.specs import LayerSpec

_SHAPE = re.compile(r"\d+(?:x\d+)+")
_TOKEN = re.compile(r"[\w.%-]+")


class NetworkSearch:
    """Searches one network after the other; keeps the words of nodes that have not changed."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._words: dict[str, tuple[Node, frozenset[str]]] = {}

    def find(self, graph: Graph, text: str) -> tuple[str, ...]:
        """Ids of the nodes that all words of a text fit, from Input to the end.

        A word fits a part of a type, a name, or a setting's name or value; a number fits only
        the same number: 3 does not find 32.
        """
        words = _tokens(text)
        if not words:
            return ()
        found = []
        for node_id in graph.order:
            known = self._words_of(graph.nodes[node_id])
            if all(_fits(word, known) for word in words):
                found.append(node_id)
        return tuple(found)

    def prepare(self, graph: Graph, limit: int) -> bool:
        """Finds the words of up to `limit` nodes more; True while others are left."""
        new = [node for node in graph.nodes.values() if not self._is_known(node)]
        for node in new[:limit]:
            self._words_of(node)
        return len(new) > limit

    def _is_known(self, node: Node) -> bool:
        kept = self._words.get(node.id)
        return kept is not None and kept[0] is node

    def _words_of(self, node: Node) -> frozenset[str]:
        kept = self._words.get(node.id)
        if kept is None or kept[0] is not node:
            words = frozenset(_node_words(node, self._layers.get(node.kind)))
            kept = self._words[node.id] = (node, words)
        return kept[1]


def _tokens(text: str) -> list[str]:
    """A text in words: "3 × 3 Relu" -> ["3x3", "relu"]; a shape is one word."""
    joined = re.sub(r"(?<=\d)\s*[×x]\s*(?=\d)", "x", text.lower())
    return _TOKEN.findall(re.sub(r"(?<=\d),(?=\d{3})", "", joined))


def _fits(word: str, known: frozenset[str]) -> bool:
    if word[0].isdigit():
        return word in known
    return any(word in each for each in known)


def _node_words(node: Node, spec: LayerSpec | None) -> Iterator[str]:
    yield from _tokens(f"{node.kind} {node.name}")
    if spec is None:
        return
    values, _ = check_all(spec.params, node.params)
    settings = (
        f"{param.title} {param.show(values[param.key])}"
        for param in spec.params
        if values[param.key] != param.default or not param.is_advanced
    )
    for word in _tokens(" ".join((spec.title, spec.describe(values), *settings))):
        yield word
        if _SHAPE.fullmatch(word):
            yield from word.split("x")
