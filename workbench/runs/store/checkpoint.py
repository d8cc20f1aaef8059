"""Checkpoints: from where a run goes on as if it had never been interrupted.

checkpoints/1.npz, 2.npz   the last two generations, written in turn: arrays by name, and
                           TrainerState as JSON in the bytes of one more array
checkpoints/best-N.npz     the weights of epoch N, the best so far

Both hold only what is trained: weights of frozen pretrained layers come from their own file again.

Each file is whole or not there (core.save) and holds a checksum over its content. A
generation names the best epoch's file that belongs to it; the others are removed.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from workbench.core.format import plural
from workbench.core.storage.json_file import DAMAGED, read_json, save_json
from workbench.core.storage.own_file import make_own_folder
from workbench.core.storage.save import sweep_leftovers
from workbench.errors import SaveError, WeightsError, os_errors_as
from workbench.protocol.events import EpochFinished, Plan
from workbench.runs.folder import RunFolder
from workbench.runs.home import data_home
from workbench.runs.store.weights_file import checkpoint_room, read_array, read_arrays, write_arrays
from workbench.settings.options.keeps_checkpoints import SPEC as KEEPS_CHECKPOINTS
from workbench.settings.store import read_settings
from workbench.targets.this_computer import cpu_flags, cpu_model, num_cores

# machine -------------------------------------------------------------------------------------
# What decides about the last bits of a training: libraries, processor, threads.

_SETTINGS = (
    "OMP_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
    "TF_ENABLE_ONEDNN_OPTS",
    "TF_ONEDNN_USE_SYSTEM_ALLOCATOR",
    "ONEDNN_MAX_CPU_ISA",
    "ONEDNN_DEFAULT_FPMATH_MODE",
    "XLA_FLAGS",
    "TF_XLA_FLAGS",
    "PJRT_DEVICE",
    "TPU_ACCELERATOR_TYPE",
)
"""Environment variables by which TensorFlow computes in another order or precision."""

_TITLES = {
    "workbench": "Workbench",
    "tensorflow": "TensorFlow",
    "keras": "Keras",
    "numpy": "NumPy",
    "python": "Python",
}


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """The machine on which a training ran.

    Attributes:
        versions: Versions of the application and its libraries.
        cores: Cores the process may use; TensorFlow splits its sums over them.
        cpu: The processor's name.
        flags: What the processor can do, sorted; libraries choose their code by it.
        settings: Environment variables that matter, where they are set.
        others: The machines that it trained together with, in their order.
    """

    versions: dict[str, str]
    cores: int
    cpu: str
    flags: list[str]
    settings: dict[str, str] = {}
    others: list[Machine] = []


def this_machine(versions: Mapping[str, str], others: Sequence[Machine] = ()) -> Machine:
    """This process's environment, versions of libraries, and the machines it trains with."""
    return Machine(
        versions=dict(versions),
        cores=num_cores(),
        cpu=cpu_model() or platform.machine(),
        flags=sorted(cpu_flags()),
        settings={name: os.environ[name] for name in _SETTINGS if name in os.environ},
        others=list(others),
    )


def library_title(name: str) -> str:
    """A library of `Machine.versions` as people write it."""
    return _TITLES.get(name, name)


def differences(then: Machine, now: Machine) -> list[str]:
    """Why figures computed `now` can differ in their last bits from those of `then`."""
    found = [*_version_differences(then, now), *_hardware_differences(then, now)]
    if len(then.others) != len(now.others):
        return [*found, f"{len(now.others) + 1} machines instead of {len(then.others) + 1}"]
    for number, (old, new) in enumerate(zip(then.others, now.others, strict=True), 2):
        found += [f"machine {number}: {words}" for words in differences(old, new)]
    return found


def _version_differences(then: Machine, now: Machine) -> Iterator[str]:
    for name in sorted({*then.versions, *now.versions}):
        old, new = then.versions.get(name, "none"), now.versions.get(name, "none")
        if old != new:
            yield f"{library_title(name)} {new} instead of {old}"


def _hardware_differences(then: Machine, now: Machine) -> Iterator[str]:
    if then.cores != now.cores:
        yield f"{plural(now.cores, 'core')} instead of {then.cores}"
    if then.cpu != now.cpu:
        yield f"another CPU: {now.cpu} instead of {then.cpu}"
    elif then.flags != now.flags:
        yield "other CPU instructions"
    for name in sorted({*then.settings, *now.settings}):
        old, new = then.settings.get(name, "not set"), now.settings.get(name, "not set")
        if old != new:
            yield f"{name} is {new} instead of {old}"


# checkpoint ----------------------------------------------------------------------------------

STATE_VERSION = 2
"""1 held all weights, frozen ones too."""

_STATE = "trainer_state"
_BEST = re.compile(r"best-([0-9]+)\.npz")
_GENERATIONS = (1, 2)
_MAX_STATE_BYTES = 16 * 1024 * 1024

Arrays = Mapping[str, np.ndarray[Any, Any]]


class DataMark(msgspec.Struct, frozen=True, kw_only=True):
    """Identifies a data set: its numbers, and a digest of a sample of it. `split`: where a split
    by content was cut.
    """

    num_train: int
    num_validation: int
    num_test: int
    digest: str
    split: dict[str, Any] = {}


class TrainerState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a trainer beside its variables.

    Attributes:
        number: 1, 2, 3, ... over the life of the run; the highest is the newest.
        step: Steps done.
        epochs_done: Whole epochs done, validation included.
        seconds: Since the run began, without its pauses.
        epoch_seconds: Seconds of the current epoch.
        epoch_training_s: Seconds of the current epoch spent in its steps.
        best: The best epoch so far; `best_file` is the name of its weights, "" for none.
        scores: By epoch: loss, accuracy and count on the validation images, of the best
            and the last epoch.
        rules: What best epoch, early stopping and plateau have counted (ProgressRules).
        plan: How the run is executed.
        machine: What it was executed on.
        data: Which images.
        given: Checksum of the frozen weights that are not among the arrays; "" where all are.
    """

    number: int
    step: int
    epochs_done: int
    seconds: float
    plan: Plan
    machine: Machine
    data: DataMark
    epoch_seconds: float = 0.0
    epoch_training_s: float = 0.0
    best: EpochFinished | None = None
    best_file: str = ""
    scores: dict[int, dict[str, Any]] = {}
    rules: dict[str, Any] = {}
    given: str = ""
    format: str = "workbench-checkpoint"
    version: int = STATE_VERSION


@dataclass(frozen=True)
class Checkpoint:
    """A state with its arrays, and a sentence for each generation that was passed over."""

    state: TrainerState
    arrays: Arrays
    notes: tuple[str, ...] = ()


def checkpoint_path(run: RunFolder, generation: int) -> Path:
    """The file of generation 1 or 2."""
    return run.checkpoints_path / f"{generation}.npz"


def has_checkpoint(run: RunFolder) -> bool:
    """True when there is a file to resume from, that can be reached. Cheap: it is not read."""
    return any(os.path.isfile(checkpoint_path(run, each)) for each in _GENERATIONS)  # noqa: PTH113 - never raises


def newest_state(run: RunFolder) -> TrainerState | None:
    """What the newest generation reports about itself, without its arrays; None without one."""
    return max(_states(run), key=lambda state: state.number, default=None)


def path_of(run: RunFolder, state: TrainerState) -> Path:
    """The file of the generation with this state."""
    return checkpoint_path(run, _GENERATIONS[state.number % 2])


def _states(run: RunFolder) -> list[TrainerState]:
    states = [read_state(checkpoint_path(run, generation)) for generation in _GENERATIONS]
    return [state for state in states if state is not None]


def write_checkpoint(run: RunFolder, state: TrainerState, arrays: Arrays) -> None:
    """Writes the generation whose turn it is; raises SaveError, with both unharmed."""
    _make_folder(run)
    data = np.frombuffer(msgspec.json.encode(state), np.uint8)
    write_arrays(path_of(run, state), {**arrays, _STATE: data})


def best_name(epoch: int) -> str:
    """The name of the file with the weights of an epoch that is the best so far."""
    return f"best-{epoch}.npz"


def write_best(run: RunFolder, epoch: int, weights: Arrays) -> str:
    """Writes the weights of the best epoch; returns the name of the file. Raises SaveError."""
    _make_folder(run)
    path = run.checkpoints_path / best_name(epoch)
    write_arrays(path, weights)
    return path.name


def read_best(run: RunFolder, name: str) -> dict[str, np.ndarray[Any, Any]]:
    """The weights of a best epoch; raises WeightsError when they are missing or damaged."""
    if not _BEST.fullmatch(name):
        raise WeightsError("The weights file is missing.", where=name[:80])
    return read_arrays(run.checkpoints_path / name, max_bytes=checkpoint_room(run))


def remove_old_best(run: RunFolder) -> None:
    """Removes the best epochs' files that no generation names; raises SaveError."""
    named = {state.best_file for state in _states(run)}
    what = "The weights of an earlier best epoch could not be deleted."
    with os_errors_as(SaveError, what, run.checkpoints_path):
        for path in _best_files(run):
            if path.name not in named:
                path.unlink()


def tidy_up(run: RunFolder) -> None:
    """Removes what a killed trainer was just writing; only for the trainer of the run."""
    if not run.checkpoints_path.is_symlink():
        sweep_leftovers(run.checkpoints_path, min_age_s=0.0)
    sweep_leftovers(run.path)


def keeps_final() -> bool:
    """Whether completed runs keep the checkpoint of their end, by the settings."""
    return read_settings(data_home()).get(KEEPS_CHECKPOINTS)


def keep_final_checkpoint(run: RunFolder, epochs_done: int) -> None:
    """Keeps of a completed run only the checkpoint of its end, from which it can be trained longer;
    none where there is none of its end.
    """
    last = newest_state(run)
    if last is None or last.epochs_done != epochs_done:
        remove_checkpoints(run)
    else:
        remove_older(run)


def remove_older(run: RunFolder) -> None:
    """Removes all but the newest generation and the weights that it names."""
    last = newest_state(run)
    if last is not None:
        kept = {path_of(run, last).name, last.best_file}
        _remove(path for path in _files(run) if path.name not in kept)


def remove_checkpoints(run: RunFolder) -> None:
    """Removes all of them; the weights that classify are beside them."""
    _remove(_files(run))
    if not run.checkpoints_path.is_symlink():
        with contextlib.suppress(OSError):
            run.checkpoints_path.rmdir()


def _files(run: RunFolder) -> list[Path]:
    if run.checkpoints_path.is_symlink():
        return []
    return [*map(partial(checkpoint_path, run), _GENERATIONS), *_best_files(run)]


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        # What cannot be removed only uses disk space.
        with contextlib.suppress(OSError):
            path.unlink()


def _best_files(run: RunFolder) -> list[Path]:
    if run.checkpoints_path.is_symlink():
        return []
    try:
        return [path for path in run.checkpoints_path.iterdir() if _BEST.fullmatch(path.name)]
    except OSError:
        return []


def read_checkpoint(run: RunFolder) -> Checkpoint | None:
    """The newest whole generation, None without any; raises WeightsError where all are damaged."""
    paths = [checkpoint_path(run, generation) for generation in _GENERATIONS]
    found = {path: read_state(path) for path in paths if path.is_file()}
    notes: list[str] = []
    # Those whose state cannot be read come first: they are reported, and not used.
    for path in sorted(found, key=lambda path: -(s.number if (s := found[path]) else 1 << 60)):
        try:
            return _read(path, notes, checkpoint_room(run))
        except WeightsError as error:
            notes.append(f"The checkpoint {path.name} is damaged ({error.received}).")
    if not found:
        return None
    raise WeightsError(
        "No checkpoint of this run can be read.",
        where=str(run.checkpoints_path),
        received=" ".join(notes),
        expected="a checkpoint written by this version of Workbench",
        fix="Restore the run folder from a copy, or train again.",
    )


def _read(path: Path, notes: list[str], max_bytes: int) -> Checkpoint:
    arrays = read_arrays(path, max_bytes=max_bytes)
    try:
        state = _decode(arrays.pop(_STATE, np.empty(0, np.uint8)))
    except DAMAGED as error:
        raise WeightsError("The checkpoint is damaged.", received=str(error)) from error
    if state.version > STATE_VERSION:
        raise WeightsError("The checkpoint is newer.", received=f"version {state.version}")
    used = [*notes, f"Using the one of step {state.step:,}."] if notes else []
    return Checkpoint(state, arrays, tuple(used))


def read_state(path: Path) -> TrainerState | None:
    """A generation's state, not held against the checksum; None where it cannot be read."""
    try:
        return _decode(read_array(path, _STATE, max_bytes=_MAX_STATE_BYTES))
    except (WeightsError, *DAMAGED):
        return None


def _decode(data: np.ndarray[Any, Any]) -> TrainerState:
    return msgspec.json.decode(data.tobytes(), type=TrainerState)


def _make_folder(run: RunFolder) -> None:
    what, fix = "The checkpoint folder could not be created.", "Make the run folder writable."
    with os_errors_as(SaveError, what, run.checkpoints_path, fix=fix):
        # Without parents: a run folder that was removed must not come back half.
        make_own_folder(run.checkpoints_path)


# provenance ----------------------------------------------------------------------------------
# What a run was computed on and from, in `origin.json`: machine and images. It is
# kept after the checkpoints, which a completed run removes.

ORIGIN_NAME = "origin.json"


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Origin of a run's figures: what computed them last, and which images."""

    machine: Machine
    data: DataMark
    format: str = "workbench-origin"
    version: int = 1


def write_origin(run: RunFolder, machine: Machine, data: DataMark) -> None:
    """Keeps them; raises SaveError."""
    save_json(run.path / ORIGIN_NAME, Provenance(machine=machine, data=data))


def read_origin(run: RunFolder) -> Provenance | None:
    """What was kept; None where nothing was, or nothing that can be read."""
    return read_json(run.path / ORIGIN_NAME, Provenance)
