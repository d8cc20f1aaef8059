"""Scores from predictions: plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.contexts import PlainContext
from workbench.core.evaluation.confusion import Confusion
from workbench.errors import DatasetError
from workbench.inference.runner import class_scores
from workbench.runs.model_card import ModelCard
from workbench.worker.input.sources import match_classes, other_part
from workbench.worker.requests.describe import _imbalance

labels = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=40)


@given(labels)
def test_every_picture_is_in_one_cell(pairs):
    truth = np.array([pair[0] for pair in pairs], np.int64)
    predicted = np.array([pair[1] for pair in pairs], np.int64)
    confusion = Confusion.of_images(truth, predicted, 4).dense()
    for row in range(4):
        for column in range(4):
            assert confusion[row, column] == pairs.count((row, column))


@given(labels)
def test_scores_are_shares_and_count_the_true_class(pairs):
    truth = np.array([pair[0] for pair in pairs], np.int64)
    predicted = np.array([pair[1] for pair in pairs], np.int64)
    scores = class_scores(Confusion.of_images(truth, predicted, 4), ["a", "b", "c", "d"])
    for label, score in enumerate(scores):
        assert score.count == int((truth == label).sum())
        assert 0 <= score.f1 <= 1
        right = int(((truth == label) & (predicted == label)).sum())
        if right:
            assert score.recall == pytest.approx(right / (truth == label).sum())
            assert score.precision == pytest.approx(right / (predicted == label).sum())
            mean = 2 / (1 / score.recall + 1 / score.precision)
            assert score.f1 == pytest.approx(mean)
        else:
            assert (score.precision, score.recall, score.f1) == (0, 0, 0)


@given(st.permutations(["ant", "Bee", "cat", "dog"]), st.lists(st.integers(0, 3), max_size=9))
def test_labels_follow_their_names(order, found):
    names = ["ANT", "bee", " cat", "dog"]
    matched = match_classes(np.array(found, np.int64), order, names)
    for label, ours in zip(found, matched, strict=True):
        assert names[ours].strip().casefold() == order[label].casefold()


def test_numbered_classes_are_matched_by_place():
    found = np.array([2, 0, 1])
    for names in (["0", "1", "2"], ["class 0", "class 1", "class 2"]):
        assert match_classes(found, names, ["a", "b", "c"]).tolist() == [2, 0, 1]
    with pytest.raises(DatasetError):
        match_classes(found, ["0", "1", "2"], ["a", "b"])


def test_other_classes_are_refused_before_an_image_is_decoded(tmp_path):
    ctx = PlainContext(tmp_path)
    card = ModelCard(class_names=["roses", "tulips"], input_shape=[8, 8, 3], fit="crop", graph={})
    with pytest.raises(DatasetError, match="classes that the model does not have"):
        other_part(ctx, card, "fashion_mnist", {})
    assert not [text for text, _ in ctx.reported if "Preparing" in text]
    other_part(ctx, replace(card, class_names=[str(n) for n in range(10)]), "fashion_mnist", {})
    assert [text for text, _ in ctx.reported if "Preparing" in text]  # as it is called


@pytest.mark.parametrize(
    ("sizes", "words"),
    [([72, 4, 27], '"a" has 72 images, "b" has 4'), ([30, 20, 10], ""), ([], "")],
)
def test_classes_of_very_different_size_are_noted(sizes, words):
    (note,) = _imbalance("abc"[: len(sizes)], np.array(sizes, np.int64)) or [""]
    assert (words in note) if words else not note
