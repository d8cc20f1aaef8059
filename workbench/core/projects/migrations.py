"""Project files of earlier versions.

Version 0 (drafts before the first release) had `layers` with `type` instead of `kind`,
`connections` as triples, `training` for the recipe, a bare dataset key, and a position in
each layer. Version 1 keeps the meaning (`graph`) apart from the looks (`view`). Version 2 has
an `id`.
"""

from __future__ import annotations

from typing import Any

from workbench.core.storage.migration_chain import MigrationChain, Plain

PROJECT_VERSION = 2
"""The version written by this Workbench."""

PROJECT_MIGRATIONS = MigrationChain(PROJECT_VERSION)


@PROJECT_MIGRATIONS.step(0)
def _split_meaning_from_looks(plain: Plain) -> Plain:
    rest = dict(plain)
    layers = rest.pop("layers", [])
    connections = rest.pop("connections", [])
    rest["graph"] = {
        "nodes": [_node_of(layer) for layer in layers] if isinstance(layers, list) else layers,
        "edges": (
            [_edge_of(connection) for connection in connections]
            if isinstance(connections, list)
            else connections
        ),
    }
    rest["view"] = {"positions": _positions_of(layers)}
    if "training" in rest:
        rest["recipe"] = rest.pop("training")
    if isinstance(rest.get("dataset"), str):
        rest["dataset"] = {"key": rest["dataset"], "params": {}}
    return rest


@PROJECT_MIGRATIONS.step(1)
def _leave_without_id(plain: Plain) -> Plain:
    """A random id would be another at each reading: `read_project` makes one of the path."""
    return dict(plain)


def _node_of(layer: Any) -> Any:
    if not isinstance(layer, dict):
        return layer
    node = {key: value for key, value in layer.items() if key != "position"}
    if "type" in node:
        node["kind"] = node.pop("type")
    return node


def _edge_of(connection: Any) -> Any:
    if not isinstance(connection, list) or len(connection) not in {2, 3}:
        return connection
    port = connection[2] if len(connection) == 3 else 0
    return {"source": connection[0], "target": connection[1], "port": port}


def _positions_of(layers: Any) -> Plain:
    if not isinstance(layers, list):
        return {}
    return {
        layer["id"]: layer["position"]
        for layer in layers
        if isinstance(layer, dict) and isinstance(layer.get("id"), str) and "position" in layer
    }
