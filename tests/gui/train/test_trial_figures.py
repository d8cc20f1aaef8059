"""The figures of a sweep: where values are, and which training is at a point."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, Qt

from workbench.gui.plots.trials import (
    AccuracyScale,
    ParallelCoordinates,
    Scale,
    Trial,
    TrialScatter,
    side_by_side,
)

TITLES = ("Learning rate", "Optimizer")
TRIALS = (
    Trial(1, ("0.001", "adam"), 0.9, is_stopped=False, words="run 1"),
    Trial(2, ("0.01", "adam"), 0.7, is_stopped=False, words="run 2"),
    Trial(3, ("0.1", "sgd"), 0.5, is_stopped=True, words="run 3"),
)


@pytest.fixture(params=[ParallelCoordinates, TrialScatter])
def figure(request, qtbot, context):
    figure = request.param(context.theme)
    qtbot.addWidget(figure)
    figure.resize(600, 300)
    figure.set_trials(TITLES, TRIALS)
    figure.show()
    return figure


def test_numbers_far_apart_are_on_a_logarithmic_axis():
    places = Scale.of(["0.001", "0.1", "0.01", "0.1"]).places
    assert places["0.01"] == pytest.approx((places["0.001"] + places["0.1"]) / 2)


def test_numbers_near_each_other_are_evenly_apart():
    places = Scale.of(["10", "20", "40"]).places
    assert places["20"] - places["10"] == pytest.approx((places["40"] - places["20"]) / 2)


def test_words_follow_each_other_and_one_value_is_in_the_middle():
    places = Scale.of(["sgd", "adam", "3"]).places
    assert places["sgd"] < places["adam"] < places["3"]
    assert Scale.of(["0.1", "0.1"]).places == {"0.1": 0.5}


def test_ticks_that_would_touch_are_left_out():
    scale = Scale.of([str(number) for number in range(1, 8)])
    assert len(scale.ticks(0.0)) == 7
    found = scale.ticks(0.3)
    assert len(found) == 4
    assert all(b[0] - a[0] >= 0.3 for a, b in pairwise(found))


def test_accuracies_have_round_numbers_within_the_axis():
    scale = AccuracyScale.of([0.52, 0.91])
    assert [text for _, text in scale.ticks()] == ["60%", "70%", "80%", "90%"]
    assert all(0 <= place <= 1 for place, _ in scale.ticks())
    assert len(AccuracyScale.of([1.0, 1.0]).ticks()) > 1


def test_the_training_under_the_mouse_is_chosen(figure, qtbot):
    chosen = []
    figure.chosen.connect(chosen.append)
    for trial in TRIALS:
        points = figure.points(trial)
        assert all(figure.rect().contains(point.toPoint()) for point in points)
        at = points[-1].toPoint()
        assert figure.trial_at(QPointF(at)) is trial
        qtbot.mouseClick(figure, Qt.MouseButton.LeftButton, pos=at)
    assert chosen == [1, 2, 3]
    assert figure.trial_at(QPointF(1, 1)) is None


def test_what_is_marked_is_drawn_otherwise(figure):
    before = figure.grab().toImage()
    figure.set_marked(3)
    assert figure.grab().toImage() != before
    figure.set_marked(None)
    assert figure.grab().toImage() == before


def test_an_empty_figure_says_so(figure):
    figure.set_trials(TITLES, ())
    empty = figure.grab().toImage()
    figure.set_trials(TITLES, TRIALS)
    assert figure.grab().toImage() != empty


def test_dots_in_the_same_place_are_side_by_side_and_each_can_be_chosen(qtbot, context):
    figure = TrialScatter(context.theme)
    qtbot.addWidget(figure)
    figure.resize(600, 300)
    alike = [
        Trial(number, ("0.01", "adam"), 0.7, is_stopped=False, words=f"run {number}")
        for number in range(1, 6)
    ]
    figure.set_trials(TITLES, [*alike, TRIALS[0], TRIALS[2]])
    places = [figure.points(trial)[0] for trial in figure.trials]
    assert len({place.y() for place in places[:5]}) == 1
    for trial, place in zip(figure.trials, places, strict=True):
        assert figure.trial_at(place) is trial
    figure.set_axis(1)
    assert figure.points(alike[0])[0] != places[0]
    assert figure.trial_at(figure.points(alike[4])[0]) is alike[4]


def test_dots_without_a_free_place_stay_where_they_belong():
    found = side_by_side([(50.0, 20.0)] * 5 + [(50.0, 90.0)], 10.0, 1)
    assert found == [(50.0, 20.0), (60.0, 20.0), (40.0, 20.0), *[(50.0, 20.0)] * 2, (50.0, 90.0)]


@given(st.lists(st.tuples(st.floats(0, 300), st.floats(0, 60)), max_size=40))
def test_dots_are_apart_or_where_they_belong_and_keep_their_height(dots):
    found = side_by_side(dots, 10.0, 2)
    assert [y for _, y in found] == [y for _, y in dots]
    assert all(abs(new[0] - old[0]) <= 20.001 for new, old in zip(found, dots, strict=True))
    moved = [new for new, old in zip(found, dots, strict=True) if new != old]
    assert all(math.dist(a, b) > 9.999 for a, b in combinations(moved, 2))
