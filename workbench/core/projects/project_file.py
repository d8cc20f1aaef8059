"""Project files: `NAME.workbench`, versioned JSON.

Semantics (`graph`, `recipe`, `dataset`, `target`) are separate from looks (`view`). Fields
and layer kinds that this version does not define are kept and written back. Reading never
changes a file; a file of a newer version is rejected.

The `id` stays with the project when it is saved again, and when its file is moved. A file of an
earlier version has none until it is saved: its path stands in, so that its runs find it.

A data set parameter named `path`, or ending in `_path`, is a path, and `paths` are several: in a
file they are relative to the folder of the project; in a Project they are absolute. One outside
that folder is in the file both ways (`places`).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from workbench.core.network.graph import Graph, Node
from workbench.core.projects.data_edits import edits_to_plain, versions_to_plain
from workbench.core.projects.project import Choice, Project, View, tests_to_plain
from workbench.core.projects.project_reader import ProjectReader, edge_key
from workbench.core.storage.foreign_file import open_foreign
from workbench.core.storage.json_file import (
    MAX_CHARACTERS,
    JsonFault,
    MigrationChain,
    Plain,
    describe,
    load,
)
from workbench.core.storage.save import FileStamp, save_bytes
from workbench.core.training.recipe import recipe_to_plain
from workbench.errors import ProjectFileError, SaveError

# migrations ----------------------------------------------------------------------------------
# Project files of earlier versions.
#
# Version 0 (drafts before the first release) had `layers` with `type` instead of `kind`,
# `connections` as triples, `training` for the recipe, a bare dataset key, and a position in
# each layer. Version 1 keeps the meaning (`graph`) apart from the looks (`view`). Version 2 has
# an `id`.

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


# places --------------------------------------------------------------------------------------
# Paths of a data set's files relative to the folder of the project: written beside their absolute
# paths, so that a project folder opens that was moved or copied together with its images.
#
# In a file, `places` of `dataset` has the relative path for each absolute one. It is looked at only
# where nothing is at the absolute path any more, and earlier versions keep it as an unknown field.

_KEY = "places"
_MOST_UP = 2
"""Folders above the project's that may be moved with it."""
_MOST = 10_000


def with_paths(project: Project, convert: Callable[[str], str]) -> Project:
    """The project with the paths of its data set converted: of the parameters `path`, `..._path`
    and `paths`; an address is none, and one in the home folder (~/...) stays so.
    """
    params = {
        key: _converted(value, convert) if _holds_paths(key) else value
        for key, value in project.dataset.params.items()
    }
    if params == project.dataset.params:
        return project
    return replace(project, dataset=replace(project.dataset, params=params))


def with_places(project: Project, folder: Path) -> Project:
    """A project as it is written into a folder."""
    paths = _texts(project.dataset.params)
    places = {text: found for text in paths if (found := _relative_place(text, folder))}
    return _with_extra(project, places)


def with_found(project: Project, folder: Path) -> Project:
    """A project as it was read in a folder, with what lies beside it where nothing is at a path any
    more; `moved_places` has those. Looks at the disk.
    """
    kept = dict(_kept(project))
    if not kept:
        return _with_extra(project, {})
    found = {
        text: place
        for text in _texts(project.dataset.params)
        if text in kept
        and not os.path.exists(text)  # noqa: PTH110 - a text that may be no path
        and os.path.exists(place := os.path.normpath(folder / kept[text]))  # noqa: PTH110
    }
    return _with_extra(with_paths(project, lambda text: found.get(text, text)), found)


def moved_places(project: Project) -> Mapping[str, str]:
    """Paths of the project file where nothing is any more -> the path beside the project that is
    used instead. `project` was just read.
    """
    return {old: new for old, new in _kept(project).items() if os.path.isabs(new)}  # noqa: PTH117 - text


def _texts(params: Mapping[str, Any]) -> Iterator[str]:
    """The absolute paths in parameters."""
    for key, value in params.items():
        each = value if isinstance(value, list | tuple) else (value,)
        if _holds_paths(key):
            yield from (text for text in each if isinstance(text, str) and text.startswith(os.sep))


def _holds_paths(key: str) -> bool:
    return key in {"path", "paths"} or key.endswith("_path")


def _converted(value: Any, convert: Callable[[str], str]) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_converted(each, convert) for each in value)
    is_path = isinstance(value, str) and value and "://" not in value
    return convert(value) if is_path and not value.startswith("~/") else value


def _relative_place(text: str, folder: Path) -> str:
    """A path near the folder, relative to it; "" for one inside, which needs none, or far away."""
    found = os.path.relpath(text, folder)
    ups = Path(found).parts.count(os.pardir)
    return found if 0 < ups <= _MOST_UP and os.path.commonpath([text, folder]) != os.sep else ""


def _kept(project: Project) -> Mapping[str, str]:
    extra = project.extra.get("dataset")
    kept = extra.get(_KEY) if isinstance(extra, Mapping) else None
    if not isinstance(kept, Mapping) or len(kept) > _MOST:
        return {}
    return {
        old: new
        for old, new in kept.items()
        if isinstance(old, str) and isinstance(new, str) and "\0" not in new
    }


def _with_extra(project: Project, places: Mapping[str, str]) -> Project:
    """A project with these places, and no others."""
    extra = dict(project.extra)
    dataset = {key: value for key, value in extra.pop("dataset", {}).items() if key != _KEY}
    if places:
        dataset[_KEY] = dict(places)
    if dataset:
        extra["dataset"] = dataset
    return project if extra == project.extra else replace(project, extra=extra)


# project file --------------------------------------------------------------------------------

PROJECT_FORMAT = "workbench-project"
PROJECT_SUFFIX = ".workbench"

_LINE_WIDTH = 100
_MAX_LISTED = 8
_LOAD = (
    "Open a project with the same network and drop the file on its window, in a terminal "
    "`workbench load PROJECT FILE`: its weights become a run that evaluates and classifies."
)
_OTHER_KINDS = {
    (b"PK\x03\x04", ".keras"): (
        "a Keras model",
        f"{_LOAD} One that Workbench exported classifies as it is: `workbench classify FILE …`.",
    ),
    (b"\x89HDF\r\n", ""): ("an HDF5 file, such as weights or a model of Keras", _LOAD),
    (b"PK\x03\x04", ".workbundle"): (
        "a bundle",
        "Open it in the window, in a terminal by `workbench unbundle FILE FOLDER`.",
    ),
    (b"PK\x03\x04", ""): ("a ZIP archive", "Unpack it, and open the project in it."),
}
"""How files of other kinds begin, and end in name -> what they are, and what to do with them."""
_REPAIR = "Open a backup copy, or repair the file in a text editor."


def read_project(path: str | Path) -> Project:
    """Reads a project file.

    Raises:
        ProjectFileError: it cannot be read, is no project, is damaged, or is of a newer
            version; the message names every place that is wrong.
    """
    return read_stamped(path)[0]


def read_stamped(path: str | Path) -> tuple[Project, FileStamp]:
    """Reads a project as `read_project` does, with the stamp of just the bytes that were read."""
    path = Path(path)
    data = _read_bytes(path)
    _refuse_model(data, path)
    project = parse_project(_text_of(data, path), str(path))
    if not project.id:
        project = replace(project, id=_id_of_path(path))
    folder = path.absolute().parent
    whole = with_paths(project, lambda text: os.path.normpath(folder / text))
    return with_found(whole, folder), FileStamp.of_bytes(data)


def save_project(project: Project, path: str | Path) -> None:
    """Writes a project file, through a link where a person keeps it behind one; raises SaveError,
    see `save_bytes`.
    """
    save_bytes(path, project_bytes(project, path), through_link=True)


def project_bytes(project: Project, path: str | Path) -> bytes:
    """The content of a project's file at `path`; raises SaveError."""
    folder = Path(path).absolute().parent
    relative = with_paths(with_places(project, folder), lambda text: _relative(text, folder))
    return project_text(relative).encode("utf-8", errors="replace")


def parse_project(text: str, where: str) -> Project:
    """The project of a file's text; raises ProjectFileError naming `where`."""
    reader = ProjectReader()
    project = reader.read_project(_current_version(_load(text, where), where))
    _refuse(reader, where)
    return project


def project_text(project: Project) -> str:
    """The file text of a project: the same project gives the same text."""
    try:
        return _pretty(project_to_plain(project)) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise SaveError(
            "The project contains a value that cannot be saved.", received=str(error)
        ) from error


def graph_to_plain(graph: Graph) -> dict[str, Any]:
    """A graph as JSON values, as in a project file's `graph`."""
    return {
        "nodes": [
            {
                "id": node.id,
                "kind": node.kind,
                "name": node.name,
                "params": dict(node.params),
                **_learning_to_plain(node),
                **node.extra,
            }
            for node in graph.nodes.values()
        ],
        "edges": [asdict(edge) for edge in graph.edges],
    }


def graph_from_plain(plain: Mapping[str, Any], where: str) -> Graph:
    """The graph of JSON values; raises ProjectFileError naming `where`."""
    reader = ProjectReader()
    graph = reader.read_graph(plain)
    _refuse(reader, where)
    return graph


def project_to_plain(project: Project) -> dict[str, Any]:
    """A project as JSON values, in the order of the file."""
    extra = dict(project.extra)
    graph = graph_to_plain(project.graph)
    graph_extra = dict(extra.pop("graph", {}))
    edge_extras = graph_extra.pop("edges", {})
    for edge, item in zip(project.graph.edges, graph["edges"], strict=True):
        item.update(edge_extras.get(edge_key(edge), {}))
    recipe = recipe_to_plain(project.recipe)
    return {
        "format": PROJECT_FORMAT,
        "version": PROJECT_VERSION,
        **({"id": project.id} if project.id else {}),
        "title": project.title,
        "summary": project.summary,
        "graph": {**graph, **graph_extra},
        "recipe": {**recipe, **extra.pop("recipe", {})},
        "dataset": {**_choice_to_plain(project.dataset), **extra.pop("dataset", {})},
        "target": {**_choice_to_plain(project.target), **extra.pop("target", {})},
        **({"edits": edits_to_plain(project.edits)} if project.edits else {}),
        **({"robustness": tests_to_plain(project.robustness)} if project.robustness else {}),
        **(
            {"data_versions": versions_to_plain(project.data_versions)}
            if project.data_versions
            else {}
        ),
        "view": {**_view_to_plain(project.view), **extra.pop("view", {})},
        **extra,
    }


# reading -----------------------------------------------------------------------------------


def _read_bytes(path: Path) -> bytes:
    try:
        with open_foreign(path) as file:
            return file.read(MAX_CHARACTERS + 1)
    except OSError as error:
        raise _unreadable(path, error) from error


def _refuse_model(data: bytes, path: Path) -> None:
    """Raises ProjectFileError for a file that begins as one of another kind does."""
    for (head, ending), (what, fix) in _OTHER_KINDS.items():
        if data.startswith(head) and path.name.lower().endswith(ending):
            raise ProjectFileError(
                f"“{path.name}” is {what}, not a project.",
                where=str(path),
                expected="a project file",
                fix=fix,
            )


def _text_of(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        received = f"byte 0x{data[error.start]:02x}"
        raise _damaged(str(path), f"byte {error.start:,}", received, "UTF-8 text") from error


def _unreadable(path: Path, error: OSError | ValueError) -> ProjectFileError:
    """Why a file could not be opened, in words."""
    fix = "Check the path and its permissions."
    cause = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        cause, fix = "there is no such file", "Check the path."
    elif isinstance(error, IsADirectoryError):
        cause, fix = "it is a folder", "Open a project file, or use the folder as a data set."
    elif isinstance(error, PermissionError):
        cause, fix = "permission denied", "Ask its owner for access, or open a copy."
    what = f"“{path.name}” cannot be read: {cause}."
    return ProjectFileError(what, where=str(path), expected="a project file", fix=fix)


def _damaged(
    file: str,
    place: str,
    received: str,
    expected: str,
    fix: str = "Open a file saved by Workbench.",
) -> ProjectFileError:
    what = f"“{Path(file).name}” is not a Workbench project or is damaged."
    where = f"{file}, {place}"
    return ProjectFileError(what, where=where, received=received, expected=expected, fix=fix)


def _load(text: str, where: str) -> dict[str, Any]:
    try:
        plain = load(text)
    except JsonFault as fault:
        raise _damaged(where, fault.place, fault.received, fault.expected, _REPAIR) from fault
    if not isinstance(plain, dict) or plain.get("format") != PROJECT_FORMAT:
        found = plain.get("format") if isinstance(plain, dict) else plain
        raise _damaged(where, "format", describe(found), f'"{PROJECT_FORMAT}"')
    return plain


def _current_version(plain: dict[str, Any], where: str) -> dict[str, Any]:
    version = plain.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise ProjectFileError(
            "The project has no valid version number.",
            where=f"{where}, version",
            received=describe(version),
            expected=f"a whole number from 0 to {PROJECT_VERSION}",
            fix=_REPAIR,
        )
    if version > PROJECT_VERSION:
        raise ProjectFileError(
            "This project was saved by a newer version of Workbench. The file was not changed.",
            where=f"{where}, version",
            received=describe(version),
            expected=f"at most {PROJECT_VERSION}",
            fix="Update Workbench.",
        )
    return PROJECT_MIGRATIONS.migrate(plain, version)


def _refuse(reader: ProjectReader, where: str) -> None:
    """Raises one error for all findings, if there are any."""
    findings = reader.findings
    if not findings:
        return
    if len(findings) == 1:
        place, received, expected = findings[0]
        raise ProjectFileError(
            "The project file has 1 invalid value.",
            where=f"{where}, {place}",
            received=received,
            expected=expected,
            fix=_REPAIR,
        )
    listed = [f"{place}: {expected} expected, {got} found" for place, got, expected in findings]
    more = f"; and {len(listed) - _MAX_LISTED:,} more" if len(listed) > _MAX_LISTED else ""
    raise ProjectFileError(
        f"The project file has {len(listed):,} invalid values: "
        f"{'; '.join(listed[:_MAX_LISTED])}{more}.",
        where=where,
        fix=_REPAIR,
    )


# writing -----------------------------------------------------------------------------------


def _learning_to_plain(node: Node) -> dict[str, str]:
    """Fields of a node's group, pretrained weights and training that differ from the defaults."""
    values = {"group": node.group, "pretrained": node.pretrained, "training": node.training}
    plain = Node(node.id, node.kind, node.name)
    return {key: value for key, value in values.items() if value != getattr(plain, key)}


def _choice_to_plain(choice: Choice) -> dict[str, Any]:
    return {"key": choice.key, "params": dict(choice.params)}


def _view_to_plain(view: View) -> dict[str, Any]:
    center = None if view.center is None else [_short(part) for part in view.center]
    positions = {key: [_short(x), _short(y)] for key, (x, y) in view.positions.items()}
    folded = {"folded": sorted(view.folded)} if view.folded else {}
    return {"positions": positions, "zoom": _short(view.zoom, 4), "center": center, **folded}


def _short(number: float, digits: int = 2) -> float:
    rounded = round(float(number), digits)
    return int(rounded) if rounded.is_integer() else rounded


def _pretty(value: Any, indent: str = "", taken: int = 0) -> str:
    """JSON with one node or edge a line: short values on one line, longer ones opened."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(indent) + taken + len(line) <= _LINE_WIDTH or not isinstance(value, dict | list | tuple):
        return line
    deeper = indent + "  "
    if isinstance(value, dict):
        parts = []
        for key, part in value.items():
            head = json.dumps(key, ensure_ascii=False) + ": "
            parts.append(deeper + head + _pretty(part, deeper, len(head) + 1))
        opening, closing = "{", "}"
    else:
        parts = [deeper + _item(part, deeper) for part in value]
        opening, closing = "[", "]"
    return f"{opening}\n" + ",\n".join(parts) + f"\n{indent}{closing}"


def _item(value: Any, indent: str) -> str:
    """A node or an edge stays on its line, however long: that makes the best diffs."""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _pretty(value, indent, 1)


def _id_of_path(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:16]


# paths -------------------------------------------------------------------------------------


def _relative(text: str, folder: Path) -> str:
    """A path inside the project's folder without that folder; any other as it is."""
    path = Path(text)
    if path.is_absolute() and path.is_relative_to(folder) and path != folder:
        return str(path.relative_to(folder))
    return text
