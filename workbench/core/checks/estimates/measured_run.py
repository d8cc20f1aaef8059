"""How fast this computer is, learned from the runs that it has made.

Of several measured runs those most like the one in question count most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

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
        data: Identifies the data set, see `runs.state.throughput.data_mark`; "" in files of before.
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
