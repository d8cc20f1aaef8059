"""Parts of a graph as text: what copy puts on the clipboard and paste reads. Qt-free.

The text is JSON with its own format name; foreign text is rejected with a reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.core.network.graph import Graph
from workbench.core.network.layout import Position
from workbench.core.projects.project_file import graph_from_plain, graph_to_plain
from workbench.core.projects.project_reader import ProjectReader
from workbench.core.storage.strict_json import JsonFault, describe, load
from workbench.document.placement import Positions
from workbench.errors import InputError

CLIPBOARD_FORMAT = "workbench-graph"
CLIPBOARD_VERSION = 1


@dataclass(frozen=True)
class Clipping:
    """Nodes, the edges among them, and their positions."""

    graph: Graph
    positions: dict[str, Position]


def copy_text(graph: Graph, positions: Positions, node_ids: Iterable[str]) -> str:
    """The chosen nodes and the edges among them as text."""
    chosen = set(node_ids)
    part = graph.without_nodes(key for key in graph.nodes if key not in chosen)
    places = {key: list(positions[key]) for key in part.nodes if key in positions}
    plain = {
        "format": CLIPBOARD_FORMAT,
        "version": CLIPBOARD_VERSION,
        "graph": graph_to_plain(part),
        "view": {"positions": places},
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
    return Clipping(graph, _positions(plain, graph))


def _positions(plain: dict[str, object], graph: Graph) -> dict[str, Position]:
    """Places of the clipping; a damaged one counts as none: it is only looks."""
    view = plain.get("view")
    reader = ProjectReader()
    places = reader.read_view(view, graph).positions if isinstance(view, dict) else {}
    return {} if reader.findings else dict(places)


def _foreign(received: str) -> InputError:
    return InputError(
        "The clipboard contains no layers.",
        where="clipboard",
        received=received,
        expected="layers copied in Workbench",
        fix="Copy some layers first.",
    )
