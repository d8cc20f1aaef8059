"""The short names of runs: "12 · lr 0.0003 · 32 epochs", or "12 · Tour" for one with a title.

A run's number and what of its settings is worth naming are kept in its request when it is made;
the words are made of them here, for all lists, plots, boxes and messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from workbench.core.network.graph import Graph
from workbench.core.params import BoolParam, ChoiceParam, Param
from workbench.core.projects.project import Choice, Project
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.datasets import all_datasets
from workbench.runs.compare_graphs import NOT_THERE, graph_rows
from workbench.targets import all_targets

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
