"""Taking the state of a training out of TensorFlow, and putting it back."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.core.format import plural
from workbench.core.split_marks import marks_to_plain
from workbench.errors import RunError
from workbench.pictures.prepare import PreparedData
from workbench.runs.store.checkpoint import DataMark
from workbench.runs.store.weights_file import array_checksum
from workbench.worker.execution.compiled import Compiled
from workbench.worker.model.build import named_variables
from workbench.worker.step.trainable import is_of_model

_PREFIX = "state/"
_SAMPLE = 64
_MOST_LISTED = 6

Arrays = dict[str, np.ndarray[Any, Any]]


def snapshot(variables: Mapping[str, Any]) -> Arrays:
    """A copy of every variable, as a checkpoint names it."""
    return {_PREFIX + name: np.array(variable.numpy()) for name, variable in variables.items()}


def snapshot_of_learned(compiled: Compiled) -> Arrays:
    """A copy of all that a resumed run does not get from elsewhere, see `Trainable.given`."""
    variables = compiled.state_variables().items()
    return snapshot({name: each for name, each in variables if name not in compiled.given})


def given_checksum(compiled: Compiled) -> str:
    """Checksum of what `snapshot_of_learned` leaves out; "" where that is nothing."""
    return _checksum(compiled.state_variables(), compiled.given)


def _checksum(variables: Mapping[str, Any], names: Collection[str]) -> str:
    return array_checksum({name: variables[name].numpy() for name in names}) if names else ""


def weights_of(compiled: Compiled, arrays: Mapping[str, Any]) -> Arrays:
    """The network's weights out of a snapshot of it, by the names of `build.read_weights`."""
    names = {id(variable): name for name, variable in compiled.state_variables().items()}
    weights: Arrays = {}
    for name, variable in named_variables(compiled.built).items():
        known = names.get(id(variable.value))
        copied = arrays.get(f"{_PREFIX}{known}")
        # Neither layers of the input pipeline nor frozen ones change while training.
        weights[name] = np.array(variable.numpy()) if copied is None else copied
    return weights


def restore_at(compiled: Compiled, step: int, arrays: Mapping[str, Any], given: str = "") -> None:
    """Puts a training into the state of a checkpoint of so many steps.

    A phase begins with the network of the phase before, and with an optimizer of its own: of a
    checkpoint from where they meet, the optimizer's state is that of the phase before.

    Args:
        compiled: The training, with the weights it starts from.
        step: Steps done at the checkpoint.
        arrays: The checkpoint's.
        given: Its `TrainerState.given`.

    Raises:
        RunError: the checkpoint is of other variables; none was changed.
    """
    variables = compiled.state_variables()
    if step and step == compiled.first_step:
        variables = {name: each for name, each in variables.items() if is_of_model(name)}
        arrays = {
            name: array
            for name, array in arrays.items()
            if name.startswith(_PREFIX) and is_of_model(name.removeprefix(_PREFIX))
        }
    restore(variables, arrays, given)


def restore(variables: Mapping[str, Any], arrays: Mapping[str, Any], given: str = "") -> None:
    """Sets every variable to its value of a checkpoint. Those that it leaves out stay as they are,
    where their checksum is `given`.

    Raises:
        RunError: the checkpoint is of other variables; none was changed.
    """
    kept = {
        name.removeprefix(_PREFIX): array
        for name, array in arrays.items()
        if name.startswith(_PREFIX)
    }
    missing = [name for name in variables if name not in kept]
    if missing and given:
        _refuse_other_weights(variables, missing, given)
    findings = [f"“{name}” is missing" for name in missing if not given]
    findings += [f"“{name[:80]}” is unknown" for name in kept if name not in variables]
    findings += [
        f"“{name}” has the shape {kept[name].shape}, not {tuple(variable.shape)}"
        for name, variable in variables.items()
        if name in kept and kept[name].shape != tuple(variable.shape)
    ]
    if findings:
        more = len(findings) - _MOST_LISTED
        raise RunError(
            "The checkpoint does not fit this model and optimizer.",
            received="; ".join(findings[:_MOST_LISTED]) + (f"; {more} more" * (more > 0)),
            expected="a checkpoint of the same run, written by the same version of Workbench",
            fix="Train again from the start.",
        )
    for name, array in kept.items():
        variables[name].assign(array)


def _refuse_other_weights(variables: Mapping[str, Any], missing: Sequence[str], given: str) -> None:
    """A checkpoint leaves frozen pretrained weights out: they have to be the same ones again.

    Raises:
        RunError: they are others; nothing was changed.
    """
    found = _checksum(variables, missing)
    if found != given:
        raise RunError(
            "The frozen layers have other weights than when this run was started.",
            where="pretrained weights",
            received=f"{plural(len(missing), 'array')} with the checksum {found[:12]}…",
            expected=f"{given[:12]}…: the checkpoint holds only what is trained",
            fix="Restore the weights file of the pretrained network, or train again.",
        )


def mark_of(data: PreparedData) -> DataMark:
    """Identifies this data set: a digest of all training labels, and some of the images."""
    train = data.train
    digest = hashlib.sha256(repr(data.class_names).encode())
    digest.update(np.ascontiguousarray(train.y, np.int64).data)
    indices = np.unique(np.linspace(0, len(train) - 1, _SAMPLE).astype(np.int64))
    digest.update(np.ascontiguousarray(train.x[indices]).data)
    return DataMark(
        num_train=len(train),
        num_validation=len(data.validation or ()),
        num_test=len(data.test or ()),
        digest=digest.hexdigest(),
        split=marks_to_plain(data.marks),
    )


def check_same_data(then: DataMark, now: DataMark) -> list[str]:
    """Why figures can differ because of the images.

    Raises:
        RunError: there are more or fewer images to train on: the epochs have another
            length, so nothing can be continued.
    """
    if then.num_train != now.num_train:
        raise RunError(
            "The data set has changed: the run cannot be resumed.",
            where="data set",
            received=f"{now.num_train:,} training images",
            expected=f"{then.num_train:,}, as at the start of the run",
            fix="Restore the previous images, or train again from the start.",
        )
    return [] if then == now else ["the images have changed"]
