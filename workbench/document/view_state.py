"""What of a project is only how it is looked at: which groups are folded, and where cards are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from workbench.core.network.blocks import refolded
from workbench.core.network.layout import Position, node_sizes
from workbench.core.network.roles import Layers
from workbench.core.projects.project import Project, View


def with_places(state: Project, places: Mapping[str, Position]) -> Project:
    """A state with other positions; zoom and center are no part of a state."""
    return replace(state, view=View(dict(places), folded=state.view.folded))


def folded_as(state: Project, folded: Collection[str], layers: Layers) -> Project:
    """A state with these of its groups folded, and no others; what is behind them makes way."""
    wanted = state.graph.groups.keys() & set(folded)
    if wanted == state.view.folded:
        return state
    sizes = node_sizes(state.graph, layers)
    places = refolded(state.graph, state.view.positions, sizes, state.view.folded, wanted)
    return replace(state, view=View(places, folded=frozenset(wanted)))


def seen_as(state: Project, other: Project, layers: Layers) -> Project:
    """A state with those of its groups folded that another state has folded, maybe under another
    name; groups that are not in the other one stay as they are.
    """
    known, own = other.graph.groups, state.graph.groups
    names = {ids: name for name, ids in known.items()}
    same = {name: name if name in known else names.get(ids) for name, ids in own.items()}
    wanted = [
        name
        for name, old in same.items()
        if (name in state.view.folded if old is None else old in other.view.folded)
    ]
    return folded_as(state, wanted, layers)
