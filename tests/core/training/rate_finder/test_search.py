"""The search by short trainings, replayed over what real networks measured.

The recordings are made by `tests/benchmarks/_finder_record.py`: two networks whose rates an
earlier finder, which knew the sweep alone, got wrong.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.core.training.rate_finder import (
    Descent,
    Lengths,
    Outcome,
    RateSearch,
    Trial,
    accuracy_error,
    answer_words,
    first_descent,
    lengths_of,
)

HERE = Path(__file__).parent


@dataclass
class Recording:
    """A recorded network; trials are looked up, rates between two of the grid at the nearest."""

    plain: dict[str, Any]
    made: list[tuple[float, int]] = field(default_factory=list)

    def descent(self, key: str = "sweep") -> Descent | None:
        sweep = self.plain[key]
        losses = [np.nan if loss is None else loss for loss in sweep["losses"]]
        return first_descent(np.array(sweep["rates"]), np.array(losses))

    def train(self, rate: float, steps: int) -> Trial:
        self.made.append((rate, steps))
        known = self.plain["trials"][str(steps)]
        near = min(known, key=lambda key: abs(np.log(float(key) / rate)))
        tail = np.array(known[near])
        if not len(tail):
            return Trial(rate, steps, np.array([np.nan]), np.array([0.0]))
        accuracies = np.concatenate([np.zeros(steps - len(tail)), tail])
        return Trial(rate, steps, np.full(steps, 1.0), accuracies)

    def search(self, present: float) -> Outcome:
        descent, plain = self.descent(), self.plain
        return RateSearch(
            train=self.train,
            present=present,
            start=None if descent is None else descent.start,
            lengths=lengths_of(plain["total_steps"], plain["batch_size"]),
            chance=plain["chance"],
            batch_size=plain["batch_size"],
        ).run()


def _recording(name: str) -> Recording:
    return Recording(json.loads((HERE / f"{name}.json").read_text(encoding="utf-8")))


# the two networks that were told wrong rates ----------------------------------------------


def test_the_first_descent_of_fashion_ends_before_its_hump() -> None:
    recording = _recording("fashion_convnet")
    rates, losses = (recording.plain["whole_sweep"][key] for key in ("rates", "losses"))
    assert rates[int(np.argmin(losses))] > 3e-3, "the second valley is the deeper one"
    for sweep in ("sweep", "whole_sweep"):
        descent = recording.descent(sweep)
        assert descent is not None
        assert 2e-5 < descent.rate < 3e-4


@pytest.mark.parametrize("present", [0.001, 1e-5, 0.0058, 0.1])
def test_fashion_is_told_a_rate_that_trains_well(present: float) -> None:
    outcome = _recording("fashion_convnet").search(present)
    assert outcome.suggested in {1e-4, 3e-4, 0.001}


def test_fashion_keeps_the_rate_of_its_template() -> None:
    recording = _recording("fashion_convnet")
    outcome = recording.search(0.001)
    assert (outcome.verdict, outcome.suggested) == ("keep", 0.001)
    words = answer_words(outcome, chance=0.1, has_fallen=True)
    assert words.startswith("Your rate 0.001 is within the good range (")
    assert "; keep it. 0.001: " in words
    assert len(recording.made) <= 14


@pytest.mark.parametrize("present", [0.0015, 1e-5, 0.1])
def test_flowers_are_told_a_rate_though_the_sweep_hardly_falls(present: float) -> None:
    outcome = _recording("flowers_gap").search(present)
    assert outcome.suggested in {0.001, 0.0015}
    assert (outcome.verdict == "keep") == (present == outcome.suggested)


# made networks ----------------------------------------------------------------------------


def _made(accuracies: dict[float, float], *, noise: float = 0.0) -> Any:
    """Makes trials of given mean accuracies; rates that are not listed diverge."""
    random = np.random.default_rng(1)

    def train(rate: float, steps: int) -> Trial:
        if rate not in accuracies:
            return Trial(rate, steps, np.array([np.inf]), np.array([0.1]))
        values = accuracies[rate] + random.normal(0, noise, steps)
        return Trial(rate, steps, np.ones(steps), values)

    return train


def _search(train: Any, present: float, start: float | None) -> RateSearch:
    return RateSearch(train, present, start, Lengths(40, 80), chance=0.1, batch_size=100)


LADDER = {1e-4: 0.3, 3e-4: 0.5, 1e-3: 0.7, 3e-3: 0.8, 1e-2: 0.85, 3e-2: 0.6, 1e-1: 0.2}


@pytest.mark.parametrize("start", [None, 1e-4, 1e-1, 3.0])
@pytest.mark.parametrize("present", [1e-4, 0.002, 0.1])
def test_the_best_is_climbed_to_from_anywhere(present: float, start: float | None) -> None:
    outcome = _search(_made({**LADDER, 0.002: 0.75}), present, start).run()
    assert (outcome.verdict, outcome.suggested, outcome.good) == ("change", 0.01, (0.01,))
    words = answer_words(outcome, chance=0.1, has_fallen=True)
    assert words.startswith(f"0.01 is better than your rate {present:g}. Good range: 0.01. ")
    assert "0.01: 85.0% training accuracy after 80 steps" in words


def test_a_rate_half_a_point_behind_is_kept() -> None:
    made = {**LADDER, 0.003: 0.847, 0.001: 0.846}
    outcome = _search(_made(made), 0.003, 1e-3).run()
    assert (outcome.verdict, outcome.suggested) == ("keep", 0.003)
    assert outcome.good[0] <= 0.003 < outcome.good[-1] == 0.01
    words = answer_words(outcome, chance=0.1, has_fallen=True)
    assert words.startswith("Your rate 0.003 is within the good range (0.00")
    assert words.endswith(
        "0.01: 85.0% training accuracy, 0.3 points more. Up to 0.75 points count as equal, as "
        "differences shrink until the end of a training (standard error below 0.1 points)."
    )


SATURATED = {0.003: 0.9, 0.01: 1.0, 0.03: 1.0, 0.1: 1.0}


def _of_few(accuracies: dict[float, float], images: int) -> Any:
    made = _made(accuracies)
    return lambda rate, steps: replace(made(rate, steps), images=images)


@pytest.mark.parametrize("present", [0.01, 0.03, 0.1])
def test_few_images_that_are_all_learned_do_not_tell(present: float) -> None:
    search = _search(_of_few(SATURATED, 145), present, None)
    search.num_images = 145
    outcome = search.run()
    assert (outcome.verdict, outcome.suggested, outcome.images) == ("unknown", None, 145)
    # Agresti and Min: half an image more in each cell, of two answers that agree on all images.
    assert outcome.error == pytest.approx(math.sqrt(0.5 + 0.5) / 147)
    words = answer_words(outcome, chance=0.3, has_fallen=True)
    assert words.startswith(
        "Too few images to tell: of 145 training images, a difference of up to 1.4 points may be "
        f"chance, and they are memorized. Keep {present:g}, or compare rates by "
    )
    assert f"{present:g}: 100.0% training accuracy after 80 steps" in words


def test_few_images_still_show_a_rate_that_is_far_better() -> None:
    search = _search(_of_few(SATURATED, 145), 0.003, None)
    search.num_images = 145
    outcome = search.run()
    assert outcome.verdict == "change"
    assert outcome.suggested in {0.01, 0.03, 0.1}


def test_many_images_that_are_all_learned_keep_the_rate() -> None:
    search = _search(_of_few(SATURATED, 2500), 0.01, None)
    search.num_images = 5000
    assert search.run().verdict == "keep"


def test_a_rate_near_the_best_is_measured_as_long_as_it_and_changed() -> None:
    outcome = _search(_made({**LADDER, 0.003: 0.835}), 0.003, 1e-3).run()
    assert (outcome.verdict, outcome.suggested, outcome.good) == ("change", 0.01, (0.01,))
    assert outcome.best is not None
    assert (outcome.present.steps, outcome.best.steps) == (80, 80)
    words = answer_words(outcome, chance=0.1, has_fallen=True)
    assert words.startswith("0.01 is better than your rate 0.003. Good range: 0.01. ")
    assert words.endswith("; 0.003: 83.5% training accuracy.")


def test_a_rate_that_no_other_comes_near_is_kept() -> None:
    outcome = _search(_made(LADDER), 0.01, 1e-3).run()
    assert (outcome.verdict, outcome.good) == ("keep", (0.01,))
    assert answer_words(outcome, chance=0.1, has_fallen=True) == (
        "Your rate 0.01 is the best of the rates tried; keep it. "
        "0.01: 85.0% training accuracy after 80 steps."
    )


def test_a_present_rate_that_diverges_is_said() -> None:
    outcome = _search(_made(LADDER), 3.0, 1e-3).run()
    assert outcome.suggested == 0.01
    assert answer_words(outcome, chance=0.1, has_fallen=True).endswith("; 3 diverges.")


def test_a_loss_far_above_the_first_is_no_success_however_easy_the_images() -> None:
    made = _made({**LADDER, 3e-2: 0.99, 1e-1: 0.99})

    def train(rate: float, steps: int) -> Trial:
        trial = made(rate, steps)
        rising = np.geomspace(1.5, 600.0, steps)
        return replace(trial, losses=rising) if rate in {3e-2, 1e-1} else trial

    outcome = _search(train, 0.1, 1e-3).run()
    assert outcome.suggested == 0.01
    assert answer_words(outcome, chance=0.1, has_fallen=True).endswith("; 0.1 diverges.")


def test_where_nothing_learns_it_cannot_be_told() -> None:
    flat = dict.fromkeys((r * 10**p for p in range(-8, 2) for r in (1, 3)), 0.1)
    search = _search(_made({float(f"{r:.0e}"): a for r, a in flat.items()}, noise=0.01), 1e-3, None)
    outcome = search.run()
    assert (outcome.verdict, outcome.suggested, outcome.good) == ("unknown", None, ())
    assert len(search.tried) <= 6
    cannot = answer_words(outcome, chance=0.1, has_fallen=True)
    assert cannot.startswith("Inconclusive: in 40 steps no learning rate was better than always")
    assert "(10.0%)" in cannot
    assert answer_words(outcome, chance=0.1, has_fallen=False) == (
        "No learning rate lowered the loss. Check input scaling and labels."
    )


@pytest.mark.parametrize("present", [1e-6, 3.0])
def test_a_rate_that_learns_is_looked_for_on_both_sides(present: float) -> None:
    """The project's rate and its neighbors learn nothing; the climb begins at the first that does."""
    search = _search(_made({1e-7: 0.1, 1e-6: 0.1, 1e-5: 0.1, **LADDER}), present, None)
    outcome = search.run()
    assert (outcome.verdict, outcome.suggested) == ("change", 0.01)
    assert outcome.present.rate == present
    assert not search._has_learned(outcome.present)


def test_no_rate_beyond_the_ends_of_the_ladder_is_tried() -> None:
    for present, rates in ((1e-8, [1e-8, 1e-7, 1e-6, 1e-5]), (30.0, [30.0, 3.0, 0.3, 0.03])):
        search = _search(_made(dict.fromkeys(rates, 0.1)), present, None)
        assert search.run().verdict == "unknown"
        assert [trial.rate for trial in search.tried.values()] == rates


def test_the_error_of_a_difference_counts_what_batches_share_only_once() -> None:
    shared = np.random.default_rng(2).normal(0.7, 0.1, 80)
    one = Trial(0.1, 80, np.ones(80), shared)
    other = Trial(0.3, 80, np.ones(80), shared - 0.02)
    assert accuracy_error(one, other) == pytest.approx(0.0, abs=1e-9)
    alone = Trial(0.3, 80, np.ones(80), np.random.default_rng(4).normal(0.7, 0.1, 80))
    assert accuracy_error(one, alone) == pytest.approx(0.1 * np.sqrt(2 / 20), rel=0.8)


def test_trials_are_long_where_the_training_is_and_short_where_batches_are_large() -> None:
    assert lengths_of(300, 1000) == Lengths(65, 150)
    assert lengths_of(781, 256) == Lengths(100, 390)
    assert lengths_of(5460, 32) == Lengths(100, 400)
    assert lengths_of(2450, 1024) == Lengths(64, 146)
    assert lengths_of(30, 50) == Lengths(20, 30)
    assert lengths_of(5, 50) == Lengths(5, 5)
