"""Preparation of a run: room on the disk, speed of earlier ones, split of before, more epochs."""

from __future__ import annotations

import hashlib
import math
import shutil
import time
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from workbench.core.checks.analysis import Analysis, analyse
from workbench.core.checks.costs import ALL_LEARN, BYTES_PER_NUMBER, PhaseWork
from workbench.core.checks.estimates import (
    FIRST_CALL_S,
    MeasuredRun,
    RunEstimate,
    computed_in_steps,
    images_of,
    memory_needed,
    numbers_per_picture,
    other_seconds,
)
from workbench.core.checks.estimates import predict as predict_costs
from workbench.core.checks.images import DatasetFacts
from workbench.core.format import bytes_text, plural
from workbench.core.params import check_all
from workbench.core.projects.project import Choice, Project
from workbench.core.specs.dataset import SplitMarks, read_marks
from workbench.core.storage.json_file import read_json
from workbench.core.storage.save import save_with_folder
from workbench.core.training.learning_rates import LongerTraining
from workbench.core.training.optimizers import all_optimizers
from workbench.core.training.progress_rules import ProgressRules
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import SplitRule
from workbench.datasets import all_datasets
from workbench.errors import (
    NoRoomError,
    ParamError,
    ProjectFileError,
    RunError,
    RunFolderError,
    UsageError,
)
from workbench.host.memory import memory_limit
from workbench.layers import all_layers
from workbench.protocol.events import DataReady
from workbench.runs.control import clear_command, send_command
from workbench.runs.environment import is_remote
from workbench.runs.folder import Extension, RunFolder
from workbench.runs.home import cache_home, runs_home
from workbench.runs.link import abandon_remote, read_remote
from workbench.runs.log.event_log import first_of
from workbench.runs.moved_data import data_now
from workbench.runs.naming import numbered_runs
from workbench.runs.start import start_trainer
from workbench.runs.state.outcome import finished_of, outcome_of
from workbench.runs.store.checkpoint import newest_state
from workbench.runs.trust import check_known
from workbench.targets import all_targets
from workbench.targets.this_computer import computes_bfloat16, num_cores

# longer --------------------------------------------------------------------------------------
# Training a run for more epochs than were planned, from the checkpoint of its end.
#
# The file of the request stays unchanged; `extensions.json` keeps the new number of epochs, and
# `RunFolder.request` has it from then on.


def longer_training(run: RunFolder) -> LongerTraining:
    """What a run would go on from.

    Raises:
        RunFolderError: it has not ended, or no checkpoint of a whole epoch is kept.
        ProjectFileError: its project is damaged.
    """
    outcome, state, finished = outcome_of(run), newest_state(run), finished_of(run)
    can_go_on = outcome.can_train_longer or outcome.can_resume
    if outcome.kind == "completed" and state is not None and finished is not None:
        can_go_on = state.epochs_done == finished.epochs_done  # else it is of an earlier epoch
    if not can_go_on or state is None or not state.epochs_done:
        raise RunFolderError(
            "This run cannot be trained longer: no checkpoint is kept to continue from.",
            where=str(run.path),
            received=outcome.sentence(),
            expected="a run that is over, with its last checkpoint",
            fix="Increase the epochs in its project and train it again.",
        )
    request = run.request()
    recipe = request.to_project().recipe
    rules = ProgressRules(recipe, state.rules, patience_from=request.patience_from)
    return LongerTraining(recipe, state.epochs_done, state.step, bool(rules.stop_words))


def extension_to(run: RunFolder, epochs: int) -> Extension:
    """The extension of a run to so many epochs in total, for `start_trainer` or the queue.

    Raises:
        RunFolderError, ProjectFileError: as `longer_training`.
        UsageError: that is no more than it has, or too many.
    """
    longer = longer_training(run)
    done = longer.epochs_done
    try:
        longer.recipe.with_values(epochs=epochs)
    except ParamError as error:
        raise UsageError(**error.to_dict()) from error
    if epochs <= done:
        raise UsageError(
            f"This run has already trained {plural(done, 'epoch')}.",
            where=str(run.path),
            received=f"{epochs:,} epochs in total",
            expected=f"at least {done + 1:,}",
            fix="Give the total number of epochs, those already trained included.",
        )
    return Extension(
        after=done,
        before=longer.recipe.epochs,
        epochs=epochs,
        restarts_patience=longer.is_stopped_early,
    )


# migrate -------------------------------------------------------------------------------------
# Continuing a run on another target, because its computer is gone or too slow.
#
# The request stays unchanged; the folder keeps where the run goes on. What was fetched is
# enough to go on from: the log, the checkpoints, and the project's own data set.

_LEAVE_S = 40.0
"""A run mirror that is just connecting reads the command when that has failed, within 20 s."""


def go_on_with(run: RunFolder, target: Choice) -> int:
    """Lets a run that is over or away go on at another target, from the newest checkpoint here;
    returns the process id of its trainer or run mirror.

    A run mirror that still tries to reach the place before is ended by command. What may still
    train
    there is left to itself: nothing of it counts any more.

    Raises:
        RunFolderError: it trains, is completed, or there is nothing here to go on from.
        RunError: the target is unknown, or its process cannot be started.
        SaveError: the run's folder cannot be written.
    """
    check_can_move(run, target)
    if run.is_alive():
        _end_mirror(run)
    abandon_remote(run)
    run.move_to(target)
    return start_trainer(run, resume=True)


def check_can_move(run: RunFolder, target: Choice) -> None:
    """Raises what `go_on_with` would refuse; changes nothing."""
    outcome = outcome_of(run)
    if not outcome.can_move:
        raise RunFolderError(
            "This run cannot be continued on another target now.",
            where=str(run.path),
            received=outcome.sentence(),
            expected="a paused, stopped or lost run with a checkpoint",
        )
    is_remote(target)  # raises where there is no such target
    check_known(target, run.project().dataset)


def is_moving(run: RunFolder, target: Choice) -> bool:
    """Whether a target is another than the one that the run is trained on."""
    remote = read_remote(run)
    now = remote.choice() if remote is not None else run.project().target
    return _whole(now) != _whole(target)


def _whole(target: Choice) -> Choice:
    """The choice with all its parameters, defaults included."""
    spec = all_targets().get(target.key)
    return target if spec is None else Choice(target.key, check_all(spec.params, target.params)[0])


def _end_mirror(run: RunFolder) -> None:
    send_command(run, "leave")
    deadline = time.monotonic() + _LEAVE_S
    while run.is_alive():
        if time.monotonic() > deadline:
            clear_command(run)
            raise RunError(
                "The background connection of this run does not end.",
                where=str(run.path),
                fix="Try again, or terminate the process in the system monitor.",
            )
        time.sleep(0.05)


# throughput ----------------------------------------------------------------------------------
# How fast this computer has trained: one short file, fed by each run, read by predictions.
#
# It is a cache: lost or damaged, it is begun again, and predictions start from a guess.

_KEPT = 100
_MEMORY_SHARE = 0.3  # of the limit: larger data sets stay on disk


def speeds_path() -> Path:
    """The file of this computer's speeds."""
    return cache_home() / "speeds.json"


def read_speeds(path: Path | None = None) -> list[MeasuredRun]:
    """The latest runs' speeds, oldest first; [] where there are none."""
    return read_json(path or speeds_path(), list[MeasuredRun]) or []


def add_speed(run: MeasuredRun, path: Path | None = None) -> None:
    """Keeps one run's speed, instead of what it had before in such a phase, and drops the oldest of
    more than a hundred; raises SaveError.
    """
    path = path or speeds_path()

    def is_other(other: MeasuredRun) -> bool:
        of = run.run, run.is_on_features
        return not run.run or of != (other.run, other.is_on_features)

    others = list(filter(is_other, read_speeds(path)))
    kept = [*others, run][-_KEPT:]
    save_with_folder(path, msgspec.json.encode(kept))


def data_mark(dataset: Choice) -> str:
    """Identifies a data set among the measured runs, without its path."""
    words = msgspec.json.encode([dataset.key, dict(dataset.params)], order="sorted")
    return hashlib.blake2b(words, digest_size=8).hexdigest()


@dataclass(frozen=True)
class WholeRun:
    """What is known of a run beside the speed of its steps.

    Attributes:
        data: Its data set, see `data_mark`.
        num_train, num_validation, num_test: Its images.
        is_on_features: The speed is that of a head on cached features.
        num_computed: Images that the frozen layers were computed for.
        features_s: Seconds of that.
        other_s: Seconds that were in neither epochs nor frozen layers; 0 while the run goes on.
    """

    data: str = ""
    num_train: int = 0
    num_validation: int = 0
    num_test: int = 0
    is_on_features: bool = False
    num_computed: int = 0
    features_s: float = 0.0
    other_s: float = 0.0

    @property
    def ahead_s(self) -> float:
        """Seconds of an image in the frozen layers; 0 where none was computed."""
        steady_s = max(self.features_s - FIRST_CALL_S, 0.2 * self.features_s)
        return steady_s / self.num_computed if self.num_computed else 0.0

    def facts(self) -> dict[str, Any]:
        """Fields that are kept as they are."""
        kept = ("data", "num_train", "num_validation", "num_test", "is_on_features", "other_s")
        return {"ahead_s": self.ahead_s, **{key: getattr(self, key) for key in kept}}


NOTHING_MORE = WholeRun()


def measured_run(
    analysis: Analysis,
    recipe: TrainingRecipe,
    *,
    batch_size: int,
    precision: str,
    images_per_second: float,
    memory_bytes: int,
    run: str = "",
    epoch_factor: float = 1.0,
    work: PhaseWork = ALL_LEARN,
    whole: WholeRun = NOTHING_MORE,
) -> MeasuredRun:
    """What is kept of a run, from the analysis of its network with its recipe: the median speed of
    its epochs, in which `work` was computed, in a batch that may be smaller than the recipe's, and
    the most that its trainer has held, 0 where it is not known.
    """
    costs = analysis.costs
    multiply_adds, numbers = computed_in_steps(costs, work)
    other_s = other_seconds(costs, precision, whole.num_test) if whole.other_s else 0.0
    return MeasuredRun(
        multiply_adds=multiply_adds,
        numbers=numbers,
        is_partly_frozen=bool(work.frozen),
        batch_size=batch_size,
        precision=precision,
        run=run,
        images_per_second=images_per_second,
        epoch_factor=epoch_factor,
        memory_bytes=memory_bytes,
        **whole.facts(),
        ahead_multiply_adds=sum(costs.nodes[key].multiply_adds for key in work.frozen),
        ahead_numbers=numbers_per_picture(costs, work.frozen),
        num_copies=work.copies,
        expected_other_s=other_s,
        expected_bytes=memory_needed(
            costs, costs_batch=recipe.batch_size, batch_size=batch_size, precision=precision
        ),
    )


def predict_run(
    analysis: Analysis,
    recipe: TrainingRecipe,
    facts: DatasetFacts | None,
    *,
    speeds: list[MeasuredRun],
    limit_bytes: int | None = None,
    data: str = "",
) -> RunEstimate:
    """What a run of a network without errors will take here, given the data as far as it is known,
    the `speeds` that were measured, and the memory a process can have (None: this computer's).
    `data` is the project's `data_mark`: images not counted yet are those of the latest run on it.
    """
    limit = memory_limit() if limit_bytes is None else limit_bytes
    num_train, num_validation = _parts(recipe, facts)
    num_test = facts.num_test if facts is not None else 0
    if not num_train:
        num_train, num_validation, num_test = images_of(speeds, data)
    picture_bytes = math.prod(analysis.input_shape or (0,)) * (num_train + num_validation)
    return predict_costs(
        analysis.costs,
        speeds,
        batch_size=recipe.batch_size,
        precision=_precision(recipe),
        steps_per_epoch=_steps(recipe, num_train),
        num_train=num_train,
        # Of an epoch: where only every few are validated, on average.
        num_validation=-(-num_validation // recipe.validation_freq),
        num_test=num_test,
        data=data,
        phases=analysis.phases,
        picture_bytes=picture_bytes if picture_bytes < _MEMORY_SHARE * limit else 0,
        limit_bytes=limit,
        num_cores=num_cores(),
    )


def steps_per_epoch(recipe: TrainingRecipe, facts: DatasetFacts | None) -> int | None:
    """Steps of an epoch; None while the number of images is not known."""
    return _steps(recipe, _parts(recipe, facts)[0])


def _steps(recipe: TrainingRecipe, num_train: int) -> int | None:
    if recipe.steps_per_epoch or not num_train:
        return recipe.steps_per_epoch
    return max(1, num_train // min(recipe.batch_size, num_train))


def _parts(recipe: TrainingRecipe, facts: DatasetFacts | None) -> tuple[int, int]:
    """Training and validation images; (0, 0) while unknown."""
    if facts is None or not facts.num_train:
        return 0, 0
    num_train, num_test = facts.num_train, facts.num_test
    if recipe.validation == "test":
        return num_train, num_test
    if recipe.validation == "none":
        return num_train, 0
    num_validation = round(num_train * recipe.validation_share)
    return num_train - num_validation, num_validation


def _precision(recipe: TrainingRecipe) -> str:
    if recipe.precision != "auto":
        return recipe.precision
    return "bfloat16" if computes_bfloat16() else "float32"


# disk room -----------------------------------------------------------------------------------
# Whether a run has room on its disk, estimated before it starts.

_LOG_BYTES = 1024 * 1024
_BYTES_PER_STEP = 24
"""Bytes of the event log for each step: loss and accuracy of a batch."""

_FEW_STEPS = 1_000_000


def needed_bytes(project: Project, analysis: Analysis) -> int:
    """Bytes that a run takes at most, with the copy that is made of a file while it is replaced:
    weights, two checkpoints and the best epoch of what is trained, and the log.
    """
    parameters, recipe = analysis.costs.parameters, project.recipe
    slots = all_optimizers()[recipe.optimizer].slots + bool(recipe.ema_decay)
    whole = BYTES_PER_NUMBER * parameters.total
    learned = BYTES_PER_NUMBER * parameters.trainable
    best = learned if recipe.keep == "best" else 0
    steps = min((recipe.steps_per_epoch or 0) * recipe.epochs, _FEW_STEPS)
    log = _LOG_BYTES + _BYTES_PER_STEP * steps
    return 2 * whole + 3 * (1 + slots) * learned + 2 * best + log


def refuse_no_room(project: Project, home: Path) -> None:
    """Refuses a run of a project that has no room in a folder, where that is known.

    Raises:
        NoRoomError: it needs more than is free.
    """
    free = _free_bytes(home)
    if free is None:
        return
    analysis = analyse(project.graph, all_layers(), recipe=project.recipe)
    needed = needed_bytes(project, analysis)
    if needed <= free:
        return
    raise NoRoomError(
        f"This run needs about {bytes_text(needed)} of disk space, {bytes_text(free)} are free.",
        where=str(home),
        fix="Free some space, or set WORKBENCH_HOME to a folder on another disk.",
    )


def _free_bytes(folder: Path) -> int | None:
    """Free bytes of the disk that a folder is on, or will be; None where that is not known."""
    for place in (folder, *folder.parents):
        try:
            return shutil.disk_usage(place).free
        except FileNotFoundError:
            continue
        except OSError:
            return None
    return None


# split memory --------------------------------------------------------------------------------
# Memory of where a project's runs have cut its split by content, so that its next run cuts there
# too.
#
# Remembered are the marks that the newest such run has logged, so that images added since join by
# their hash and none of the others moves. They are kept with the runs, not written into the project
# file behind its user's back: a training changes no file of the user's, and is the moment when the
# images are known. A project that has marks of its own (`DataEdits.split`) goes first.

_MOST_LOOKED_AT = 20
"""Runs that are looked at, the newest first: of other settings, or stopped before their start."""


def with_remembered_split(project: Project, home: Path | None = None) -> Project:
    """The project with the marks of its earlier runs, as far as it has none itself.

    Args:
        project: To be trained.
        home: Folder of its runs; the user's where None.
    """
    if project.recipe.split != "content" or not project.id:
        return project
    keys = {
        SplitRule.of(project.recipe, has_test=has_test, has_validation=has_validation).key
        for has_test, has_validation in product((False, True), repeat=2)
    }
    own = project.edits.split
    runs = [*numbered_runs(home or runs_home(), project.id).values()]
    for path in reversed(runs[-_MOST_LOOKED_AT:]):
        marks = _marks_of(RunFolder(path), project)
        if marks.made_for in keys and marks.made_for == (own.made_for or marks.made_for):
            marks = SplitMarks(marks.made_for, {**marks.bounds, **own.bounds})
            return replace(project, edits=replace(project.edits, split=marks))
    return project


def _marks_of(run: RunFolder, project: Project) -> SplitMarks:
    """What a run has logged, or was to use; none where it trained on other data."""
    try:
        requested = run.request().to_project()
    except (RunFolderError, ProjectFileError):
        return SplitMarks()
    if _data_name(requested) != _data_name(project):
        return SplitMarks()
    event = first_of(run.events_path, DataReady)
    logged = read_marks(event.split, lambda *_: None) if event is not None else SplitMarks()
    return logged or requested.edits.split


def _data_name(project: Project) -> tuple[str, str]:
    """Which data a project is on: by name, so that a folder may be moved; by its new name where it
    was renamed.
    """
    data = data_now(project.dataset)
    spec = all_datasets().get(data.key)
    return data.key, spec.name_of(data.params) if spec is not None else ""
