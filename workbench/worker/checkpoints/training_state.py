"""State of a training in a checkpoint: counters, variables, prepared data, and the last
one kept.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np

from workbench.core.format import plural
from workbench.core.projects.project import Project
from workbench.core.specs.dataset import marks_to_plain
from workbench.core.training.learning_rates import LongerTraining
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import RunError
from workbench.pictures.prepare import PreparedData
from workbench.protocol.events import BestEpoch, EpochFinished
from workbench.protocol.weights import KeptWeights
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard
from workbench.runs.store.checkpoint import (
    DataMark,
    Machine,
    TrainerState,
    keep_final_checkpoint,
    keeps_final,
    remove_checkpoints,
)
from workbench.runs.store.weights_file import array_checksum
from workbench.worker.execution.compiled import Compiled, Connected, Sizes
from workbench.worker.model.build import named_variables
from workbench.worker.process.run_channel import EventLogger, StopSwitch
from workbench.worker.step.trainable import is_of_model
from workbench.worker.step.training_loop import Scores, StepResults, TimeLedger

# snapshot ------------------------------------------------------------------------------------
# Taking the state of a training out of TensorFlow, and putting it back.

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


# prepared ------------------------------------------------------------------------------------
# What the parts of a trainer share: its job, and the training once it is ready to run.


@dataclass(frozen=True)
class TrainingJob:
    """What to train, where it is written, its event log, and its stop switch."""

    run: RunFolder
    project: Project
    events: EventLogger
    stop: StopSwitch


@dataclass(frozen=True)
class PreparedTraining:
    """A training about to begin, or to go on.

    Attributes:
        compiled: What is trained, with the checkpoint's values in its variables.
        sizes: Batch and epochs.
        machine, data: Where and on what; kept in each checkpoint.
        card: The model card but for what training adds to it.
        target: What it is trained on.
        ledger: Where the time goes, since building began.
        images: All parts of the data set.
        reasons: Why the figures of a resumed run can differ from the uninterrupted one's.
    """

    compiled: Compiled
    sizes: Sizes
    machine: Machine
    data: DataMark
    card: ModelCard
    target: Connected
    ledger: TimeLedger
    images: PreparedData
    reasons: tuple[str, ...]

    @property
    def replicas(self) -> int:
        """Devices that share each batch."""
        return self.target.replicas


# counters ------------------------------------------------------------------------------------
# Counters of a training: steps and epochs done, and the values of the current epoch.

_LOSSES, _ACCURACIES = "epoch/losses", "epoch/accuracies"

Floats = np.ndarray[Any, np.dtype[np.float32]]


@dataclass
class TrainingCounters:
    """Counters of a training; all of it goes into checkpoints and comes back from them.

    Attributes:
        step: Steps done, or left out.
        epochs_done: Whole epochs done, validation included, or left out.
        best: The best epoch so far.
        scores: Validation scores of the best and the last epoch, by epoch.
        losses, accuracies: Batch values of the current epoch, one array (steps,) per call.
        epoch_training_s: Seconds spent in training calls of the current epoch.
        begun: `time.monotonic()` when this trainer began.
        seconds_before: Seconds that the trainers before this one have worked.
    """

    step: int = 0
    epochs_done: int = 0
    best: EpochFinished | None = None
    scores: dict[int, Scores] = field(default_factory=dict)
    losses: list[Floats] = field(default_factory=list)
    accuracies: list[Floats] = field(default_factory=list)
    epoch_training_s: float = 0.0
    begun: float = field(default_factory=time.monotonic)
    seconds_before: float = 0.0
    _epoch_before: float = 0.0
    _epoch_begun: float = field(default_factory=time.monotonic)

    @classmethod
    def of(
        cls, state: TrainerState, arrays: Mapping[str, Floats], begun: float
    ) -> TrainingCounters:
        """The counters of a checkpoint, from its state and its arrays by name."""
        return cls(
            step=state.step,
            epochs_done=state.epochs_done,
            best=state.best,
            scores={epoch: Scores(**values) for epoch, values in state.scores.items()},
            losses=[arrays[_LOSSES]],
            accuracies=[arrays[_ACCURACIES]],
            epoch_training_s=state.epoch_training_s,
            seconds_before=state.seconds,
            _epoch_before=state.epoch_seconds,
            begun=begun,
        )

    @property
    def seconds(self) -> float:
        """Since the run began, without the time between its trainers."""
        return self.seconds_before + time.monotonic() - self.begun

    @property
    def epoch_seconds(self) -> float:
        """Since the epoch under way began, without the time between trainers."""
        return self._epoch_before + time.monotonic() - self._epoch_begun

    @property
    def steps_of_epoch(self) -> int:
        """Steps done of the epoch under way."""
        return sum(map(len, self.losses))

    @property
    def best_epoch(self) -> BestEpoch | None:
        """The best epoch as it is written in the last event and the model card."""
        return BestEpoch.of(self.best) if self.best is not None else None

    def go_on(self) -> None:
        """Called when the steps begin: getting there is no part of the epoch."""
        self._epoch_begun = time.monotonic()

    def add(self, results: StepResults) -> None:
        """Adds the steps of one call."""
        self.step += len(results.losses)
        self.losses.append(results.losses)
        self.accuracies.append(results.accuracies)
        self.epoch_training_s += results.seconds

    def means(self) -> tuple[float, float]:
        """Mean loss and accuracy of the epoch under way; however its steps were called."""
        loss = np.concatenate(self.losses).mean(dtype=np.float64)
        return float(loss), float(np.concatenate(self.accuracies).mean(dtype=np.float64))

    def finish_epoch(self, epoch: EpochFinished, scores: Scores | None, *, is_best: bool) -> None:
        """Closes the epoch under way and opens the next."""
        self.epochs_done = epoch.epoch
        if is_best:
            self.best = epoch
        kept = {self.best.epoch if self.best else 0, epoch.epoch}
        if scores is not None:
            self.scores[epoch.epoch] = scores
        self.scores = {number: one for number, one in self.scores.items() if number in kept}
        self.losses, self.accuracies = [], []
        self.epoch_training_s = self._epoch_before = 0.0
        self._epoch_begun = time.monotonic()

    def skip_to(self, epochs: int, steps_per_epoch: int) -> None:
        """Leaves out the epochs up to a number: those of a head that early stopping has ended.
        Batches and learning rates follow from a step's number: fine-tuning has those that it has
        behind a head trained to its end.
        """
        self.epochs_done, self.step = epochs, epochs * steps_per_epoch
        self._epoch_begun = time.monotonic()

    def kept(self, recipe: TrainingRecipe, epoch: int) -> KeptWeights:
        """Which weights those are that are saved now as the ones of `epoch`."""
        is_best = recipe.keep == "best" and self.best is not None
        is_partial = not is_best and self.steps_of_epoch > 0
        scores = None if is_partial else self.scores.get(epoch)
        is_finite = scores is not None and math.isfinite(scores.accuracy)
        return KeptWeights(
            epoch=epoch,
            kind="best" if is_best else "last",
            is_partial=is_partial,
            is_averaged=bool(recipe.ema_decay),
            val_accuracy=float(scores.accuracy) if scores is not None and is_finite else None,
            is_chosen_on_test=is_best and recipe.validation == "test",
        )

    def to_state(
        self,
        number: int,
        ready: PreparedTraining,
        *,
        rules: dict[str, Any],
        best_file: str,
        given: str,
    ) -> TrainerState:
        """What a checkpoint holds beside its arrays."""
        return TrainerState(
            number=number,
            step=self.step,
            epochs_done=self.epochs_done,
            seconds=self.seconds,
            epoch_seconds=self.epoch_seconds,
            epoch_training_s=self.epoch_training_s,
            best=self.best,
            best_file=best_file,
            scores={epoch: _plain(scores) for epoch, scores in self.scores.items()},
            rules=rules,
            plan=ready.compiled.plan,
            machine=ready.machine,
            data=ready.data,
            given=given,
        )

    def to_arrays(self) -> dict[str, Floats]:
        """The values of the epoch under way."""
        empty = np.empty(0, np.float32)
        return {
            _LOSSES: np.concatenate([empty, *self.losses]),
            _ACCURACIES: np.concatenate([empty, *self.accuracies]),
        }


def _plain(scores: Scores) -> dict[str, Any]:
    """The numbers of scores; the confusion matrix is kept in its own file."""
    return dict(msgspec.to_builtins(replace(scores, confusion=None)))


# final checkpoint ----------------------------------------------------------------------------
# The checkpoint that a completed run keeps, and what is logged when it is trained longer.


def settle_checkpoints(run: RunFolder, epochs_done: int, *, is_chief: bool) -> None:
    """Removes the checkpoints that a completed run does not need any more."""
    if is_chief and keeps_final():
        keep_final_checkpoint(run, epochs_done)
    else:
        remove_checkpoints(run)


def longer_words(run: RunFolder, recipe: TrainingRecipe, counters: TrainingCounters) -> str:
    """What becomes of the learning rate where a run goes on after its last planned epoch; "" where
    it does not, or has been said.
    """
    last = run.request().extension
    if last is None or (last.after, 0) != (counters.epochs_done, counters.steps_of_epoch):
        return ""
    planned = recipe.with_values(epochs=last.before)
    longer = LongerTraining(planned, counters.epochs_done, counters.step)
    return longer.rate_words(recipe.epochs)
