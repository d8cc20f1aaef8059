"""KEY=VALUE texts: a project's settings as they are changed on the command line.

epochs=20              a training setting (also learning_rate, schedule, ...)
data=folder:../own     the data set; target=virtual:8 the target; title=... the title
data.image_size=64     a parameter of the data set, or target.replicas=4 of the target
conv2d.filters=64      a parameter of a layer, by its name
conv2d.training=never  when a layer learns: always, fine_tuning or never
fine_tune_from=conv2d  a layer, and all behind it in its group, learn in fine-tuning; those before
                       it never. train_from=conv2d: they learn in the whole training
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from workbench.core.network.graph import TRAININGS, Node, Training
from workbench.core.network.learning import learning_from, with_training
from workbench.core.param_text import read_value
from workbench.core.params import Param, check_all
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.source import parse_source
from workbench.core.projects.target_text import parse_target
from workbench.core.registry import Registry
from workbench.core.specs import DatasetSpec, LayerSpec, TargetSpec
from workbench.core.training.recipe import value_from_text
from workbench.errors import ParamError, UsageError, WorkbenchError


@dataclass(frozen=True)
class PlugIns:
    """The plug-ins that a project names by key."""

    layers: Registry[LayerSpec]
    datasets: Registry[DatasetSpec]
    targets: Registry[TargetSpec]


def with_assignments(project: Project, texts: Iterable[str], plug_ins: PlugIns) -> Project:
    """The project with values changed, each by a text KEY=VALUE; the last one of a key counts.

    Raises:
        UsageError: wrong texts, all of them.
    """
    errors: list[WorkbenchError] = []
    for text in texts:
        try:
            project = _assigned(project, text, plug_ins)
        except (ParamError, UsageError) as error:
            errors.append(error)
    if len(errors) > 1:
        raise UsageError(" ".join(map(str, errors)))
    if errors:  # typed on the command line: wrong usage, not a wrong file
        raise UsageError(**errors[0].to_dict()) from errors[0]
    return project


def _assigned(project: Project, text: str, plug_ins: PlugIns) -> Project:
    key, sign, value = (part.strip() for part in text.partition("="))
    owner, dot, name = key.partition(".")
    if not sign:
        raise UsageError("This is not KEY=VALUE.", received=text, expected="for example epochs=20")
    if dot:
        return _with_part(project, owner, name, value, plug_ins)
    match key:
        case "data":
            changes: dict[str, Any] = {"dataset": parse_source(value, plug_ins.datasets)}
        case "target":
            changes = {"target": parse_target(value, plug_ins.targets)}
        case "title":
            changes = {"title": value}
        case "fine_tune_from" | "train_from":
            training: Training = "fine_tuning" if key == "fine_tune_from" else "always"
            node = _named(project, value, plug_ins.layers)
            graph = learning_from(project.graph, node.id, training, plug_ins.layers)
            changes = {"graph": graph}
        case _:
            recipe = project.recipe.with_values(**{key: value_from_text(key, value)})
            changes = {"recipe": recipe}
    return replace(project, **changes)


def _with_part(project: Project, owner: str, key: str, text: str, plug_ins: PlugIns) -> Project:
    """The project with a parameter of its data set, of its target or of a layer changed."""
    if owner == "data":
        choice = _chosen(project.dataset, plug_ins.datasets, key, text)
        return replace(project, dataset=choice)
    if owner == "target":
        return replace(project, target=_chosen(project.target, plug_ins.targets, key, text))
    return _with_layer_value(project, owner, key, text, plug_ins.layers)


def _chosen(
    choice: Choice, registry: Registry[DatasetSpec] | Registry[TargetSpec], key: str, text: str
) -> Choice:
    """A data set or target with one parameter changed."""
    params = registry[choice.key].params
    value = _read(params, key, text, choice.key)
    return Choice(choice.key, {**check_all(params, choice.params)[0], key: value})


def _with_layer_value(
    project: Project, name: str, key: str, text: str, layers: Registry[LayerSpec]
) -> Project:
    node = _named(project, name, layers)
    if key == "training":
        graph = with_training(project.graph, [node.id], _training(text, name))
    else:
        value = _read(layers[node.kind].params, key, text, name)
        graph = project.graph.with_params(node.id, **{key: value})
    return replace(project, graph=graph)


def _named(project: Project, name: str, layers: Registry[LayerSpec]) -> Node:
    """The layer of a name; raises UsageError."""
    named = {node.name: node for node in project.graph.nodes.values()}
    node = named.get(name)
    if node is None or node.kind not in layers:
        raise UsageError(
            f'There is no layer "{name}".', received=name, expected="one of " + ", ".join(named)
        )
    return node


def _training(text: str, owner: str) -> Training:
    for training in TRAININGS:
        if text == training:
            return training
    expected = "one of " + ", ".join(TRAININGS)
    raise UsageError(
        "A layer cannot be trained in this way.", where=owner, received=text, expected=expected
    )


def _read(params: tuple[Param, ...], key: str, text: str, owner: str) -> Any:
    for param in params:
        if param.key == key:
            return read_value(param, text)
    keys = ", ".join(param.key for param in params)
    raise UsageError(
        f'"{owner}" has no setting "{key}".',
        where=owner,
        received=key,
        expected=f"one of {keys}" if keys else "none: it has no settings",
    )
