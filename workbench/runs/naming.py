"""The short names of runs: "12 · lr 0.0003 · 32 epochs", or "12 · Tour" for one with a title.

A run's number and what of its settings is worth naming are kept in its request when it is made;
the words are made of them here, for all lists, plots, boxes and messages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from workbench.core.network.graph import Edge, Graph, Node, Training, diff
from workbench.core.network.roles import node_text
from workbench.core.params import BoolParam, ChoiceParam, Param
from workbench.core.projects.project import Choice, Project
from workbench.core.storage.foreign_file import REQUEST_BYTES, read_foreign
from workbench.core.storage.json_file import DAMAGED, read_json, save_json
from workbench.core.storage.own_file import make_private, take_lock
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.datasets import all_datasets
from workbench.errors import RunError, os_errors_as
from workbench.layers import all_layers
from workbench.targets import all_targets

# numbers -------------------------------------------------------------------------------------
# The numbers of a project's runs: 1, 2, 3, ... in the order in which they were made.
#
# `.run-numbers` beside the runs holds the last number of each project, so that none is given
# twice, also when its run was deleted. Lost or damaged, it is made again from the runs.

NUMBERS_NAME = ".run-numbers"
_LOCK_NAME = ".run-numbers.lock"
_REQUEST = "request.json"


class _LastNumbers(msgspec.Struct, frozen=True):
    """The last number that was given, by project id."""

    last: dict[str, int] = {}
    version: int = 1


class _ProjectMark(msgspec.Struct, frozen=True):
    id: str = ""


class _Mark(msgspec.Struct, frozen=True):
    """The part of a request that names the project, decoded without the rest."""

    project: _ProjectMark
    number: int = 0


_decoder = msgspec.json.Decoder(_Mark)


def numbered_runs(home: Path, project_id: str) -> dict[int, Path]:
    """The folders of a project's runs by their number, in its order."""
    found: dict[int, Path] = {}
    for request in home.glob(f"*/{_REQUEST}"):
        try:
            mark = _decoder.decode(read_foreign(request, REQUEST_BYTES))
        except (OSError, *DAMAGED):
            continue
        if mark.number and mark.project.id == project_id:
            found[mark.number] = request.parent
    return dict(sorted(found.items()))


def take_number(home: Path, project_id: str, known: dict[int, Path]) -> int:
    """Gives the next number of a project whose runs are `known`; raises SaveError, RunError."""
    fix = "Make the folder of runs writable."
    with os_errors_as(RunError, "The folder of runs cannot be written.", home, fix=fix):
        make_private(home)
        lock = take_lock(home / _LOCK_NAME)
    try:
        path = home / NUMBERS_NAME
        numbers = read_json(path, _LastNumbers) or _LastNumbers()
        number = max(numbers.last.get(project_id, 0), *known, 0) + 1
        save_json(path, _LastNumbers(last={**numbers.last, project_id: number}))
    finally:
        if lock is not None:  # else: two runs with one number are better than none at all
            os.close(lock)
    return number


# compare graphs ------------------------------------------------------------------------------
# What differs between two networks, in words: layers, their values, connections.

_TRAININGS: Mapping[Training, str] = {
    "always": "always",
    "fine_tuning": "fine-tuning only",
    "never": "never (frozen)",
}
"""`Node.training` in words."""

_CONNECTION = "Connection"
THERE, NOT_THERE = "present", "absent"


@dataclass(frozen=True)
class Row:
    """One thing of two runs, in words.

    Attributes:
        title: What it is.
        left, right: How it is in the one and in the other.
        difference: By how much, where there is a measure for it: "+1.25 points", "2.1×".
    """

    title: str
    left: str
    right: str
    difference: str = ""

    @property
    def is_connection(self) -> bool:
        """Whether it is a connection, no layer."""
        return self.title.startswith(_CONNECTION)

    @property
    def is_equal(self) -> bool:
        """True when both are the same."""
        return self.left == self.right


def graph_rows(left: Graph, right: Graph) -> Iterator[Row]:
    """What makes `left` into `right`: layers, then edges; not their places."""
    right = _paired(left, right)
    found = diff(left, right)
    for node_id in found.removed_nodes:
        yield Row(_node_words(left.nodes[node_id]), THERE, NOT_THERE)
    for node_id in found.added_nodes:
        yield Row(_node_words(right.nodes[node_id]), NOT_THERE, THERE)
    for node_id in found.changed_nodes:
        yield from _node_rows(left.nodes[node_id], right.nodes[node_id])
    gone, new = {*found.removed_nodes}, {*found.added_nodes}
    for edge in found.removed_edges:
        if not {edge.source, edge.target} & gone:  # else it went with its layer
            yield Row(_edge_words(edge, left), THERE, NOT_THERE)
    for edge in found.added_edges:
        if not {edge.source, edge.target} & new:
            yield Row(_edge_words(edge, right), NOT_THERE, THERE)


def _paired(left: Graph, right: Graph) -> Graph:
    """`right` with the ids of the layers of `left` that its own are.

    Ids are counted from the first layer on: in another network the same id is another layer. One
    layer of two networks is known by its id, name and type, then by its name and type, then by id
    and type (it was renamed), then by id and name (its type was changed).
    """
    ids: dict[str, str] = {}
    for key in _IDENTITIES:
        free = {key(node): node.id for node in left.nodes.values() if node.id not in ids.values()}
        for node in right.nodes.values():
            if node.id not in ids and key(node) in free:
                ids[node.id] = free.pop(key(node))
    taken = {*left.nodes}
    for node_id in right.nodes:
        if node_id not in ids:
            ids[node_id] = node_id if node_id not in taken else f"{node_id} of the other"
    nodes = (replace(node, id=ids[node.id]) for node in right.nodes.values())
    edges = (Edge(ids[each.source], ids[each.target], each.port) for each in right.edges)
    return Graph.of(nodes, edges)


_IDENTITIES: tuple[Callable[[Node], tuple[str, ...]], ...] = (
    lambda node: (node.id, node.name, node.kind),
    lambda node: (node.name, node.kind),
    lambda node: (node.id, node.kind),
    lambda node: (node.id, node.name),
)


def _node_words(node: Node) -> str:
    return node_text(node, all_layers())


def _edge_words(edge: Edge, graph: Graph) -> str:
    names = [graph.nodes[key].name for key in (edge.source, edge.target)]
    place = f" (input {edge.port + 1})" if edge.port else ""
    return f"{_CONNECTION} {names[0]} → {names[1]}{place}"


def _node_rows(left: Node, right: Node) -> Iterator[Row]:
    title = _node_words(right)
    if left.kind != right.kind:
        yield Row(f"{title}: type", _node_words(left), title)
        return
    if left.name != right.name:
        yield Row(f"{title}: name", left.name, right.name)
    if left.training != right.training:
        yield Row(f"{title}: training", _TRAININGS[left.training], _TRAININGS[right.training])
    if left.pretrained != right.pretrained:
        weights = [node.pretrained or "random" for node in (left, right)]
        yield Row(f"{title}: initial weights", *weights)
    spec = all_layers().get(left.kind)
    known = {param.key: param for param in spec.params} if spec is not None else {}
    for key in {**dict(left.params), **dict(right.params)}:
        param = known.get(key)
        default = param.default if param is not None else None
        a, b = left.params.get(key, default), right.params.get(key, default)
        if _plain(a) != _plain(b):
            words = [param.show(v) if param is not None else str(v) for v in (a, b)]
            yield Row(f"{title}: {param.title if param is not None else key}", *words)


def _plain(value: Any) -> Any:
    """A value with lists as tuples: as a file has it, and as the program has it."""
    return tuple(value) if isinstance(value, list) else value


# naming --------------------------------------------------------------------------------------

SEPARATOR = " · "
MAX_PARTS = 3
"""Runs that differ in more ways are not distinguished by listing all of them."""

_ALWAYS = ("learning_rate", "epochs")
"""What most runs of a project differ in, named also where nothing else is to be said."""

_SHORT = {"learning_rate": "lr {}", "batch_size": "batch {}", "epochs": "{} epochs"}
_PARAMS = {param.key: param for param in RECIPE_PARAMS}
_PARTS = ("graph", "dataset", "target")


def differing(project: Project, others: Iterable[Project]) -> list[str]:
    """Keys of what is not the same in a project and the first of some `others`, then the second,
    ...: of its recipe, and "graph", "dataset", "target".
    """
    found: dict[str, None] = {}
    for other in others:
        mine, its = asdict(project.recipe), asdict(other.recipe)
        parts = [key for key in _PARTS if getattr(project, key) != getattr(other, key)]
        recipe = [key for key in _PARAMS if mine[key] != its[key] and project.recipe.is_used(key)]
        found |= dict.fromkeys([*recipe, *parts])
    return list(found)


def network_words(before: Graph, after: Graph) -> str:
    """What makes one network into another, short: "dropout rate 0.2 → 0.5"; "" for the same."""
    rows = list(graph_rows(before, after))
    rows = [row for row in rows if not row.is_connection] or rows
    if len(rows) != 1:
        return f"{len(rows)} network changes" if rows else ""
    (row,) = rows
    if row.right == NOT_THERE:
        return f"without {_name_in(row.title)}"
    if row.left == NOT_THERE:
        return f"with {_name_in(row.title)}"
    layer, _, what = row.title.rpartition(": ")
    name = _name_in(layer)
    return f"{name} {what[:1].lower()}{what[1:]} {row.left} → {row.right}"


def _name_in(title: str) -> str:
    """The name in “Dropout “dropout””; without quotes, as names of runs are quoted themselves."""
    return title.partition("“")[2].rstrip("”") or title


def settings_words(project: Project, differs: Sequence[str], network: str = "") -> list[str]:
    """The settings of a project that are worth naming, in words; `network` is what is new in its
    network, "" where that is not known.
    """
    keys = list(dict.fromkeys([*differs[:MAX_PARTS], *_ALWAYS]))[:MAX_PARTS]
    # What most runs have is last, in the order that people write it in: where room is short, the
    # end of a name is left out.
    keys.sort(key=lambda key: [*_SHORT].index(key) if key in _SHORT else -1)
    words = {"graph": network} if network else {}
    known = [key for key in keys if key in _PARAMS or key in _PARTS]
    return [words.get(key) or _words(project, key) for key in known]


def value_words(project: Project, keys: Iterable[str]) -> str:
    """“lr 0.001, conv2d filters 64”: values of settings that are named as in `workbench set`."""
    return ", ".join(
        _words(project, key) if key in _PARAMS else _layer_words(project, *key.split(".", 1))
        for key in keys
    )


def _layer_words(project: Project, name: str, key: str) -> str:
    node = next(node for node in project.graph.nodes.values() if node.name == name)
    value = node.training if key == "training" else node.params.get(key)
    shown = "×".join(map(str, value)) if isinstance(value, tuple | list) else value
    return f"{name} {key.replace('_', ' ')} {shown}"


def run_name(number: int, title: str, words: Sequence[str]) -> str:
    """The name of a run: its number, and its title, else its settings in words.

    Args:
        number: Its number among the runs of the project, from 1; 0 for a run that has none.
        title: Given by a person; "" for none.
        words: As `settings_words` gives them.
    """
    parts = [title] if title else list(words)
    return SEPARATOR.join([*([str(number)] if number else []), *parts])


def source_words(choice: Choice) -> str:
    """“CIFAR-10”, “Image folder: flowers”: a data set with what it is pointed at."""
    spec = all_datasets().get(choice.key)
    if spec is None:
        return choice.key
    value = choice.params.get(spec.source_param)
    return f"{spec.title}: {Path(value).name}" if isinstance(value, str) and value else spec.title


def _words(project: Project, key: str) -> str:
    if key == "graph":
        return "changed network"
    if key == "dataset":
        return source_words(project.dataset)
    if key == "target":
        spec = all_targets().get(project.target.key)
        return spec.title if spec is not None else project.target.key
    param, value = _PARAMS[key], getattr(project.recipe, key)
    if key == "epochs":
        return f"{value:,} epoch{'' if value == 1 else 's'}"
    if key in _SHORT:
        return _SHORT[key].format(param.show(value))
    return _param_words(param, value)


def _param_words(param: Param, value: object) -> str:
    title = param.title[:1].lower() + param.title[1:]
    if isinstance(param, BoolParam):
        return title if value else f"no {title}"
    return param.show(value) if isinstance(param, ChoiceParam) else f"{title} {param.show(value)}"
