"""The views against real processes: a training, a classification, an evaluation."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication

from tests.worker.conftest import ENDLESS
from workbench.gui.classify.view import ClassifyView
from workbench.gui.evaluate.view import EvaluateView
from workbench.gui.panels import panels_of
from workbench.gui.train.view import TrainView

pytestmark = pytest.mark.worker

WAIT_MS = 120_000


def test_a_training_is_watched_and_its_network_classifies(qtbot, context, small_project, tmp_path):
    train, classify = (
        TrainView(context, panels_of("train")),
        ClassifyView(context, panels_of("classify")),
    )
    evaluate = EvaluateView(context, panels_of("evaluate"))
    for view in (train, classify, evaluate):
        qtbot.addWidget(view)
        view.resize(1200, 800)
    train.show()
    context.library.open()
    with qtbot.waitSignal(context.library.run_ended, timeout=WAIT_MS) as ended:
        context.library.start_run(small_project(epochs=2), title="Stripes")
    assert ended.args[1].kind == "completed", ended.args[1]
    history = context.library.current.history
    assert len(history.epochs) == 2
    assert len(history.losses) == 2 * history.data.steps_per_epoch
    train.plots.redraw()
    assert train.plots.by_key["loss"].series.values.tolist() == history.losses.tolist()
    assert train.header.headline.text() == "Completed 2 epochs"

    # A picture with a bright third stripe is of the second class.
    pixels = np.full((8, 8), 40, np.uint8)
    pixels[3] = 170
    Image.fromarray(pixels).save(tmp_path / "stripe.png")
    classify.show()
    classify.classify([str(tmp_path / "stripe.png")])
    with qtbot.waitSignal(classify.state.classified, timeout=WAIT_MS) as classified:
        pass
    entry = classified.args[0]
    assert entry.answer.error is None
    assert entry.answer.label == history.class_names[1]
    assert sum(score.probability for score in entry.answer.scores) == pytest.approx(1, abs=1e-4)
    assert entry.seen.width() == 8

    evaluate.show()
    with qtbot.waitSignal(evaluate.state.ended, timeout=WAIT_MS):
        evaluate.evaluate()
    evaluated = evaluate.state.evaluation
    assert evaluated.count == 100
    assert evaluated.accuracy == pytest.approx(history.finished.test.accuracy)

    later = EvaluateView(context, panels_of("evaluate"))  # as after the next start
    qtbot.addWidget(later)
    with qtbot.waitSignal(later.state.evaluated) as kept:
        later.show()
    assert kept.args == [evaluate.state.evaluation]
    assert not later.note.isVisible()
    later.close_background()
    train.close_background()
    classify.close_background()
    evaluate.close_background()


def test_a_completed_run_is_trained_longer_by_its_button(qtbot, context, small_project):
    view = TrainView(context, panels_of("train"))
    qtbot.addWidget(view)
    view.resize(1200, 800)
    view.show()
    context.library.open()
    with qtbot.waitSignal(context.library.run_ended, timeout=WAIT_MS):
        context.library.start_run(small_project(epochs=2), title="Stripes")
    path = context.library.current.run.path
    button = view.next_steps.buttons["train_longer"]
    qtbot.waitUntil(button.isVisible)
    shown = []

    def fill_in():
        dialog = QApplication.activeModalWidget()
        if dialog is None:
            QTimer.singleShot(20, fill_in)
            return
        dialog.number.lineEdit().selectAll()
        for number in ("2", "3"):  # 2 is refused: so many are done
            qtbot.keyClicks(dialog.number, number)
            qtbot.keyClick(dialog.number, Qt.Key.Key_Return)
            shown.append(dialog.words.text())

    QTimer.singleShot(20, fill_in)
    with qtbot.waitSignal(context.library.run_ended, timeout=WAIT_MS) as ended:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert "from 3 to" in shown[0]
    assert "a run planned for 3 epochs" in shown[1]
    assert ended.args == [str(path), context.library.current.outcome]
    assert view.header.headline.text() == "Completed 3 epochs"
    history = context.library.current.history
    assert [epoch.epoch for epoch in history.epochs] == [1, 2, 3]
    assert history.steps.tolist() == list(range(1, 3 * history.data.steps_per_epoch + 1))
    qtbot.waitUntil(lambda: context.library.summary(path).epochs_done == 3)
    assert len(context.library.runs) == 1
    assert context.library.runs[0].label.endswith("3 epochs")
    view.close_background()


def test_a_killed_trainer_is_shown_and_a_stopped_one_keeps_its_weights(
    qtbot, context, small_project
):
    view = TrainView(context, panels_of("train"))
    qtbot.addWidget(view)
    view.show()
    context.library.open()
    for is_killed in (True, False):
        with qtbot.waitSignal(context.library.run_started, timeout=WAIT_MS):
            context.library.start_run(small_project(**ENDLESS), title="Endless")
        follower = context.library.current
        qtbot.waitUntil(lambda follower=follower: bool(follower.history.epochs), timeout=WAIT_MS)
        with qtbot.waitSignal(context.library.run_ended, timeout=WAIT_MS) as ended:
            if is_killed:
                context.library.kill()
            else:
                view.header.stop.click()
        outcome = ended.args[1]
        assert outcome.kind == ("died" if is_killed else "stopped"), outcome
        assert view.trouble.isVisible() == is_killed
        if is_killed:
            assert "killed" in view.trouble.words.text()
            assert view.header.headline.text() == "Training crashed"
        assert len(follower.history.losses) > 0
        assert follower.run.has_model() or is_killed
    view.close_background()
