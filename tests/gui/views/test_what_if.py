"""What-if in the classify view: only the newest position is computed, and a test can be saved."""

from __future__ import annotations

import pytest
from PIL import Image
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QMouseEvent

from tests.gui.views.scripted import cat
from workbench.core.projects.project import MAX_NAME, MAX_TESTS, RobustnessTest
from workbench.gui.classify import what_if as what_if_bench
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import (
    AlteredScores,
    Classify,
    ClassifyAltered,
    Score,
    WarmUp,
)
from workbench.protocol.messages import Done, Failed


@pytest.fixture
def bench(qtbot, ready, service):
    """The open bench with a classified picture, whose first answer is there."""
    service.take(WarmUp)[1](Done(id=1))
    classify(qtbot, ready, service, "/x/photo.jpg")
    ready.panels["classify_what_if"].section.head.click()
    bench = ready.panels["classify_what_if"].bench
    service.awaited(qtbot, ClassifyAltered)[1](dogs(0.2))
    return bench


def classify(qtbot, view, service, path):
    view.classify([path])
    _, answer = service.take(Classify)
    with qtbot.waitSignal(view.state.shown):
        answer(cat(path))
        answer(Done(id=1))


def asked(service):
    return service.take(ClassifyAltered)


def dogs(probability, file=""):
    scores = [Score(name="dog", probability=probability), Score(name="cat", probability=0.1)]
    return AlteredScores(id=1, scores=scores, input_bitmap=str(file))


def is_quiet(service):
    return not service.has(ClassifyAltered)


def test_nothing_is_computed_before_it_is_opened(qtbot, ready, service):
    service.take(WarmUp)[1](Done(id=1))
    classify(qtbot, ready, service, "/x/photo.jpg")
    assert ready.panels["classify_what_if"].bench is None
    assert is_quiet(service)
    ready.panels["classify_what_if"].section.head.click()
    request, _ = service.awaited(qtbot, ClassifyAltered)
    assert (request.picture, request.strengths) == ("/x/photo.jpg", {})
    assert request.model == str(ready.chooser.path)


def test_it_opens_where_a_robustness_test_is_wanted(ready, service):
    service.take(WarmUp)[1](Done(id=1))
    ready.state.what_if_wanted.emit()
    assert ready.panels["classify_what_if"].section.is_open


def test_of_the_positions_that_come_meanwhile_only_the_newest_is_computed(bench, service):
    slider = bench.sliders.sliders["rotation"]
    for degrees in range(1, 31):
        slider.setValue(degrees)
    first, answer = asked(service)
    assert first.strengths == {"rotation": 1}
    assert is_quiet(service)
    answer(dogs(0.5))
    last, answer = asked(service)
    assert last.strengths == {"rotation": 30}
    answer(dogs(0.7))
    assert is_quiet(service)
    assert bench.bars.scores[0] == ("dog", 0.7)
    assert bench.label.text() == "dog 70.0%"
    assert bench.before.full_text == "Unaltered: cat 90.0%"
    assert bench.before.property("role") == "warning"


def test_the_altered_picture_is_shown(qtbot, bench, service, tmp_path):
    Image.new("RGB", (8, 8), "red").save(tmp_path / "input.png")
    bench.sliders.sliders["blur"].set_strength(3)
    with qtbot.waitSignal(bench.live.pictured):
        asked(service)[1](dogs(0.5, tmp_path / "input.png"))
    assert bench.picture.image.width() == 8
    assert bench.picture.caption.full_text == "Blur 3%"


def test_an_answer_for_another_picture_is_not_shown(qtbot, ready, bench, service):
    bench.sliders.sliders["blur"].set_strength(3)
    _, late = asked(service)
    classify(qtbot, ready, service, "/x/other.jpg")
    request, answer = asked(service)
    assert (request.picture, request.strengths) == ("/x/other.jpg", {"blur": 3})
    late(dogs(0.99))
    assert bench.bars.scores[0] != ("dog", 0.99)
    answer(dogs(0.4))
    assert bench.bars.scores[0] == ("dog", 0.4)


def test_alterations_kept_for_the_next_picture_are_said_to_be(qtbot, ready, bench, service):
    assert bench.kept.isHidden()
    bench.sliders.sliders["rotation"].setValue(113)
    asked(service)[1](dogs(0.5))
    assert bench.kept.isHidden()
    classify(qtbot, ready, service, "/x/other.jpg")
    assert bench.kept.isVisible()
    assert bench.kept.text() == "Kept from the picture before."
    asked(service)[1](dogs(0.5))
    bench.reset.click()
    assert bench.kept.isHidden()
    asked(service)[1](dogs(0.5))
    classify(qtbot, ready, service, "/x/third.jpg")
    assert bench.kept.isHidden()


def test_an_answer_that_becomes_unknown_says_why(bench, service):
    bench.sliders.sliders["noise"].setValue(40)
    scores = [Score(name="cat", probability=0.9)]
    asked(service)[1](AlteredScores(id=1, scores=scores, input_bitmap="", unknown="too far"))
    assert bench.label.text() == "Unknown: too far"
    assert bench.before.property("role") == "warning"


def test_reset_and_a_double_click_make_it_neutral(bench, service):
    for key, value in (("jpeg", 5), ("brightness", -40)):
        bench.sliders.sliders[key].setValue(value)
    assert bench.sliders.words["brightness"].text() == "-40%"
    slider, none = bench.sliders.sliders["jpeg"], Qt.KeyboardModifier.NoModifier
    left = Qt.MouseButton.LeftButton
    kind = QMouseEvent.Type.MouseButtonDblClick
    slider.mouseDoubleClickEvent(QMouseEvent(kind, QPointF(2, 2), QPointF(2, 2), left, left, none))
    assert bench.sliders.strengths == {"brightness": -40}
    bench.reset.click()
    assert bench.sliders.strengths == {}
    assert bench.sliders.words["jpeg"].text() == "100"
    assert not bench.save.isEnabled()


def test_a_closed_bench_computes_nothing_for_another_picture(qtbot, ready, bench, service):
    head = ready.panels["classify_what_if"].section.head
    head.click()
    classify(qtbot, ready, service, "/x/other.jpg")
    assert is_quiet(service)
    head.click()
    assert service.awaited(qtbot, ClassifyAltered)[0].picture == "/x/other.jpg"


def test_an_unreadable_picture_cannot_be_altered(qtbot, ready, bench, service):
    ready.classify(["/x/broken.jpg"])
    _, answer = service.take(Classify)
    with qtbot.waitSignal(ready.state.shown):
        answer(cat("/x/broken.jpg", error=ErrorParts(what="Broken.")))
        answer(Done(id=1))
    assert not bench.sliders.isEnabled()
    assert is_quiet(service)
    assert bench.message.text() == "The picture cannot be read: there is nothing to alter."


def test_a_failure_is_shown_and_the_next_position_is_computed(bench, service):
    bench.sliders.sliders["noise"].setValue(4)
    _, answer = asked(service)
    bench.sliders.sliders["noise"].setValue(5)
    answer(Failed(id=1, error=ErrorParts(what="The file is gone.", fix="Open it again.")))
    assert bench.message.text() == "The file is gone. Open it again."
    asked(service)[1](dogs(0.5))
    assert bench.message.isHidden()


def test_the_alterations_are_saved_with_the_project(bench, service, monkeypatch):
    bench.sliders.set_strengths({"rotation": -20, "noise": 10})
    proposed = []

    def name_it(*words):
        proposed.append(words[-1])
        return "Camera"

    monkeypatch.setattr(what_if_bench, "ask_text", name_it)
    bench.save.click()
    document = bench._state.context.document
    camera = RobustnessTest("Camera", {"rotation": -20, "noise": 10})
    assert proposed == ["Rotation -20°, noise 10%"]
    assert document.project.robustness == (camera,)
    assert document.undo_stack.undoText() == "Save robustness test “Camera”"
    assert bench.message.property("role") == "good"
    document.undo_stack.undo()
    assert document.project.robustness == ()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, ""),
        ("  ", f"A name has 1 to {MAX_NAME} visible characters."),
        ("x" * (MAX_NAME + 1), f"A name has 1 to {MAX_NAME} visible characters."),
    ],
)
def test_nothing_is_saved_without_a_name(bench, monkeypatch, answer, words):
    bench.sliders.set_strengths({"blur": 5})
    monkeypatch.setattr(what_if_bench, "ask_text", lambda *_words: answer)
    bench.save.click()
    assert bench._state.context.document.project.robustness == ()
    assert bench.message.text() == words


def test_while_hidden_it_computes_nothing(qtbot, ready, bench, service):
    state, section = bench._state, ready.panels["classify_what_if"].section
    section.head.click()
    state.run_changed.emit()
    assert is_quiet(service)
    section.head.click()
    service.awaited(qtbot, ClassifyAltered)[1](dogs(0.3))
    ready.hide()
    state.run_changed.emit()
    assert is_quiet(service)
    ready.show()
    service.awaited(qtbot, ClassifyAltered)[1](dogs(0.4))
    assert bench.bars.scores[0] == ("dog", 0.4)


def test_there_is_a_limit_of_tests(bench):
    document = bench._state.context.document
    tests = tuple(RobustnessTest(str(number), {"blur": 1}) for number in range(MAX_TESTS))
    document.set_robustness(tests, "Fill")
    bench.sliders.set_strengths({"blur": 5})
    bench.save_test("One more")
    assert document.project.robustness == tests
    assert str(MAX_TESTS) in bench.message.text()
    bench.save_test("3")  # in place of the one of this name
    assert document.project.robustness[-1] == RobustnessTest("3", {"blur": 5})


def test_it_fits_beside_the_explanation_in_a_small_window(bench):
    room_px = 670
    """Of a window of 1024 pixels, inside the card."""
    assert bench.minimumSizeHint().width() <= room_px


def test_a_reason_and_a_remark_are_whole_in_a_narrow_view(qtbot, ready, bench, service):
    before_px = bench.minimumSizeHint().width()
    bench.sliders.sliders["noise"].setValue(40)
    reason = "unlike the training images"
    scores = [Score(name="cat", probability=0.9)]
    asked(service)[1](AlteredScores(id=1, scores=scores, input_bitmap="", unknown=reason))
    classify(qtbot, ready, service, "/x/other.jpg")
    assert bench.kept.isVisible()
    assert bench.minimumSizeHint().width() <= before_px  # else the view would scroll sideways
    ready.resize(1000, 700)
    label = bench.label
    assert label.text() == f"Unknown: {reason}"
    qtbot.waitUntil(lambda: label.height() >= label.heightForWidth(label.width()))


def test_the_picture_and_the_right_words_are_there_before_the_answer(qtbot, ready, service):
    service.take(WarmUp)[1](Done(id=1))
    classify(qtbot, ready, service, "/x/photo.jpg")
    ready.panels["classify_what_if"].section.head.click()
    bench = ready.panels["classify_what_if"].bench
    entry = ready.panels["classify_result"].entry
    assert bench.picture.image.cacheKey() == entry.seen.cacheKey()
    assert bench.message.text() == what_if_bench._LOADING
    service.awaited(qtbot, ClassifyAltered)[1](dogs(0.2))
    assert bench.message.text() == ""


def test_a_slider_with_zero_in_the_middle_is_filled_from_there(bench):
    slider = bench.sliders.sliders["rotation"]
    slider.resize(200, 20)
    assert slider.property("centered")
    assert slider.filled().width() == 0
    middle = slider.rect().center().x()
    for value, is_right in ((slider.maximum(), True), (slider.minimum(), False)):
        slider.setValue(value)
        filled = slider.filled()
        assert filled.width() > 60
        assert (filled.left() >= middle - 2) is is_right
    assert not bench.sliders.sliders["blur"].property("centered")


def test_small_strengths_of_blur_have_most_of_the_slider(bench):
    """At 8% nothing is left of a picture: what matters is below."""
    slider = bench.sliders.sliders["blur"]
    assert (slider.strength, bench.sliders.strengths) == (0.0, {})
    positions = range(slider.minimum(), slider.maximum() + 1)
    strengths = []
    for position in positions:
        slider.setValue(position)
        strengths.append(slider.strength)
        slider.set_strength(slider.strength)
        assert abs(slider.strength - strengths[-1]) <= 0.1, "set as it was read"
    assert strengths == sorted(strengths)
    assert strengths[-1] == 20
    assert sum(each <= 5 for each in strengths) >= len(strengths) / 2


def test_what_a_killed_worker_left_is_computed_once_there_is_another(bench, service):
    bench.sliders.sliders["noise"].setValue(4)
    _, answer = asked(service)
    error = ErrorParts(what="The worker was killed.", received="a log", fix="It restarts.")
    answer(Failed(id=1, error=error))
    assert bench.message.text() == "The worker was killed. It restarts."
    service.state_changed.emit("starting")
    assert is_quiet(service)
    service.is_ready = True
    service.state_changed.emit("ready")
    asked(service)[1](dogs(0.5))
    assert bench.message.isHidden()
    service.state_changed.emit("ready")
    assert is_quiet(service), "only what has failed is computed again"
