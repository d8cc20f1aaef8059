"""Groups of layers in the project being edited: folding and opening them, and what an edit of a
card means for the layers behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import replace

from workbench.core.network.blocks import Blocks, arrange_blocks
from workbench.core.network.folding import Folding, between, card_id, group_of, is_card
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.layout import Position, Size, node_sizes
from workbench.core.network.text import nodes_text
from workbench.core.projects.project import Project
from workbench.document import graph_edits, placement
from workbench.document.saved_project import SavedProject
from workbench.document.view_state import folded_as, with_places
from workbench.errors import GraphError, ParamError

_NEW_GROUP = "block"
_MOST_LETTERS = 100
"""Longest name of a group: that of a project file."""


class GroupedProject(SavedProject):
    """A project whose canvas shows groups as one card each.

    Its edits take ids and edges of `shown`: an edit of a card is one of its layers.
    """

    # groups ------------------------------------------------------------------------------

    def fold(self, *names: str) -> None:
        """Makes groups one card each; what is behind them closes the gap.

        Raises:
            GraphError: another layer lies between the layers of a group.
        """
        folded = self.folded | {*names}
        shown = Folding.of(self.graph, folded)
        for name in names:
            if card_id(name) not in shown.members:
                raise self._cannot_fold(name)
        self._refold(folded)

    def open_group(self, *names: str) -> None:
        """Shows the layers of groups; what is behind them makes room."""
        self._refold(self.folded - {*names})

    def group(self, shown_ids: Iterable[str]) -> str:
        """Makes layers a group, which is open, and returns its name; they leave other groups."""
        ids = self.shown.layers_of(shown_ids)
        state = self._opened({self.graph.nodes[key].group for key in ids})
        name = graph_edits.new_group_name(_NEW_GROUP, state.graph.groups)
        graph = _with_group(state.graph, ids, name)
        self._push(f"Group {len(ids)} layers", replace(state, graph=graph))
        return name

    def ungroup(self, *names: str) -> None:
        """Makes the layers of groups layers on their own."""
        state = self._opened(names)
        graph = state.graph
        for name in names:
            graph = _with_group(graph, graph.groups.get(name, ()), "")
        self._push(f"Ungroup {_groups_text(names)}", replace(state, graph=graph))

    def rename_group(self, name: str, wanted: str) -> None:
        """Gives a group another name.

        Raises:
            ParamError: it cannot be a name.
            GraphError: another group has it.
        """
        wanted = wanted.strip()
        if not wanted or len(wanted) > _MOST_LETTERS or not wanted.isprintable():
            raise ParamError(f"Use 1 to {_MOST_LETTERS} visible characters.", received=wanted)
        if wanted == name:
            return
        if wanted in self.graph.groups:
            raise GraphError(f"Another group is named “{wanted}”.", fix="Choose another name.")
        graph = _with_group(self.graph, self.graph.groups[name], wanted)
        folded = self.folded - {name} | ({wanted} if name in self.folded else set())
        state = replace(self._state, graph=graph, view=replace(self._state.view, folded=folded))
        self._push(f"Rename {name} to {wanted}", state)

    def selected_group(self, shown_ids: Collection[str]) -> str:
        """The name of the group that these cards are, all of it and nothing else; "" for none."""
        names = {
            self.shown.graph.nodes[key].group for key in shown_ids if key in self.shown.graph.nodes
        }
        if len(names) != 1:
            return ""
        (name,) = names
        ids = self.shown.layers_of(shown_ids)
        return name if name and len(ids) == len(self.graph.groups[name]) else ""

    def _cannot_fold(self, name: str) -> GraphError:
        outside = between(self.graph, self.graph.groups.get(name, ()))
        if not outside:
            return GraphError(
                f"“{name}” cannot be folded: it would form a cycle with another folded group.",
                fix="Open the other group first.",
            )
        words = nodes_text(outside, self.graph, self.layers)
        lies = "lies" if len(outside) == 1 else "lie"
        return GraphError(
            f"“{name}” cannot be folded: {words} {lies} between its layers.",
            fix="Add them to the group, or ungroup it.",
        )

    def _opened(self, names: Iterable[str]) -> Project:
        """The state with these groups opened."""
        return folded_as(self._state, self.folded - {*names}, self.layers)

    # places ------------------------------------------------------------------------------

    def move(
        self, positions: Mapping[str, Position], text: str = "", *, merge_key: Hashable = None
    ) -> None:
        """Moves cards: one gesture, one step; moves in a row with the same key are one too."""
        known = {key: place for key, place in positions.items() if key in self.shown.graph.nodes}
        if not text and len(known) == 1:
            text = f"Move {self._name(next(iter(known)))}"
        places = self.blocks.moved(known, self.positions)
        text = text or f"Move {len(known)} layers"
        self._push(text, with_places(self._state, places), merge_key=merge_key)

    def arrange(self) -> None:
        """Lays the network out from top to bottom."""
        places = arrange_blocks(self.graph, node_sizes(self.graph, self.layers), self.folded)
        self._push("Arrange", with_places(self._state, places))

    def _push_graph(self, text: str, graph: Graph, merge_key: Hashable = None) -> None:
        after = replace(self._state, graph=graph)
        if graph.nodes.keys() != self.positions.keys():  # sizes take time: only when needed
            sizes = node_sizes(graph, self.layers)
            places = placement.complete(graph, self.positions, sizes, self.folded)
            after = with_places(after, places)
        self._push(text, after, merge_key=merge_key)

    def _push_new_nodes(self, text: str, graph: Graph, given: Mapping[str, Position]) -> None:
        """Pushes a graph with nodes that get places by their connections, or those given."""
        new = [key for key in graph.order if key not in self.positions]
        graph = graph_edits.adopted(graph, new)
        sizes = node_sizes(graph, self.layers)
        places = {key: place for key, place in self.positions.items() if key in graph.nodes}
        for key in new:
            places = self._placed(graph, places, sizes, key, wanted=given.get(key))
        self._push(text, with_places(replace(self._state, graph=graph), places))

    def _placed(
        self,
        graph: Graph,
        places: Mapping[str, Position],
        sizes: Mapping[str, Size],
        key: str,
        *,
        wanted: Position | None,
        folded: Collection[str] | None = None,
    ) -> dict[str, Position]:
        """Places with one more layer or card, which is `key`; groups make room as one piece. Those
        of `folded`, usually those of the project, are cards.
        """
        folded = self.folded if folded is None else folded
        own = group_of(key) if is_card(key) else graph.nodes[key].group
        if own and own in folded and not is_card(key):
            hidden = graph.without_nodes(graph.nodes.keys() - set(graph.groups[own]))
            inner = {each: places[each] for each in hidden.nodes if each in places}
            return {**places, **placement.with_new(hidden, inner, sizes, key)}
        names = graph.groups.keys() - (set() if is_card(key) else {own})
        blocks = Blocks.of(
            Folding.of(graph, names), places, sizes, graph.groups.keys() - set(folded)
        )
        known = {each: place for each, place in blocks.places.items() if each != key}
        shown = blocks.folding.graph
        return blocks.moved(placement.with_new(shown, known, blocks.sizes, key, wanted), places)

    # what a card means -------------------------------------------------------------------

    def _layers_of(self, shown_ids: Iterable[str]) -> list[str]:
        return [key for key in self.shown.layers_of(shown_ids) if key in self.graph.nodes]

    def _edges_of(self, edges: Iterable[Edge]) -> list[Edge]:
        return [real for edge in edges for real in self.shown.edges_of(edge)]

    def _inputs(
        self, target: str, port: int | None, replacing: Iterable[Edge]
    ) -> list[tuple[str, int | None]]:
        """The inputs of layers, as node and port, that a connection to a card ends at: those of
        the one that it replaces there, or the entry's.
        """
        if not is_card(target):
            return [(target, port)]
        gone = self._edges_of(edge for edge in replacing if edge.target == target)
        return [(edge.target, edge.port) for edge in gone] or [(self.shown.entry(target), None)]

    def _node(self, node_id: str) -> Node:
        node = self.graph.nodes.get(node_id)
        if node is None:
            raise GraphError("That layer no longer exists.", where=node_id)
        return node

    def _name(self, shown_id: str) -> str:
        node = self.shown.graph.nodes.get(shown_id) or self.graph.nodes.get(shown_id)
        return node.name if node else shown_id


def _with_group(graph: Graph, ids: Iterable[str], name: str) -> Graph:
    return graph.with_nodes(replace(graph.nodes[key], group=name) for key in ids)


def _groups_text(names: Collection[str]) -> str:
    return next(iter(names)) if len(names) == 1 else f"{len(names)} groups"
