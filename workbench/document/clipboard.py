"""Parts of a graph as text: what copy puts on the clipboard and paste reads. Qt-free.

The text is JSON with its own format name; foreign text is rejected with a reason.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from workbench.core.network.graph import Graph
from workbench.core.network.layout import Position
from workbench.core.projects.project import View
from workbench.core.projects.project_file import graph_from_plain, graph_to_plain
from workbench.core.projects.project_reader import ProjectReader
from workbench.core.storage.strict_json import JsonFault, describe, load
from workbench.document.placement import Positions
from workbench.errors import InputError

CLIPBOARD_FORMAT = "workbench-graph"
CLIPBOARD_VERSION = 1


@dataclass(frozen=True)
class Clipping:
    """Nodes, the edges among them, their positions, and the names of folded groups."""

    graph: Graph
    positions: dict[str, Position]
    folded: frozenset[str]


def copy_text(
    graph: Graph, positions: Positions, node_ids: Iterable[str], folded: Collection[str] = ()
) -> str:
    """The chosen nodes and the edges among them as text. A group stays one where all of it is
    chosen.
    """
    chosen = set(node_ids)
    part = graph.without_nodes(key for key in graph.nodes if key not in chosen)
    whole = {name for name, ids in graph.groups.items() if chosen.issuperset(ids)}
    part = part.with_nodes(
        replace(node, group="") for node in part.nodes.values() if node.group not in whole
    )
    places = {key: list(positions[key]) for key in part.nodes if key in positions}
    plain = {
        "format": CLIPBOARD_FORMAT,
        "version": CLIPBOARD_VERSION,
        "graph": graph_to_plain(part),
        "view": {"positions": places, "folded": sorted(whole & set(folded))},
    }
    return json.dumps(plain, ensure_ascii=False)


def read_text(text: str) -> Clipping:
    """What a clipboard text holds.

    Raises:
        InputError: the text is not from Workbench, or is damaged.
    """
    try:
        plain = load(text)
    except JsonFault as fault:
        raise _foreign(fault.received) from fault
    if not isinstance(plain, dict) or plain.get("format") != CLIPBOARD_FORMAT:
        raise _foreign(describe(plain))
    if plain.get("version") != CLIPBOARD_VERSION:
        raise InputError(
            "The clipboard contains layers of a newer version of Workbench.",
            where="clipboard",
            received=describe(plain.get("version")),
            expected=f"version {CLIPBOARD_VERSION}",
            fix="Update Workbench.",
        )
    part = plain.get("graph")
    graph = graph_from_plain(part if isinstance(part, dict) else {"nodes": part}, "clipboard")
    view = _view(plain, graph)
    return Clipping(graph, dict(view.positions), view.folded)


def _view(plain: dict[str, object], graph: Graph) -> View:
    """Looks of the clipping; a damaged one counts as none."""
    part = plain.get("view")
    reader = ProjectReader()
    view = reader.read_view(part, graph) if isinstance(part, dict) else View()
    return View() if reader.findings else view


def _foreign(received: str) -> InputError:
    return InputError(
        "The clipboard contains no layers.",
        where="clipboard",
        received=received,
        expected="layers copied in Workbench",
        fix="Copy some layers first. The layer of a line of Keras code is found by pasting the "
        "line into the search (Ctrl+K).",
    )
