"""Plain JSON values -> Project, with every fault named by its place in the file.

Names of nodes and values of layer parameters are not judged here: a wrong one is a problem
shown on its node, not a reason to refuse the file.

Fields that this version does not define are kept: at the top in `Project.extra`, of a node in
`Node.extra`, of a section in `Project.extra[SECTION]`, of edges in
`Project.extra["graph"]["edges"]` by "SOURCE TARGET PORT". No section's own name can be an
unknown field, so the places never collide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from workbench.core.network.graph import TRAININGS, Edge, Graph, Node, Training
from workbench.core.network.layout import Position
from workbench.core.params import is_int
from workbench.core.projects.data_edits import read_edits, read_versions
from workbench.core.projects.project import Choice, Project, View, read_tests
from workbench.core.storage.json_file import describe
from workbench.core.training.recipe import RECIPE_PARAMS, TrainingRecipe, recipe_from


def _names(kind: type) -> tuple[str, ...]:
    """The fields of a class that a file has."""
    return tuple(field.name for field in fields(kind) if field.name != "extra")


TOP_FIELDS = ("format", "version", *_names(Project))
GRAPH_FIELDS = ("nodes", "edges")
RECIPE_FIELDS = tuple(param.key for param in RECIPE_PARAMS)

MAX_NODES = 20_000
MAX_EDGES = 100_000
MAX_PORT = 10_000
_MAX_TEXT = 10_000
_MAX_ID = 100
_FAR = 1e7

Plain = Mapping[str, Any]


class ProjectReader:
    """Reads one project and collects what is wrong; with findings the result is not used.

    Attributes:
        findings: (place, received, expected) in words, in the order of the file.
    """

    def __init__(self) -> None:
        self.findings: list[tuple[str, str, str]] = []

    def read_project(self, plain: Plain) -> Project:
        """The project of a plain dict of the newest version."""
        extra = _unknown(plain, TOP_FIELDS)
        graph_part = self._section(plain, "graph", GRAPH_FIELDS, extra)
        recipe_part = self._section(plain, "recipe", RECIPE_FIELDS, extra)
        view_part = self._section(plain, "view", _names(View), extra)
        graph = self.read_graph(graph_part)
        edges = _edge_extras(graph_part)
        if edges:
            extra["graph"] = {**extra.get("graph", {}), "edges": edges}
        return Project(
            graph=graph,
            recipe=self._recipe(recipe_part),
            dataset=self._choice(plain, "dataset", Project().dataset, extra),
            target=self._choice(plain, "target", Project().target, extra),
            edits=read_edits(plain.get("edits", {}), self._add),
            robustness=read_tests(plain.get("robustness", []), self._add),
            data_versions=read_versions(plain.get("data_versions", []), self._add),
            view=self.read_view(view_part, graph),
            id=self._optional_text(plain, "id", ""),
            title=self._text(plain, "title"),
            summary=self._text(plain, "summary"),
            extra=extra,
        )

    def read_graph(self, plain: Plain) -> Graph:
        """The graph of {"nodes": [...], "edges": [...]}."""
        nodes: dict[str, Node] = {}
        places: dict[str, str] = {}
        for index, item in enumerate(self._list(plain, "nodes", MAX_NODES)):
            place = f"graph.nodes[{index}]"
            node = self._node(item, place)
            if node is None:
                continue
            self._check_once(places, f"{place}.id", node.id)
            nodes[node.id] = node
        edges: dict[tuple[str, int], Edge] = {}
        for index, item in enumerate(self._list(plain, "edges", MAX_EDGES)):
            edge = self._edge(item, f"graph.edges[{index}]", nodes, edges)
            if edge is not None:
                edges[edge.target, edge.port] = edge
        graph = Graph(nodes, tuple(sorted(edges.values())))
        self._check_acyclic(graph)
        return graph

    # parts -------------------------------------------------------------------------------

    def _section(
        self, plain: Plain, key: str, known: tuple[str, ...], extra: dict[str, Any]
    ) -> Plain:
        part = plain.get(key, {})
        if not isinstance(part, dict):
            self._add(key, part, "an object")
            return {}
        unknown = _unknown(part, known)
        if unknown:
            extra[key] = unknown
        return part

    def _node(self, item: Any, place: str) -> Node | None:
        if not isinstance(item, dict):
            self._add(place, item, "an object with id, kind, name, params")
            return None
        node_id, kind, name = (self._short_text(item, key, place) for key in ("id", "kind", "name"))
        params = item.get("params", {})
        if not isinstance(params, dict):
            self._add(f"{place}.params", params, "an object")
            return None
        if node_id is None or kind is None or name is None:
            return None
        return Node(
            node_id,
            kind,
            name,
            frozen(params),
            _unknown(item, _names(Node)),
            group=self._optional_text(item, "group", place),
            pretrained=self._optional_text(item, "pretrained", place),
            training=self._training(item, place),
        )

    def _training(self, item: Plain, place: str) -> Training:
        value = item.get("training", "always")
        if value in TRAININGS:
            return cast("Training", value)
        self._add(f"{place}.training", value, "one of " + ", ".join(TRAININGS))
        return "always"

    def _optional_text(self, item: Plain, key: str, place: str) -> str:
        return (self._short_text(item, key, place) or "") if item.get(key, "") != "" else ""

    def _edge(
        self, item: Any, place: str, nodes: Mapping[str, Node], taken: Mapping[Any, Edge]
    ) -> Edge | None:
        if not isinstance(item, dict):
            self._add(place, item, "an object with source, target, port")
            return None
        ends = [item.get("source"), item.get("target")]
        for key, end in zip(("source", "target"), ends, strict=True):
            if not isinstance(end, str) or end not in nodes:
                self._add(f"{place}.{key}", end, "the id of a layer in this file")
                return None
        port = item.get("port", 0)
        if not is_int(port) or not 0 <= port <= MAX_PORT:
            self._add(f"{place}.port", port, f"a whole number from 0 to {MAX_PORT:,}")
            return None
        if (ends[1], port) in taken:
            self._add(f"{place}.port", port, "an input without another connection")
            return None
        return Edge(str(ends[0]), str(ends[1]), port)

    def _recipe(self, plain: Plain) -> TrainingRecipe:
        values = {key: plain[key] for key in RECIPE_FIELDS if key in plain}
        recipe, errors = recipe_from(values)
        for error in errors:
            self._add(f"recipe.{error.where}", plain.get(error.where), error.expected)
        return recipe

    def _choice(self, plain: Plain, key: str, default: Choice, extra: dict[str, Any]) -> Choice:
        if key not in plain:
            return default
        part = self._section(plain, key, _names(Choice), extra)
        choice = self._short_text(part, "key", key)
        params = part.get("params", {})
        if not isinstance(params, dict):
            self._add(f"{key}.params", params, "an object")
            params = {}
        return Choice(choice or default.key, frozen(params))

    def read_view(self, plain: Plain, graph: Graph) -> View:
        """The positions of the nodes of `graph`; those of other nodes are left out."""
        positions = plain.get("positions", {})
        if not isinstance(positions, dict):
            self._add("view.positions", positions, "an object: layer id to [x, y]")
            positions = {}
        places = {
            key: self._point(value, f"view.positions.{key[:_MAX_ID]}")
            for key, value in positions.items()
            if key in graph.nodes
        }
        zoom = plain.get("zoom", 1.0)
        if not _is_number(zoom) or not 0.001 <= zoom <= 1000:
            self._add("view.zoom", zoom, "a number from 0.001 to 1000")
            zoom = 1.0
        center = plain.get("center")
        point = None if center is None else self._point(center, "view.center")
        return View(places, float(zoom), point, self._folded(plain, graph))

    def _folded(self, plain: Plain, graph: Graph) -> frozenset[str]:
        names = plain.get("folded", [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            self._add("view.folded", names, "a list of names of groups")
            return frozenset()
        return frozenset(names) & {node.group for node in graph.nodes.values() if node.group}

    def _point(self, value: Any, place: str) -> Position:
        if isinstance(value, list) and len(value) == 2 and all(_is_near(part) for part in value):
            return float(value[0]), float(value[1])
        self._add(place, value, f"two numbers [x, y] from {-_FAR:g} to {_FAR:g}")
        return 0.0, 0.0

    def _text(self, plain: Plain, key: str) -> str:
        value = plain.get(key, "")
        if isinstance(value, str) and len(value) <= _MAX_TEXT:
            return value
        self._add(key, value, f"a text of at most {_MAX_TEXT:,} characters")
        return ""

    def _short_text(self, plain: Plain, key: str, place: str) -> str | None:
        value = plain.get(key)
        if isinstance(value, str) and 0 < len(value) <= _MAX_ID and value.isprintable():
            return value
        where = f"{place}.{key}" if place else key
        self._add(where, value, f"a text of 1 to {_MAX_ID} visible characters")
        return None

    def _list(self, plain: Plain, key: str, most: int) -> list[Any]:
        value = plain.get(key, [])
        if isinstance(value, list) and len(value) <= most:
            return value
        self._add(f"graph.{key}", value, f"a list of at most {most:,}")
        return []

    # findings ----------------------------------------------------------------------------

    def _add(self, place: str, received: Any, expected: str) -> None:
        self.findings.append((place, describe(received), expected))

    def _check_once(self, places: dict[str, str], place: str, node_id: str) -> None:
        if node_id in places:
            self._add(place, node_id, f"an id that {places[node_id]} does not already have")
        places.setdefault(node_id, place)

    def _check_acyclic(self, graph: Graph) -> None:
        if graph.has_cycle():
            ordered = set(graph.order)
            names = [node.name for key, node in graph.nodes.items() if key not in ordered]
            words = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
            circle = f"a cycle: {words}"
            self.findings.append(("graph.edges", circle, "connections without a cycle"))


def frozen(value: Any) -> Any:
    """A JSON value with tuples for its lists, as parameter values are kept."""
    if isinstance(value, dict):
        return {key: frozen(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return tuple(frozen(part) for part in value)
    return value


def edge_key(edge: Edge) -> str:
    """Key of an edge's unknown fields in `Project.extra`."""
    return f"{edge.source} {edge.target} {edge.port}"


def _edge_extras(graph: Plain) -> dict[str, Any]:
    items = graph.get("edges", [])
    extras: dict[str, Any] = {}
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict) and (unknown := _unknown(item, _names(Edge))):
            key = f"{item.get('source')} {item.get('target')} {item.get('port', 0)}"
            extras[key] = unknown
    return extras


def _unknown(plain: Plain, known: tuple[str, ...]) -> dict[str, Any]:
    return {key: frozen(value) for key, value in plain.items() if key not in known}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_near(value: Any) -> bool:
    return _is_number(value) and abs(value) <= _FAR and math.isfinite(value)
