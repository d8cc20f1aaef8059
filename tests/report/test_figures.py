"""Figures: nothing covers anything else, all is within the frame, and numbers are right."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tests.report.documents import scored
from workbench.core.checks.analysis import analyse
from workbench.core.network.folding import Folding
from workbench.layers import all_layers
from workbench.report.blocks import Label, Line, Pixels, Rect, fitted, text_width
from workbench.report.figures.curves import ticks
from workbench.report.figures.matrix import matrix_drawing
from workbench.report.figures.network import network_drawing
from workbench.templates import find_template

TEMPLATES = ["small_resnet", "flowers_transfer", "cifar10_speedrun", "lenet5"]


@pytest.mark.parametrize("key", TEMPLATES)
def test_cards_of_a_network_do_not_overlap_and_all_edges_are_drawn(key):
    project = find_template(key).project
    analysis = analyse(project.graph, all_layers(), recipe=project.recipe)
    drawing = network_drawing(project.graph, analysis)
    shown = Folding.of(project.graph, project.graph.groups).graph
    cards = [mark for mark in drawing.marks if isinstance(mark, Rect) and mark.title]
    assert len(cards) == len(shown.nodes)
    assert len([mark for mark in drawing.marks if isinstance(mark, Line)]) == len(shown.edges)
    for a, b in itertools.combinations(cards, 2):
        apart_x = a.x + a.width <= b.x or b.x + b.width <= a.x
        assert apart_x or a.y + a.height <= b.y or b.y + b.height <= a.y
    assert all(card.x >= 0 and card.x + card.width <= drawing.width for card in cards)
    assert all(card.y >= 0 and card.y + card.height <= drawing.height for card in cards)
    assert drawing.height < 1_500  # in columns where it is long


def test_a_matrix_of_some_classes_has_its_counts_and_one_of_many_is_pixels():
    few, many = ["a", "b", "c"], [str(number) for number in range(200)]
    result = scored(few).result
    drawing = matrix_drawing(result.matrix.dense(), few)
    texts = [mark.text for mark in drawing.marks if isinstance(mark, Label)]
    counts = [f"{number:,}" for row in result.matrix.rows() for number in row if number]
    assert sorted(set(counts) - set(texts)) == []
    drawing = matrix_drawing(scored(many).result.matrix.dense(), many)
    assert len([mark for mark in drawing.marks if isinstance(mark, Pixels)]) == 1
    assert len(drawing.marks) < 50


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.97, 1), (0, 3), (1e-6, 3e-6), (0, 12_345)])
def test_numbers_of_an_axis_are_few_round_and_within(low, high):
    found = ticks(low, high, 5)
    assert 2 <= len(found) <= 7
    assert low - 1e-12 <= found[0]
    assert found[-1] <= high * (1 + 1e-9)
    steps = np.diff(found)
    first = steps[0] / 10 ** math.floor(math.log10(steps[0] * 1.0001))
    assert min(abs(first - each) for each in (1, 2, 5, 10)) < 1e-6


def test_an_axis_without_length_has_one_number():
    assert ticks(3.0, 3.0, 5) == [3.0]


def test_texts_are_cut_to_their_room():
    assert fitted("short", 100, 12) == "short"
    cut = fitted("a long name of a class" * 5, 100, 12)
    assert cut.endswith("…")
    assert text_width(cut, 12) <= 100
