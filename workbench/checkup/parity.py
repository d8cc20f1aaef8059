"""Do two targets train alike? The same first steps on both, and where they part.

Both are real runs: what agrees here is what a training does there, images, order, network,
loss, optimizer and the sum over the replicas. They differ in the order in which numbers are
added, so equal means within a tolerance.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from workbench.core.params import check_all
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.texts import target_text
from workbench.errors import RunError, UsageError
from workbench.layers import all_layers
from workbench.protocol.events import RunStarted
from workbench.protocol.wire import error_from_parts
from workbench.remote.ssh.saved_hosts import label_of
from workbench.runs.control import request_stop
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.home import data_home
from workbench.runs.library.compare import compare_runs
from workbench.runs.log.event_log import first_of, read_all
from workbench.runs.log.history import MetricHistory
from workbench.runs.start import start_trainer
from workbench.runs.state.outcome import outcome_of
from workbench.runs.store.weights_file import checkpoint_room, read_arrays
from workbench.runs.trust import place_of, remember
from workbench.targets import all_targets

Verdict = Literal["agree", "explained", "differ"]
Pair = tuple[RunFolder, RunFolder]

TOLERANCES = {"float32": (1e-3, 2e-2), "bfloat16": (3e-2, 2e-1)}
"""Precision -> how far losses, and weights, may be apart: as a share of the loss (of 1 where
it is smaller), and of the largest value in the same array of weights."""

_KEPT_PAIRS = 5


@dataclass(frozen=True)
class ParityReport:
    """How far two runs are apart.

    Attributes:
        targets: Their TARGET texts.
        runs: Their folders.
        steps: Steps compared.
        precision: Precision of the first target.
        max_loss_difference: Largest difference of their losses; infinite where only one is a
            number.
        at_step: Where that was, from 1.
        max_weight_difference: Largest difference of two weights in the end, as a share of the
            largest value in their array.
        weights: The array's name.
        first_step: First step whose losses are too far apart; None for none.
        verdict: agree; explained (they differ, as they must with `explained_by`); differ.
        explained_by: Names of layers that compute otherwise on several replicas.
        words: The verdict for people.
    """

    targets: tuple[str, str]
    runs: tuple[str, str]
    steps: int
    precision: str
    max_loss_difference: float
    at_step: int
    max_weight_difference: float
    weights: str
    first_step: int | None
    verdict: Verdict
    explained_by: tuple[str, ...]
    words: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: a difference that is no number is null."""
        plain = asdict(self)
        for key in ("max_loss_difference", "max_weight_difference"):
            plain[key] = plain[key] if math.isfinite(plain[key]) else None
        return plain


def without_chance(project: Project) -> Project:
    """The project with layers that draw in the model, such as Dropout, switched off."""
    graph = project.graph
    for node in project.graph.nodes.values():
        spec = all_layers().get(node.kind)
        if spec is not None and spec.randomness:
            graph = graph.with_params(node.id, **{spec.randomness: 0.0})
    return replace(project, graph=graph)


def comparable(project: Project, targets: tuple[Choice, Choice], steps: int) -> Project:
    """The project's first steps, without what may be chosen differently on two targets.

    Args:
        project: Network, recipe and images.
        targets: Where it will be trained: their replicas must share a batch evenly.
        steps: How many.

    Raises:
        UsageError: no batch of the recipe's size can be shared by all replicas.
    """
    recipe = project.recipe
    shared = math.lcm(*(_replicas(target) for target in targets))
    batch = recipe.batch_size - recipe.batch_size % shared
    if not batch:
        raise UsageError(
            "The batch size is smaller than the number of replicas.",
            received=f"a batch size of {recipe.batch_size:,}",
            expected=f"{shared:,} or more",
        )
    precision = "float32" if recipe.precision == "auto" else recipe.precision
    return replace(
        project,
        recipe=recipe.with_values(
            epochs=1,
            steps_per_epoch=steps,
            batch_size=batch,
            validation="none",
            keep="last",
            early_stopping_patience=None,
            precision=precision,
            xla="off",
        ),
    )


def train_pair(
    project: Project,
    targets: tuple[Choice, Choice],
    steps: int,
    *,
    on_progress: Callable[[str], None] = lambda words: None,
    on_run: Callable[[RunFolder], None] = lambda run: None,
    wait: Callable[[], None],
) -> Pair:
    """Trains the first steps on both targets, one after another, in runs of their own.

    Args:
        project: What to train.
        targets: Where.
        steps: How many.
        on_progress: Called with what is being done, as text.
        on_run: Called with each run before it is trained.
        wait: Called again and again meanwhile; waits a moment, or raises to end it.

    Raises:
        WorkbenchError: one of them could not train; of the trainer's own class.
    """
    project = comparable(project, targets, steps)
    home = data_home() / "agreement"
    _forget_old(home)
    runs = []
    for target in targets:
        on_progress(f"Training {steps:,} steps on {label_of(target)}")
        run = create_run(replace(project, target=target), home=home, title="Agreement")
        on_run(run)
        train_to_end(run, wait)
        runs.append(run)
    return runs[0], runs[1]


def train_to_end(run: RunFolder, wait: Callable[[], None], *, resume: bool = False) -> None:
    """Starts a run's trainer on the target that was chosen for it, and waits for its end; raises
    what it failed by.
    """
    remember(place_of(run))
    start_trainer(run, resume=resume)
    wait_for_end(run, wait)
    finished = history_of(run).finished
    if finished is not None and finished.error is not None:
        raise error_from_parts(finished.error)
    if finished is None or finished.outcome == "failed":
        raise RunError(outcome_of(run).sentence(), where=str(run.path))


def wait_for_end(run: RunFolder, wait: Callable[[], None]) -> None:
    """Waits until no trainer works on a run; requests a stop when `wait` raises."""
    try:
        while run.is_alive():
            wait()
    except BaseException:
        request_stop(run)
        raise


def _forget_old(home: Path) -> None:
    """Keeps the runs of the latest checks only."""
    runs = sorted(path for path in home.glob("*") if path.is_dir())
    for path in runs[: -2 * _KEPT_PAIRS]:
        if not RunFolder(path).is_alive():
            shutil.rmtree(path, ignore_errors=True)  # what stays only takes room


def _replicas(target: Choice) -> int:
    spec = all_targets()[target.key]
    return spec.replicas(check_all(spec.params, target.params)[0])


def agreement_of(pair: Pair) -> ParityReport:
    """Compares two runs of the same steps.

    Raises:
        RunError: they have no step in common.
        WorkbenchError: a run's files cannot be read.
    """
    left, right = (history_of(run).losses for run in pair)
    steps = min(len(left), len(right))
    if not steps:
        raise RunError("The runs have no training step in common.", where=str(pair[1].path))
    precision = _precision(pair[0])
    allowed, allowed_weights = TOLERANCES[precision]
    far = _differences(left[:steps], right[:steps])
    scale = np.maximum(1.0, np.fmax(np.abs(left[:steps]), np.abs(right[:steps])))
    over = np.flatnonzero(far > allowed * np.nan_to_num(scale, nan=1.0))
    weights, weight_far = _weights_apart(pair)
    is_same = not over.size and weight_far <= allowed_weights
    explained = () if is_same else tuple(_explaining(pair))
    asked = () if is_same else tuple(_asked_otherwise(pair))
    verdict: Verdict = "agree" if is_same else "explained" if explained and not asked else "differ"
    worst = int(np.argmax(far))
    found = ParityReport(
        targets=(_target(pair[0]), _target(pair[1])),
        runs=(str(pair[0].path), str(pair[1].path)),
        steps=steps,
        precision=precision,
        max_loss_difference=float(far[worst]),
        at_step=worst + 1,
        max_weight_difference=weight_far,
        weights=weights,
        first_step=int(over[0]) + 1 if over.size else None,
        verdict=verdict,
        explained_by=explained,
        words="",
    )
    return replace(found, words=_words(found, asked))


def _differences(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Between values; 0 where both are no numbers, infinite where one is."""
    far = np.abs(left.astype(np.float64) - right.astype(np.float64))
    both = ~np.isfinite(left) & ~np.isfinite(right)
    return np.where(both, 0.0, np.where(np.isfinite(far), far, np.inf))


def _weights_apart(pair: Pair) -> tuple[str, float]:
    """The array that is furthest apart, and how far as a share of its largest value."""
    left, right = (read_arrays(run.weights_path, max_bytes=checkpoint_room(run)) for run in pair)
    if left.keys() != right.keys():
        return "the names of the weights", math.inf
    worst = ("", 0.0)
    for name, array in left.items():
        other = right[name]
        if array.shape != other.shape:
            return name, math.inf
        if not array.size:
            continue
        largest = float(np.nanmax(np.abs(array))) or 1.0
        share = float(_differences(array, other).max()) / largest
        worst = max(worst, (name, share), key=lambda pair: pair[1])
    return worst


def _explaining(pair: Pair) -> Iterator[str]:
    """Layers that compute otherwise on another number of replicas."""
    counts = [
        started.replicas for run in pair if (started := first_of(run.events_path, RunStarted))
    ]
    if len(set(counts)) < 2:
        return
    for node in pair[0].request().to_project().graph.nodes.values():
        spec = all_layers().get(node.kind)
        if spec is None:
            continue
        params = {**spec.defaults(), **node.params}
        if spec.has_batch_statistics or params.get(spec.randomness):
            yield node.name


def _asked_otherwise(pair: Pair) -> Iterator[str]:
    """The settings in which the two differ, although they should not."""
    for section in compare_runs(*pair).sections:
        if section.key in {"graph", "recipe", "data", "seed"} and not section.is_equal:
            yield section.title
    started = [first_of(run.events_path, RunStarted) for run in pair]
    if len({event.precision for event in started if event}) > 1:
        yield "Precision"


def _words(found: ParityReport, asked: tuple[str, ...]) -> str:
    figures = (
        f"over {found.steps:,} steps, losses differ by at most {found.max_loss_difference:.2g}, "
        f"final weights by {100 * found.max_weight_difference:.2g}%"
    )
    if found.verdict == "agree":
        return f"The two targets train identically: {figures}."
    where = f"from step {found.first_step:,} on" if found.first_step else "in the weights"
    start = f"The two targets differ {where}: {figures} ({found.weights})."
    if asked:
        return f"{start} Their settings differ: {', '.join(asked).lower()}."
    if found.verdict == "explained":
        return (
            f"{start} This is expected with {_listed(found.explained_by)}: each replica draws its "
            "own mask, or normalizes over its own part of the batch. To rule out other causes, "
            "compare without them (`--without-chance` turns random layers off)."
        )
    return f"{start} {_advice(found)}"


def _advice(found: ParityReport) -> str:
    if found.first_step == 1:
        return (
            "The first step already differs: images, initial weights or precision are not the "
            "same. Find the cause before training there."
        )
    if found.first_step == 2:
        return (
            "The first step agrees, but not its update: gradients are summed or applied "
            "incorrectly. Find the cause before training there."
        )
    return (
        "They diverge later: growing rounding errors at a high learning rate, or an error in "
        "some batches only. Try again with a tenth of the learning rate."
    )


def _listed(names: tuple[str, ...]) -> str:
    known = ", ".join(names[:3])
    return known if len(names) <= 3 else f"{known} and {len(names) - 3:,} more"


def history_of(run: RunFolder) -> MetricHistory:
    """All events of a run so far."""
    history = MetricHistory()
    history.add_all(read_all(run.events_path))
    return history


def _precision(run: RunFolder) -> str:
    started = first_of(run.events_path, RunStarted)
    return started.precision if started is not None else "float32"


def _target(run: RunFolder) -> str:
    return target_text(run.request().to_project().target, all_targets())
