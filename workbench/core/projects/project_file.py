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
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from workbench.core.network.graph import Graph, Node
from workbench.core.projects.data_edits import edits_to_plain
from workbench.core.projects.data_versions import versions_to_plain
from workbench.core.projects.migrations import PROJECT_MIGRATIONS, PROJECT_VERSION
from workbench.core.projects.places import with_found, with_paths, with_places
from workbench.core.projects.project import Choice, Project, View
from workbench.core.projects.project_reader import ProjectReader, edge_key
from workbench.core.projects.robustness import tests_to_plain
from workbench.core.storage.file_stamp import FileStamp
from workbench.core.storage.foreign_file import open_foreign
from workbench.core.storage.save import save_bytes
from workbench.core.storage.strict_json import MAX_CHARACTERS, JsonFault, describe, load
from workbench.core.training.recipe import recipe_to_plain
from workbench.errors import ProjectFileError, SaveError

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
