"""How long an epoch will take and what memory it needs, before anything is trained.

The time of an image is taken as a sum of three parts: multiply-adds, numbers written by the
layers, and a constant. How fast this computer is at the first two is learned from the runs it
has made (`runs.state.throughput`); before the first one it is a guess, and called one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import msgspec

from workbench.core.checks.costs import BYTES_PER_NUMBER, Costs
from workbench.core.checks.frozen import ALL_LEARN, PhaseWork
from workbench.core.format import memory_text, plural, rough_duration

BASE_BYTES = 620_000_000
"""What a trainer holds before its first image: the process with TensorFlow."""

_LARGEST_SHARE = 0.85
"""Fraction of the available memory; the desktop needs some too."""

_NEIGHBORS = 5
_SAME_WORK = 0.5
"""Distance of runs that compute about the same in a step. One with frozen layers counts for no
other: the part of a network that is fine-tuned may be one that is slow for its size.
"""

_SECONDS_PER_MULTIPLY_ADD = {"bfloat16": 8.7e-12, "float32": 3.4e-11}
_SECONDS_PER_NUMBER = {"bfloat16": 7.7e-10, "float32": 1.9e-9}
_SECONDS_PER_PICTURE = 1e-5
"""First guesses, of two cores of a processor of 2023; only ratios between networks matter
once a run is known."""

_SECONDS_PER_STEP = 5e-4
"""The least that a step takes, however small the head behind frozen layers is."""

VALIDATION_SHARE = 0.35
"""Validating an image takes this part of training it: forward without backward."""

_BYTES_SHARE = {"bfloat16": 0.6, "float32": 1.0}


class MeasuredRun(msgspec.Struct, frozen=True, kw_only=True):
    """The speed of its computer, as measured in a run that goes on or is over.

    Attributes:
        multiply_adds: Multiply-adds of one forward pass of one image, see `computed_in_steps`.
        numbers: Numbers that all layers write for one image, see there.
        batch_size: Images per step.
        precision: "float32" or "bfloat16".
        images_per_second: While training.
        memory_bytes: The most the trainer held; 0 where unknown.
        expected_bytes: What `memory_needed` said at that time.
        run: Name of the run; "" in files of before.
        epoch_factor: How many times as long as its computing an epoch has taken: with what the
            trainer does between the steps, and other programs.
        is_partly_frozen: Measured in a phase in which some layers did not learn.
    """

    multiply_adds: int
    numbers: int
    batch_size: int
    precision: str
    images_per_second: float
    memory_bytes: int = 0
    expected_bytes: int = 0
    run: str = ""
    epoch_factor: float = 1.0
    is_partly_frozen: bool = False


Near = list[tuple[MeasuredRun, float]]
"""Runs, and how unlike the one that is predicted each is."""


@dataclass(frozen=True)
class RunEstimate:
    """What a run will take.

    Attributes:
        images_per_second: While training, in the first phase.
        epoch_s: Seconds of an epoch of the first phase with its validation; None while the number
            of images is not known.
        memory_bytes: The most the trainer will hold.
        limit_bytes: What a process can have here; 0 where unknown.
        fitting_batch: The largest power of two that fits; None when the batch itself fits,
            0 when none does.
        num_runs: Runs of this computer that the speed was learned from; 0: a first guess.
        once_s: Seconds before the first epoch, for the frozen layers; None where they are not
            computed ahead, or while the number of images is not known.
        fine_tuning_epoch_s: As `epoch_s`, of the fine-tuning phase; None where there is none.
        total_s: Seconds of all epochs of all phases, without early stopping, and of what is
            computed ahead of them; None while the number of images is not known.
    """

    images_per_second: float
    epoch_s: float | None
    memory_bytes: int
    limit_bytes: int
    fitting_batch: int | None
    num_runs: int
    once_s: float | None = None
    fine_tuning_epoch_s: float | None = None
    total_s: float | None = None

    @property
    def is_even(self) -> bool:
        """Whether the run is nothing but epochs of one length."""
        return self.once_s is None and self.fine_tuning_epoch_s is None

    @property
    def fits(self) -> bool:
        """Whether there is enough memory."""
        return self.fitting_batch is None

    @property
    def memory_words(self) -> str:
        """What is needed and what is there: "1.3 GB of 24.0 GB"."""
        needed = memory_text(self.memory_bytes)
        return f"{needed} of {memory_text(self.limit_bytes)}" if self.limit_bytes else needed

    @property
    def trouble(self) -> str:
        """Why a run will not fit and what would; "" when it does."""
        if self.fits:
            return ""
        words = f"Does not fit: needs {self.memory_words}."
        if self.fitting_batch:
            return f"{words} Try a batch of {self.fitting_batch:,}."
        return f"{words} No batch size fits: make the model smaller."

    def sentence(self) -> str:
        """As people write them: "About 12 s per epoch, 2 min in all, training memory 1.3 GB of 24.0
        GB.".
        """
        return self.trouble or f"{self.time_words()}, training memory {self.memory_words}."

    def time_words(self) -> str:
        """How long its parts take: "About 0.3 s per epoch after 40 s for the frozen layers, then 50
        s per epoch of fine-tuning, 5 min in all".
        """
        if self.epoch_s is None:
            return f"About {float(f'{self.images_per_second:.2g}'):,.0f} images/s"
        words = f"About {rough_duration(self.epoch_s)} per epoch"
        if self.once_s is not None:
            words += f" after {rough_duration(self.once_s)} for the frozen layers"
        if self.fine_tuning_epoch_s is not None:
            words += f", then {rough_duration(self.fine_tuning_epoch_s)} per epoch of fine-tuning"
        return words if self.total_s is None else f"{words}, {rough_duration(self.total_s)} in all"

    def basis(self) -> str:
        """Where the figures come from, in words."""
        if not self.num_runs:
            return "rough estimate: no run on this computer yet"
        return f"estimated from {plural(self.num_runs, 'run')} on this computer"


def numbers_per_picture(costs: Costs, nodes: Iterable[str] | None = None) -> int:
    """How many numbers some layers write for one image; all where none are given."""
    chosen = costs.nodes if nodes is None else nodes
    return sum(costs.nodes[key].activation_bytes for key in chosen) // BYTES_PER_NUMBER


def computed_in_steps(costs: Costs, work: PhaseWork) -> tuple[int, int]:
    """Multiply-adds of an image in a training step, and numbers written, in forward passes of
    layers that learn: frozen ones, which have no backward pass, count as a part of one.
    """
    ahead = sum(costs.nodes[key].multiply_adds for key in work.frozen)
    numbers_ahead = numbers_per_picture(costs, work.frozen)
    left_out = 1.0 if work.copies else 1.0 - VALIDATION_SHARE
    multiply_adds = costs.multiply_adds - round(left_out * ahead)
    return multiply_adds, numbers_per_picture(costs) - round(left_out * numbers_ahead)


def memory_needed(costs: Costs, *, costs_batch: int, batch_size: int, precision: str) -> int:
    """Bytes a trainer will hold at a batch size, without its images; `costs` were estimated
    for the batch `costs_batch`.
    """
    per_picture = (costs.memory_bytes - costs.weight_bytes) / max(1, costs_batch)
    activations = per_picture * batch_size * _BYTES_SHARE[precision]
    return BASE_BYTES + costs.weight_bytes + round(activations)


def predict(
    costs: Costs,
    measured: Sequence[MeasuredRun],
    *,
    batch_size: int,
    precision: str,
    steps_per_epoch: int | None,
    num_train: int = 0,
    num_validation: int = 0,
    picture_bytes: int = 0,
    limit_bytes: int = 0,
    num_cores: int = 2,
    phases: Sequence[PhaseWork] = (ALL_LEARN,),
) -> RunEstimate:
    """Predicts a run.

    Args:
        costs: Costs of the network, estimated for `batch_size`.
        measured: Finished runs of this computer.
        batch_size: Images per step.
        precision: "float32" or "bfloat16".
        steps_per_epoch: Steps of an epoch; None while it is not known.
        num_train: Training images; 0 while unknown.
        num_validation: Images validated after each epoch.
        picture_bytes: Bytes of all images that are held in memory.
        limit_bytes: Memory a process can have; 0 where unknown.
        num_cores: Cores at work, for the first guess.
        phases: What each phase computes, one or two.
    """
    speeds = [
        _PhaseSpeed.of(
            costs, work, measured, batch=batch_size, precision=precision, num_cores=num_cores
        )
        for work in phases
    ]
    near = speeds[0].near

    def needed(batch: int) -> int:
        plain = memory_needed(costs, costs_batch=batch_size, batch_size=batch, precision=precision)
        return round(plain * _memory_factor(near)) + picture_bytes

    room = _LARGEST_SHARE * limit_bytes if limit_bytes else math.inf
    fits = needed(batch_size) <= room
    epochs_s, once_s = [], []
    if steps_per_epoch:
        num_steps = steps_per_epoch * batch_size
        epochs_s = [each.epoch_s(num_steps, num_validation) for each in speeds]
        once_s = [each.once_s(num_train, num_validation) for each in speeds]
    times = zip(phases, epochs_s, once_s, strict=False)
    return RunEstimate(
        images_per_second=1 / speeds[0].train_s,
        epoch_s=epochs_s[0] if epochs_s else None,
        memory_bytes=needed(batch_size),
        limit_bytes=limit_bytes,
        fitting_batch=None if fits else _largest(batch_size, lambda b: needed(b) <= room),
        num_runs=max(len(each.near) for each in speeds),
        once_s=(once_s[0] or None) if once_s else None,
        fine_tuning_epoch_s=epochs_s[-1] if len(epochs_s) > 1 else None,
        total_s=sum(w.epochs * e + once for w, e, once in times) if epochs_s else None,
    )


@dataclass(frozen=True)
class _PhaseSpeed:
    """How fast the images of one phase are computed.

    Attributes:
        work: Which layers that are.
        near: The runs it was learned from.
        train_s, validation_s: Seconds for an image of a training step, of a validation.
        ahead_s: Seconds for an image that the frozen part computes once.
    """

    work: PhaseWork
    near: Near
    train_s: float
    validation_s: float
    ahead_s: float

    @classmethod
    def of(
        cls,
        costs: Costs,
        work: PhaseWork,
        measured: Sequence[MeasuredRun],
        *,
        batch: int,
        precision: str,
        num_cores: int,
    ) -> Self:
        """The speed of a phase: frozen layers are computed forward only, or not at all."""
        ahead = sum(costs.nodes[key].multiply_adds for key in work.frozen)
        numbers_ahead = numbers_per_picture(costs, work.frozen)
        multiply_adds, numbers = computed_in_steps(costs, work)
        near = _nearest(measured, multiply_adds, numbers, batch, precision)
        slowness = _slowness(near) if near else 2 / max(1, num_cores)
        seconds = _guess(multiply_adds, numbers, precision) * slowness
        if work.frozen:
            seconds = max(seconds, _SECONDS_PER_STEP / batch)
        behind = costs.multiply_adds - ahead, numbers_per_picture(costs) - numbers_ahead
        validation = VALIDATION_SHARE * slowness * _guess(*behind, precision)
        plain = [pair for pair in near if not pair[0].is_partly_frozen]
        forward = _slowness(plain) if plain else 2 / max(1, num_cores)
        once = VALIDATION_SHARE * forward * _guess(ahead, numbers_ahead, precision)
        return cls(work, near, seconds, validation + once * (not work.copies), once)

    def epoch_s(self, num_trained: int, num_validated: int) -> float:
        """Seconds of an epoch of so many images."""
        computed_s = num_trained * self.train_s + num_validated * self.validation_s
        return computed_s * _epoch_factor(self.near)

    def once_s(self, num_train: int, num_validation: int) -> float:
        """Seconds before the first epoch, for data of so many images."""
        if not self.work.copies:
            return 0.0
        return (self.work.copies * num_train + num_validation) * self.ahead_s


def _guess(multiply_adds: int, numbers: int, precision: str) -> float:
    """Seconds per image, on the computer of the first guess."""
    return (
        multiply_adds * _SECONDS_PER_MULTIPLY_ADD[precision]
        + numbers * _SECONDS_PER_NUMBER[precision]
        + _SECONDS_PER_PICTURE
    )


def _nearest(
    measured: Sequence[MeasuredRun], multiply_adds: int, numbers: int, batch: int, precision: str
) -> Near:
    """The runs most like this one, and how far each is (0: the same network and batch)."""
    same = [run for run in measured if run.precision == precision and run.images_per_second > 0]

    def distance(run: MeasuredRun) -> float:
        return (
            abs(math.log((run.multiply_adds + 1) / (multiply_adds + 1)))
            + abs(math.log((run.numbers + 1) / (numbers + 1)))
            + 0.3 * abs(math.log(run.batch_size / batch))
        )

    # Of equally near ones the latest: the computer or the program may have changed.
    ranked = sorted(((run, distance(run)) for run in reversed(same)), key=lambda pair: pair[1])
    counting = [pair for pair in ranked if not pair[0].is_partly_frozen or pair[1] < _SAME_WORK]
    return counting[:_NEIGHBORS]


def _mean(values: Sequence[float], near: Near) -> float:
    """The geometric mean, in which near runs count far more than distant ones."""
    weights = [1 / (0.05 + distance) ** 2 for _, distance in near]
    logs = [weight * math.log(value) for weight, value in zip(weights, values, strict=True)]
    return math.exp(sum(logs) / sum(weights))


def _slowness(near: Near) -> float:
    """How many times the first guess an image takes here."""
    guesses = (_guess(run.multiply_adds, run.numbers, run.precision) for run, _ in near)
    pairs = zip(near, guesses, strict=True)
    return _mean([1 / run.images_per_second / guess for (run, _), guess in pairs], near)


def _epoch_factor(near: Near) -> float:
    return _mean([max(1.0, run.epoch_factor) for run, _ in near], near) if near else 1.0


def _memory_factor(near: Near) -> float:
    known = [(run, distance) for run, distance in near if run.memory_bytes and run.expected_bytes]
    if not known:
        return 1.0
    return _mean([run.memory_bytes / run.expected_bytes for run, _ in known], known)


def _largest(batch: int, fits: Callable[[int], bool]) -> int:
    """The largest power of two below `batch` that fits; 0 when none does."""
    size = 1 << max(0, (batch - 1).bit_length() - 1)
    while size and not fits(size):
        size //= 2
    return size
