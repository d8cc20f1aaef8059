"""What a run will take: time and memory, from the network's costs and measured runs.

The only place that estimates. It learns from what earlier runs on this computer have measured
(`workbench.runs.state`): the steps, the frozen layers, and everything beside the epochs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import msgspec

from workbench.core.checks.costs import ALL_LEARN, BYTES_PER_NUMBER, Costs, PhaseWork
from workbench.core.format import memory_text, plural, rough_duration

# measured run --------------------------------------------------------------------------------
# How fast this computer is, learned from the runs that it has made.
#
# Of several measured runs those most like the one in question count most.

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

_COMPARABLE_HEADS = 4.0
"""Distance up to which one head on cached features says something of another: the time of small
ones is that of their steps, that of larger ones is computing.
"""

VALIDATION_SHARE = 0.35
"""Validating an image takes this part of training it: forward without backward."""


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
        is_on_features: Measured in the first phase, of a head on the cached features of the frozen
            layers: it says nothing of other runs.
        data: Identifies the data set, see `runs.state.preparing.data_mark`; "" in files of before.
        num_train, num_validation, num_test: Its images in this run; 0 where unknown.
        ahead_multiply_adds, ahead_numbers: Multiply-adds and output numbers of one image in the
            frozen layers computed ahead.
        ahead_s: Seconds of that for one image; 0 where all features were known before.
        num_copies: Augmented copies of a training image that have features; 0 without features.
        other_s: Seconds of the run that were not in epochs and not spent on frozen layers; 0
            where unknown.
        expected_other_s: What was estimated for that.
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
    is_on_features: bool = False
    data: str = ""
    num_train: int = 0
    num_validation: int = 0
    num_test: int = 0
    ahead_multiply_adds: int = 0
    ahead_numbers: int = 0
    ahead_s: float = 0.0
    num_copies: int = 0
    other_s: float = 0.0
    expected_other_s: float = 0.0


Near = list[tuple[MeasuredRun, float]]
"""Runs, and how unlike the one that is predicted each is."""


def guess_s(multiply_adds: int, numbers: int, precision: str) -> float:
    """Seconds per image, on the computer of the first guess."""
    return (
        multiply_adds * _SECONDS_PER_MULTIPLY_ADD[precision]
        + numbers * _SECONDS_PER_NUMBER[precision]
        + _SECONDS_PER_PICTURE
    )


def nearest_runs(
    measured: Sequence[MeasuredRun],
    multiply_adds: int,
    numbers: int,
    *,
    batch: int,
    precision: str,
    is_on_features: bool = False,
) -> Near:
    """The runs most like this one, and how far each is (0: the same network and batch).

    Where none trained a comparable head on cached features, runs of whole networks count for a
    head, too.
    """
    same = [run for run in measured if run.precision == precision and run.images_per_second > 0]

    def distance(run: MeasuredRun) -> float:
        between = _distance(run.multiply_adds, run.numbers, multiply_adds, numbers)
        return between + 0.3 * abs(math.log(run.batch_size / batch))

    def counts(run: MeasuredRun, distance: float, *, of_head: bool) -> bool:
        if run.is_on_features or of_head:
            return run.is_on_features and of_head and distance < _COMPARABLE_HEADS
        return not run.is_partly_frozen or distance < _SAME_WORK

    # Of equally near ones the latest: the computer or the program may have changed.
    ranked = sorted(((run, distance(run)) for run in reversed(same)), key=lambda pair: pair[1])
    near = [pair for pair in ranked if counts(*pair, of_head=is_on_features)]
    if is_on_features and not near:
        near = [pair for pair in ranked if counts(*pair, of_head=False)]
    return near[:_NEIGHBORS]


def slowness_ahead(
    measured: Sequence[MeasuredRun], multiply_adds: int, numbers: int, precision: str
) -> float | None:
    """How many times the first guess an image takes in frozen layers that are computed ahead; None
    where no run has computed such.
    """
    near = [
        (run, _distance(run.ahead_multiply_adds, run.ahead_numbers, multiply_adds, numbers))
        for run in reversed(measured)
        if run.ahead_s > 0 and run.precision == precision
    ]
    near = sorted(near, key=lambda pair: pair[1])[:_NEIGHBORS]
    if not near:
        return None
    values = [
        run.ahead_s
        / (VALIDATION_SHARE * guess_s(run.ahead_multiply_adds, run.ahead_numbers, precision))
        for run, _ in near
    ]
    return _mean(values, near)


def _distance(multiply_adds: int, numbers: int, others: int, other_numbers: int) -> float:
    return abs(math.log((multiply_adds + 1) / (others + 1))) + abs(
        math.log((numbers + 1) / (other_numbers + 1))
    )


def _mean(values: Sequence[float], near: Near) -> float:
    """The geometric mean, in which near runs count far more than distant ones."""
    weights = [1 / (0.05 + distance) ** 2 for _, distance in near]
    logs = [weight * math.log(value) for weight, value in zip(weights, values, strict=True)]
    return math.exp(sum(logs) / sum(weights))


def slowness(near: Near) -> float:
    """How many times the first guess an image takes here; `near` are some runs."""
    guesses = (guess_s(run.multiply_adds, run.numbers, run.precision) for run, _ in near)
    pairs = zip(near, guesses, strict=True)
    return _mean([1 / run.images_per_second / guess for (run, _), guess in pairs], near)


def epoch_factor(near: Near) -> float:
    """How many times as long as its computing an epoch takes."""
    return _mean([max(1.0, run.epoch_factor) for run, _ in near], near) if near else 1.0


def memory_factor(near: Near) -> float:
    """How many times the expected memory such runs have held."""
    known = [(run, distance) for run, distance in near if run.memory_bytes and run.expected_bytes]
    if not known:
        return 1.0
    return _mean([run.memory_bytes / run.expected_bytes for run, _ in known], known)


def other_factor(near: Near) -> float:
    """How many times as long as expected such runs took beside their epochs."""
    known = [(run, distance) for run, distance in near if run.other_s and run.expected_other_s]
    if not known:
        return 1.0
    return _mean([run.other_s / run.expected_other_s for run, _ in known], known)


def has_features(
    measured: Sequence[MeasuredRun],
    data: str,
    precision: str,
    *,
    multiply_adds: int,
    numbers: int,
    copies: int,
) -> bool:
    """Whether a run has kept the features of these data, which the next one reads."""
    of = data, precision, multiply_adds, numbers
    return bool(data) and any(
        run.num_copies >= copies
        and of == (run.data, run.precision, run.ahead_multiply_adds, run.ahead_numbers)
        for run in measured
    )


def images_of(measured: Sequence[MeasuredRun], data: str) -> tuple[int, int, int]:
    """How many images of a data set the latest run on it trained, validated and tested with;
    zeros where there was none.
    """
    for run in reversed(measured):
        if data and run.data == data and run.num_train:
            return run.num_train, run.num_validation, run.num_test
    return 0, 0, 0


# run estimate --------------------------------------------------------------------------------
# How long an epoch will take and what memory it needs, before anything is trained.
#
# The time of an image is taken as a sum of three parts: multiply-adds, numbers written by the
# layers, and a constant. How fast this computer is at the first two is learned from the runs it has
# made (`runs.state.preparing`); before the first one it is a guess, and called one. What is not in
# the epochs is estimated apart: the frozen layers that are computed ahead of them, and starting,
# compiling, calibration and test.

BASE_BYTES = 620_000_000
"""What a trainer holds before its first image: the process with TensorFlow."""

_LARGEST_SHARE = 0.85
"""Fraction of the available memory; the desktop needs some too."""

_START_S = 8.0
"""Starting a trainer until its first step: TensorFlow's import, building, compiling."""

FIRST_CALL_S = 3.0
"""The first images in the frozen layers take so much longer: TensorFlow builds their graph."""

_BUSY_FACTOR = 1.5
"""An epoch takes that much longer than its steps only where other programs take the cores."""

_SECONDS_PER_STEP = 5e-4
"""The least that a step takes, however small the head behind frozen layers is."""

_BYTES_SHARE = {"bfloat16": 0.6, "float32": 1.0}


@dataclass(frozen=True)
class RunEstimate:
    """What a run will take.

    Attributes:
        images_per_second: While training, in the first phase.
        epoch_s: Seconds of an epoch of the first phase with its validation; None while the number
            of images is not known.
        memory_bytes: The most the trainer will hold.
        activation_bytes: The part of that for what the layers write, and its gradients.
        limit_bytes: What a process can have here; 0 where unknown.
        fitting_batch: The largest power of two that fits; None when the batch itself fits,
            0 when none does.
        num_runs: Runs of this computer that the speed was learned from; 0: a first guess.
        num_memory_runs: Runs of this kind here that the memory was learned from; 0: computed only.
        is_live: The times are those of the run that trains now.
        was_busy: Epochs of the measured runs took far longer than their steps: other programs ran.
        is_on_features: The first phase trains a head on the cached features of frozen layers:
            speed and epochs are those of the head.
        once_s: Seconds before the first epoch, for the frozen layers; None where they are not
            computed ahead, their features are kept, or the number of images is not known.
        fine_tuning_epoch_s: As `epoch_s`, of the fine-tuning phase; None where there is none.
        total_s: Seconds of the whole run, without early stopping: all epochs, what is computed
            ahead of them, start and test; None while the number of images is not known.
    """

    images_per_second: float
    epoch_s: float | None
    memory_bytes: int
    limit_bytes: int
    fitting_batch: int | None
    num_runs: int
    is_on_features: bool = False
    once_s: float | None = None
    fine_tuning_epoch_s: float | None = None
    total_s: float | None = None
    activation_bytes: int = 0
    num_memory_runs: int = 0
    is_live: bool = False
    was_busy: bool = False

    def measured(self, images_per_second: float, epoch_s: float | None, epochs: int) -> Self:
        """The same for a run of so many `epochs` that trains now, by its own figures.

        Args:
            images_per_second: Its speed.
            epoch_s: What its latest epochs took; None before the first has ended.
            epochs: Those it is to have.
        """
        before_s = self.epoch_s
        if not self.is_even or before_s is None:
            return self
        now_s = epoch_s or before_s * self.images_per_second / images_per_second
        total_s = None if self.total_s is None else self.total_s + epochs * (now_s - before_s)
        return replace(
            self,
            images_per_second=images_per_second,
            epoch_s=now_s,
            total_s=total_s,
            is_live=True,
        )

    @property
    def is_even(self) -> bool:
        """Whether the run is nothing but epochs of one length."""
        return not self.is_on_features and self.fine_tuning_epoch_s is None

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
        usable = memory_text(round(_LARGEST_SHARE * self.limit_bytes))
        words = (
            f"Does not fit: needs about {memory_text(self.memory_bytes)}, and training can use "
            f"{usable} of {memory_text(self.limit_bytes)}; other programs need the rest."
        )
        if self.fitting_batch:
            return f"{words} Try a batch of {self.fitting_batch:,}."
        return f"{words} No batch size fits: make the model smaller."

    def sentence(self) -> str:
        """The estimate as a sentence: "About 12 s per epoch, 2 min in all, training memory 1.3 GB
        of 24.0 GB.".
        """
        return self.trouble or f"{self.time_words()}, training memory {self.memory_words}."

    def time_words(self) -> str:
        """How long its parts take: "About 0.3 s per epoch after 40 s for the frozen layers, then 50
        s per epoch of fine-tuning, 5 min in all".
        """
        if self.epoch_s is None:
            what = ", head on cached features" if self.is_on_features else ""
            return f"About {float(f'{self.images_per_second:.2g}'):,.0f} images/s{what}"
        words = f"About {rough_duration(self.epoch_s)} per epoch"
        if self.once_s is not None:
            words += f" after {rough_duration(self.once_s)} for the frozen layers"
        if self.fine_tuning_epoch_s is not None:
            words += f", then {rough_duration(self.fine_tuning_epoch_s)} per epoch of fine-tuning"
        return words if self.total_s is None else f"{words}, {rough_duration(self.total_s)} in all"

    def basis(self) -> str:
        """Source of the times, in words."""
        if self.is_live:
            return "measured in the run that trains now"
        if not self.num_runs:
            return "rough estimate: no run on this computer yet"
        busy = ", which was busy then" * self.was_busy
        return f"estimated from {plural(self.num_runs, 'run')} on this computer{busy}"

    def memory_basis(self) -> str:
        """Source of the memory figure, in words."""
        if not self.num_memory_runs:
            return "estimated from the layers: no run of this kind on this computer yet"
        return f"estimated from {plural(self.num_memory_runs, 'run')} of this kind on this computer"


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
    activations = activation_bytes(costs, precision) / max(1, costs_batch) * batch_size
    return BASE_BYTES + costs.weight_bytes + round(activations)


def activation_bytes(costs: Costs, precision: str) -> float:
    """Bytes of the layers' outputs that a training keeps, and of their gradients, at the batch of
    the costs.
    """
    return (costs.memory_bytes - costs.weight_bytes) * _BYTES_SHARE[precision]


def other_seconds(costs: Costs, precision: str, num_test: int) -> float:
    """Seconds of a run that are not in its epochs, a first guess: the start, and the test."""
    forward = guess_s(costs.multiply_adds, numbers_per_picture(costs), precision)
    return _START_S + VALIDATION_SHARE * num_test * forward


def predict(
    costs: Costs,
    measured: Sequence[MeasuredRun],
    *,
    batch_size: int,
    precision: str,
    steps_per_epoch: int | None,
    num_train: int = 0,
    num_validation: int = 0,
    num_test: int = 0,
    data: str = "",
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
        num_test: Images of the test.
        data: Identifies the data set, as in `MeasuredRun`.
        picture_bytes: Bytes of all images that are held in memory.
        limit_bytes: Memory a process can have; 0 where unknown.
        num_cores: Cores at work, for the first guess.
        phases: What each phase computes, one or two.
    """
    speeds = [
        _PhaseSpeed.of(
            costs, work, measured,
            batch=batch_size, precision=precision, num_cores=num_cores, data=data,
            is_on_features=work is phases[0] and bool(work.copies),
        )
        for work in phases
    ]  # fmt: skip
    near = speeds[0].near
    # The last phase holds most, and runs of another kind say nothing of it.
    is_head = len(speeds) == 1 and bool(phases[0].copies)
    alike = [pair for pair in speeds[-1].near if pair[0].is_on_features == is_head]

    def needed(batch: int) -> int:
        plain = memory_needed(costs, costs_batch=batch_size, batch_size=batch, precision=precision)
        return round(plain * memory_factor(alike)) + picture_bytes

    room = _LARGEST_SHARE * limit_bytes if limit_bytes else math.inf
    fits = needed(batch_size) <= room
    epochs_s, once_s = [], []
    if steps_per_epoch:
        num_steps = steps_per_epoch * batch_size
        epochs_s = [each.epoch_s(num_steps, num_validation) for each in speeds]
        once_s = [each.once_s(num_train, num_validation) for each in speeds]
    other_s = other_seconds(costs, precision, num_test) * other_factor(near)
    times = zip(phases, epochs_s, once_s, strict=False)
    return RunEstimate(
        images_per_second=1 / speeds[0].train_s,
        epoch_s=epochs_s[0] if epochs_s else None,
        memory_bytes=needed(batch_size),
        limit_bytes=limit_bytes,
        fitting_batch=None if fits else _largest(batch_size, lambda b: needed(b) <= room),
        num_runs=max(len(each.near) for each in speeds),
        is_on_features=bool(phases[0].copies),
        once_s=(once_s[0] or None) if once_s else None,
        fine_tuning_epoch_s=epochs_s[-1] if len(epochs_s) > 1 else None,
        total_s=other_s + sum(w.epochs * e + once for w, e, once in times) if epochs_s else None,
        activation_bytes=min(
            needed(batch_size), round(activation_bytes(costs, precision) * memory_factor(alike))
        ),
        num_memory_runs=sum(run.memory_bytes > 0 and run.expected_bytes > 0 for run, _ in alike),
        was_busy=epoch_factor(near) > _BUSY_FACTOR,
    )


@dataclass(frozen=True)
class _PhaseSpeed:
    """How fast the images of one phase are computed.

    Attributes:
        work: Which layers that are.
        near: The runs it was learned from.
        train_s, validation_s: Seconds for an image of a training step, of a validation.
        ahead_s: Seconds for an image that the frozen part computes once; 0 where that is known.
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
        data: str,
        is_on_features: bool,
    ) -> Self:
        """The speed of a phase: frozen layers are computed forward only, or not at all."""
        ahead = sum(costs.nodes[key].multiply_adds for key in work.frozen)
        numbers_ahead = numbers_per_picture(costs, work.frozen)
        multiply_adds, numbers = computed_in_steps(costs, work)
        near = nearest_runs(
            measured, multiply_adds, numbers,
            batch=batch, precision=precision, is_on_features=is_on_features,
        )  # fmt: skip
        first_guess = 2 / max(1, num_cores)
        slow = slowness(near) if near else first_guess
        seconds = guess_s(multiply_adds, numbers, precision) * slow
        if work.frozen:
            seconds = max(seconds, _SECONDS_PER_STEP / batch)
        behind = costs.multiply_adds - ahead, numbers_per_picture(costs) - numbers_ahead
        validation = VALIDATION_SHARE * slow * guess_s(*behind, precision)
        whole = nearest_runs(
            measured, costs.multiply_adds, numbers_per_picture(costs),
            batch=batch, precision=precision,
        )  # fmt: skip
        plain = [pair for pair in whole if not pair[0].is_partly_frozen]
        forward = slowness_ahead(measured, ahead, numbers_ahead, precision)
        forward = forward or (slowness(plain) if plain else first_guess)
        once = VALIDATION_SHARE * forward * guess_s(ahead, numbers_ahead, precision)
        of = {"multiply_adds": ahead, "numbers": numbers_ahead, "copies": work.copies}
        is_known = work.copies > 0 and has_features(measured, data, precision, **of)
        in_step = once * (not work.copies)
        return cls(work, near, seconds, validation + in_step, once * (not is_known))

    def epoch_s(self, num_trained: int, num_validated: int) -> float:
        """Seconds of an epoch of so many images."""
        computed_s = num_trained * self.train_s + num_validated * self.validation_s
        return computed_s * epoch_factor(self.near)

    def once_s(self, num_train: int, num_validation: int) -> float:
        """Seconds before the first epoch, for data of so many images."""
        if not self.work.copies:
            return 0.0
        num_images = self.work.copies * num_train + num_validation
        return (FIRST_CALL_S + num_images * self.ahead_s) if self.ahead_s else 0.0


def _largest(batch: int, fits: Callable[[int], bool]) -> int:
    """The largest power of two below `batch` that fits; 0 when none does."""
    size = 1 << max(0, (batch - 1).bit_length() - 1)
    while size and not fits(size):
        size //= 2
    return size
