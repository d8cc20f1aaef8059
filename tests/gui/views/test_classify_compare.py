"""A second model's answers beside the first one's: agreement, other class names, the end of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.gui.views.scripted import cat
from workbench.gui.classify.compare import PairedScore, agree, paired
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import Classified, Classify, Score
from workbench.protocol.messages import Done, Failed


def answer_of(path, **shares):
    """An answer with these classes."""
    ranked = sorted(shares.items(), key=lambda each: -each[1])
    scores = [Score(name=name, probability=value) for name, value in ranked]
    return Classified(file=str(path), label=scores[0].name, scores=scores)


class Compared:
    """Two models, and the worker that answers for both."""

    def __init__(self, qtbot, view, service, paths):
        self.qtbot, self.view, self.service = qtbot, view, service
        self.first, self.other = paths
        view.chooser.choose(self.first)
        self.panel = view.panels["classify_compare"]

    def classify(self, path, **shares):
        """A picture, and the answer of the first model."""
        self.view.classify([path])
        _request, answer = self.take(self.view.chooser.path)
        with self.qtbot.waitSignal(self.view.state.shown):
            answer(answer_of(path, **shares))
            answer(Done(id=1))

    def take(self, model):
        asked = self.service.asked
        for place, (request, answer) in enumerate(asked):
            if isinstance(request, Classify) and request.model == str(model):
                del asked[place]
                return request, answer
        raise AssertionError("the model was not asked")

    def answer(self, path, **shares):
        """The second model's."""
        request, answer = self.take(self.panel.second.run)
        assert request.pictures == [path]
        answer(answer_of(path, **shares))
        answer(Done(id=1))

    def shown(self):
        sides = [side.answer.full_text for side in self.panel.sides]
        return *sides, self.panel.verdict.text()


@pytest.fixture
def compared(qtbot, ready, service, model, context):
    first = ready.chooser.path
    other = model("newer").path
    context.library.refresh()
    qtbot.waitUntil(lambda: ready.chooser.box.count() == 2)
    return Compared(qtbot, ready, service, (first, other))


def test_both_answers_are_side_by_side_for_each_picture_until_it_is_ended(compared, ready):
    panel = compared.panel
    compared.classify("/x/a.png", cat=0.9, dog=0.1)
    assert not panel.bars.isVisible()
    panel.section.head.click()
    assert panel.second.run == compared.other
    assert compared.shown() == ("cat 90.0%", "…", "")
    assert "no class" not in panel.bars.toolTip(), "it is not known yet"
    compared.answer("/x/a.png", cat=0.4, dog=0.6)
    assert compared.shown() == ("cat 90.0%", "dog 60.0%", "≠ Different")
    assert panel.bars.rows == [PairedScore("cat", 0.9, 0.4), PairedScore("dog", 0.1, 0.6)]
    assert panel.bars.isVisible()
    compared.classify("/x/b.png", dog=0.7, cat=0.3)
    compared.answer("/x/b.png", dog=0.8, cat=0.2)
    assert compared.shown()[2] == "✓ Same answer"
    assert panel.summary.full_text == "Same answer for 1 of 2 pictures"
    strip = ready.panels["classify_earlier"].strip
    strip.clicked.emit(strip.model().index(1, 0))  # the first picture again: its answer is known
    assert compared.shown() == ("cat 90.0%", "dog 60.0%", "≠ Different")
    panel.end.click()
    assert not panel.bars.isVisible()
    assert panel.second.run is None
    strip.clicked.emit(strip.model().index(0, 0))
    assert not any(isinstance(request, Classify) for request, _ in compared.service.asked)


def test_models_with_other_classes_are_compared_by_the_names_they_share(compared):
    compared.panel.section.head.click()
    compared.classify("/x/a.png", Cat=0.6, dog=0.4)
    compared.answer("/x/a.png", cat=0.5, horse=0.3, cow=0.2)
    assert compared.shown()[2] == "✓ Same answer"
    assert compared.panel.bars.rows == [
        PairedScore("Cat", 0.6, 0.5),
        PairedScore("dog", 0.4, None),
        PairedScore("horse", None, 0.3),
        PairedScore("cow", None, 0.2),
    ]
    assert "horse: no class, 30.0%" in compared.panel.bars.accessibleName()


def test_only_the_picture_that_is_shown_last_is_waited_for(compared):
    compared.panel.section.head.click()
    compared.classify("/x/a.png", cat=0.9, dog=0.1)
    _, late = compared.take(compared.other)
    compared.classify("/x/b.png", cat=0.9, dog=0.1)
    late(answer_of("/x/a.png", dog=0.9, cat=0.1))
    assert compared.shown()[1] == "…"
    compared.answer("/x/b.png", cat=0.6, dog=0.4)
    assert compared.shown()[1] == "cat 60.0%"


def test_when_the_second_model_is_made_the_first_they_change_places(compared, ready):
    compared.classify("/x/a.png", cat=0.9, dog=0.1)
    compared.panel.section.head.click()
    compared.answer("/x/a.png", dog=0.6, cat=0.4)
    ready.chooser.choose(compared.other)
    assert compared.panel.second.run == compared.first
    assert compared.shown()[0] == "…"  # the answer of the new first model is still to come
    _request, answer = compared.take(compared.other)
    answer(answer_of("/x/a.png", dog=0.6, cat=0.4))
    answer(Done(id=1))
    compared.qtbot.waitUntil(lambda: compared.shown()[0] == "dog 60.0%")


def test_a_second_model_that_fails_is_reported_in_the_panel(compared, ready):
    compared.classify("/x/a.png", cat=0.9, dog=0.1)
    compared.panel.section.head.click()
    _, answer = compared.take(compared.other)
    answer(Failed(id=1, error=ErrorParts(what="The weights are damaged.")))
    assert compared.shown()[1] == "No prediction"
    assert compared.panel.status.text() == "The weights are damaged."
    assert compared.panel.status.isVisible()


def test_without_another_model_it_says_so(qtbot, ready, service):
    panel = ready.panels["classify_compare"]
    assert not panel.isVisible()  # before the first picture there is nothing to compare
    ready.classify(["/x/a.png"])
    with qtbot.waitSignal(ready.state.shown):
        service.answer_pictures()
    panel.section.head.click()
    assert panel.status.text() == "There is no other trained model to compare with."
    assert not panel.box.isVisible()
    assert panel.end.isVisible()


A = answer_of("a", cat=0.9, dog=0.1)
UNKNOWN = cat("a", unknown="unlike the training images")
BAD = Classified(file="a", error=ErrorParts(what="empty"))


@pytest.mark.parametrize(
    ("second", "is_same"),
    [(answer_of("a", CAT=0.5, dog=0.5), True), (answer_of("a", CAT=0.6, cat=0.4), False),
     (answer_of("a", dog=0.9, cat=0.1), False), (UNKNOWN, False), (BAD, None)],
)  # fmt: skip
def test_what_counts_as_the_same_answer(second, is_same):
    assert agree(A, second) is is_same
    assert agree(UNKNOWN, UNKNOWN) is True


def test_rows_are_ranked_by_the_larger_probability():
    first = [Score(name="a", probability=0.5), Score(name="b", probability=0.5)]
    second = [Score(name="b", probability=0.9), Score(name="a", probability=0.1)]
    assert [row.name for row in paired(first, second)] == ["b", "a"]
    assert paired([], second)[0] == PairedScore("b", None, 0.9)
    assert replace(paired(first, [])[0], name="x") == PairedScore("x", 0.5, None)


def test_a_picture_that_cannot_be_read_is_not_compared(compared, ready, qtbot):
    panel = compared.panel
    compared.classify("/x/a.png", cat=0.9, dog=0.1)
    panel.section.head.click()
    compared.answer("/x/a.png", cat=0.8, dog=0.2)
    assert panel.answers.isVisible()
    ready.classify(["/x/notes.txt"])
    _, answer = compared.take(ready.chooser.path)
    error = ErrorParts(what="This file is not an image that can be read.")
    with qtbot.waitSignal(ready.state.shown):
        answer(Classified(file="/x/notes.txt", error=error))
        answer(Done(id=1))
    assert not panel.answers.isVisible()
    assert panel.status.isVisible()
    assert panel.status.text() == "The picture cannot be read: there is nothing to compare."
    compared.classify("/x/b.png", cat=0.9, dog=0.1)
    assert panel.answers.isVisible()
