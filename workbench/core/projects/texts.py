"""Texts for a project's parts on the command line: KEY=VALUE settings, SOURCE of a data set,
TARGET.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from workbench.core.network.graph import TRAININGS, Node, Training
from workbench.core.network.roles import learning_from, with_training
from workbench.core.params import Param, Params, check_all, defaults, read_value
from workbench.core.projects.project import Choice, Project
from workbench.core.registry import Registry
from workbench.core.specs import DatasetSpec, LayerSpec, TargetLimits, TargetSpec
from workbench.core.training.recipe import value_from_text
from workbench.errors import ParamError, UsageError, WorkbenchError

# source --------------------------------------------------------------------------------------
# SOURCE texts: how a data set is named on the command line and in messages.
#
# fashion_mnist                              a source that needs nothing more
# folder:../flowers                          a source and what it is pointed at
# csv:list.csv?label=breed&split=            and how it is read: values of its parameters


def parse_source(text: str, datasets: Registry[DatasetSpec]) -> Choice:
    """The data set that a SOURCE text names, with all its parameters.

    A path is made absolute: the trainer may have another working folder. An address is kept.

    Raises:
        UsageError: no such source, a missing value, or one it does not take.
    """
    key, colon, value = text.strip().partition(":")
    spec = datasets.get(key)
    if spec is None:
        raise _unknown_source(text, key, datasets)
    if not spec.source_param:
        if colon:
            raise UsageError(
                f'The source "{key}" takes no value after a colon.', received=text, expected=key
            )
        return Choice(key, defaults(spec.params))
    if not value:
        raise UsageError(
            f'The source "{key}" needs a value.',
            received=text,
            expected=_form(spec),
            fix=f'For example "{key}:../my_data".',
        )
    value, settings = split_settings(spec, value)
    choice = source_choice(spec, _checked_source(spec, spec.source_param, value))
    told = {key: _checked_source(spec, key, text) for key, text in settings.items()}
    return Choice(choice.key, {**choice.params, **told})


def split_settings(spec: DatasetSpec, value: str) -> tuple[str, dict[str, str]]:
    """What a source is pointed at, and the values of parameters behind a question mark.

    A question mark before anything else than KEY=VALUE of known parameters belongs to the path. In
    a value, %26 is an ampersand.
    """
    return split_keys(value, {param.key for param in spec.params} - {spec.source_param})


def split_keys(value: str, keys: Collection[str]) -> tuple[str, dict[str, str]]:
    """A path, and the values of some keys behind a question mark; see `split_settings`."""
    path, mark, rest = value.rpartition("?")
    pairs = [text.partition("=") for text in rest.split("&")] if mark else []
    if not pairs or not path or not all(sign and key in keys for key, sign, _ in pairs):
        return value, {}
    return path, {key: unquote(text) for key, _, text in pairs}


def source_choice(spec: DatasetSpec, value: object) -> Choice:
    """A data set that is pointed at a checked value; all else is the default."""
    return Choice(spec.key, {**defaults(spec.params), spec.source_param: value})


def source_forms(datasets: Registry[DatasetSpec]) -> list[str]:
    """How each data set is written: "cifar10", "folder:PATH"."""
    return [_form(spec) for spec in datasets.values()]


def _form(spec: DatasetSpec) -> str:
    return f"{spec.key}:{spec.source_param.upper()}" if spec.source_param else spec.key


def _checked_source(spec: DatasetSpec, key: str, value: str) -> object:
    param = next(param for param in spec.params if param.key == key)
    try:
        checked: object = read_value(param, value) if "://" not in value else param.check(value)
    except ParamError as error:
        raise UsageError(
            error.what, where=spec.key, received=error.received, expected=error.expected
        ) from error
    return checked


def _unknown_source(text: str, key: str, datasets: Registry[DatasetSpec]) -> UsageError:
    fix = ""
    if near := datasets.near(key):
        fix = f"Did you mean {' or '.join(near)}?"
    elif any(mark in text for mark in "/\\.~"):
        fix = f'A folder of images is written "folder:{text}", a NumPy file "npz:{text}".'
    return UsageError(
        "There is no such data set.",
        received=text or "nothing",
        expected="one of " + ", ".join(source_forms(datasets)),
        fix=fix,
    )


# target text ---------------------------------------------------------------------------------
# TARGET texts: how a place to train is named on the command line and in messages.
#
# this_computer          a target that needs nothing more
# virtual:8              a target and its value: the target itself reads and writes it
# auto                   the best one of this computer at this moment

AUTO = "auto"


def automatic_target(targets: Registry[TargetSpec]) -> tuple[Choice, str]:
    """The best target of this computer, and the reason: what better ones lack."""
    ranked = sorted((spec for spec in targets.values() if spec.rank), key=lambda spec: spec.rank)
    lacks: list[str] = []
    for spec in ranked:
        params = check_all(spec.params, {})[0]
        problem = spec.probe(params)
        if problem is None:
            found = f"{spec.title} ({spec.describe(params)})"
            return Choice(spec.key, params), " ".join([*lacks, f"Training on: {found}."])
        lacks.append(f"{problem.what} {problem.fix}".strip() if spec.is_offered() else problem.what)
    raise UsageError("No target of this computer can be used.", received=" ".join(lacks))


def parse_target(text: str, targets: Registry[TargetSpec]) -> Choice:
    """The target that a TARGET text names, with all its parameters.

    Raises:
        UsageError: no such target, or something behind the colon that it does not take.
    """
    text = text.strip()
    if not text.isprintable():  # it may reach another computer's command line
        raise UsageError(
            "A target name may only contain printable characters.",
            received=repr(text),
            expected="for example this_computer",
        )
    if text == AUTO:
        return automatic_target(targets)[0]
    key, colon, value = text.partition(":")
    spec = targets.get(key)
    if spec is None:
        if (other := target_of_other_form(text, targets)) is not None:
            return other
        raise _unknown(text, key, targets)
    if colon and not value:
        raise UsageError(
            "Nothing follows the colon.",
            where=key,
            received=text,
            expected=spec.form or target_text(Choice(key), targets),
        )
    try:
        return Choice(key, _checked(spec, spec.read(value)))
    except ParamError as error:
        raise UsageError(**error.to_dict()) from error


def target_of_other_form(text: str, targets: Registry[TargetSpec]) -> Choice | None:
    """The target that a text names as other programs and tutorials do; None for any other text.

    Raises:
        UsageError: such a text that names nothing that could be reached.
    """
    for spec in targets.values():
        try:
            if (value := spec.other_form(text)) is not None:
                return Choice(spec.key, _checked(spec, spec.read(value)))
        except ParamError as error:
            raise UsageError(**error.to_dict()) from error
    return None


def target_text(choice: Choice, targets: Registry[TargetSpec]) -> str:
    """The text that `parse_target` makes the same choice of; an unknown target's key."""
    spec = targets.get(choice.key)
    if spec is None:
        return choice.key
    value = spec.write(check_all(spec.params, choice.params)[0])
    return f"{spec.key}:{value}" if value else spec.key


def limits_of(choice: Choice, targets: Registry[TargetSpec]) -> TargetLimits:
    """Limits of training on a chosen target; the defaults for one that is not known."""
    spec = targets.get(choice.key)
    if spec is None:
        return TargetLimits()
    return spec.limits(check_all(spec.params, choice.params)[0])


def _checked(spec: TargetSpec, params: Params) -> Params:
    checked, errors = check_all(spec.params, params)
    if errors:
        raise errors[0]
    return checked


def _unknown(text: str, key: str, targets: Registry[TargetSpec]) -> UsageError:
    near = targets.near(key)
    return UsageError(
        "There is no such target.",
        received=text or "nothing",
        expected="one of " + ", ".join(targets),
        fix=f"Did you mean {' or '.join(near)}?" if near else "`workbench targets` lists them.",
    )


# assign --------------------------------------------------------------------------------------
# KEY=VALUE texts: a project's settings as they are changed on the command line.
#
# epochs=20              a training setting (also learning_rate, schedule, ...)
# data=folder:../own     the data set; target=virtual:8 the target; title=... the title
# data.image_size=64     a parameter of the data set, or target.replicas=4 of the target
# conv2d.filters=64      a parameter of a layer, by its name
# conv2d.training=never  when a layer learns: always, fine_tuning or never
# fine_tune_from=conv2d  a layer, and all behind it in its group, learn in fine-tuning; those before
#                        it never. train_from=conv2d: they learn in the whole training


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
