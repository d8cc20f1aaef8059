"""What the train view shows of a run behind its last step, of weights without room, and of where it
would resume.
"""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from workbench.core.projects.project import Project, new_project_id
from workbench.gui.common.run_text import state_words
from workbench.gui.panels import panels_of
from workbench.gui.train.banners import ErrorBanner
from workbench.gui.train.run_header import PROGRESS_STEPS
from workbench.gui.train.view import TrainView
from workbench.protocol.events import PhaseChanged, RunFinished, TimeSpent
from workbench.runs.control import take_request
from workbench.runs.folder import create_run
from workbench.runs.log.history import UNSAVED
from workbench.runs.state.outcome import RunOutcome
from workbench.runs.state.queue import enqueue

TESTING = "Evaluating on the test set"


@pytest.fixture
def view(show_view, context):
    return show_view(TrainView(context, panels_of("train")), 1300, 800)


@pytest.fixture
def tested(written):
    """A run of two epochs whose test is half done."""
    run = written("tested", epochs=2).begin().train(2)
    run.log = run._writer.write
    for fraction in (0.0, 0.5):
        run.log(PhaseChanged(phase="testing", text=TESTING, fraction=fraction, can_skip=True))
    return run


def requested(qtbot, run):
    """The next request that the window writes for a trainer."""
    found = []

    def is_there():
        found.extend(filter(None, [take_request(run.folder)]))
        return bool(found)

    qtbot.waitUntil(is_there)
    return found[0]


def test_bar_and_skip_follow_the_phase_behind_the_last_step(
    qtbot, view, context, tested, open_library
):
    open_library()
    header = view.header
    qtbot.waitUntil(lambda: header.headline.text().startswith(TESTING))
    assert header.bar.value() == PROGRESS_STEPS // 2
    assert not header.left.text().startswith("0 s")
    qtbot.waitUntil(header.skip.isVisible)
    assert not header.pause.isVisible()
    assert not header.stop.isVisible()
    assert view.next_steps.buttons["classify"].isVisible()  # the weights are saved
    assert not view.next_steps.buttons["report"].isVisible()
    header.skip.click()
    assert requested(qtbot, tested)[0] == "skip"


def test_the_banner_names_what_runs_and_what_terminating_costs(
    qtbot, view, context, tested, open_library
):
    open_library()
    qtbot.waitUntil(view.header.skip.isVisible)
    context.library.stop_offered.emit(str(tested.path))
    words = view.trouble.words.text()
    assert "The weights are saved" in words
    assert "evaluating on the test set" in words
    assert "loses only the result of that" in words
    assert "unsaved progress" not in words
    assert view.trouble.skip.isVisible()
    tested.log(PhaseChanged(phase="testing", text="Measuring", fraction=0.0, can_skip=True))
    qtbot.waitUntil(lambda: "measuring" in view.trouble.words.text())
    tested.finish("stopped")
    qtbot.waitUntil(view.trouble.isHidden)


def test_a_banner_of_a_step_under_way_changes_when_the_weights_are_saved(
    qtbot, view, context, written, open_library
):
    run = written("slow", epochs=2).begin().train(1)
    open_library()
    qtbot.waitUntil(view.header.pause.isVisible)
    context.library.stop_offered.emit(str(run.path))
    assert "loses unsaved progress" in view.trouble.words.text()
    assert not view.trouble.skip.isVisible()
    log = run._writer.write
    log(PhaseChanged(phase="calibrating", text="Calibrating", fraction=0.1, can_skip=True))
    qtbot.waitUntil(view.trouble.skip.isVisible)


def test_a_queue_that_a_test_holds_up_says_so_and_skips_all_of_it(
    qtbot, view, context, written, open_library
):
    project = Project(id=new_project_id())  # only the runs of one have numbers
    run = written("first", epochs=4, project=project).begin().train(2)
    enqueue(create_run(project, title="second"))
    open_library()
    runs = view.panels["train_runs"]
    assert runs.waiting.text() == "1 queued"
    assert not runs.skip.isVisible()
    run._writer.write(PhaseChanged(phase="testing", text=TESTING, fraction=0.0, can_skip=True))
    qtbot.waitUntil(runs.skip.isVisible)
    assert runs.waiting.text() == ("1 queued. Run 1 is trained; still evaluating on the test set.")
    runs.skip.click()
    assert requested(qtbot, run)[0] == "skip_all"
    run.finish("stopped")
    qtbot.waitUntil(lambda: not runs.skip.isVisible())


def test_weights_without_room_offer_another_folder(qtbot, view, written, open_library, monkeypatch):
    run = written("full", epochs=1).begin().train(1)
    open_library()
    qtbot.waitUntil(view.header.pause.isVisible)
    log, words = run._writer.write, "Weights held in memory, not saved: the disk is full."
    log(PhaseChanged(phase=UNSAVED, text=words))
    qtbot.waitUntil(view.trouble.isVisible)
    assert view.trouble.words.text() == words
    assert view.header.headline.text() == "Weights held in memory, not saved"
    view.trouble.save_again.click()
    assert requested(qtbot, run)[0] == "again"
    place = run.path.parent
    monkeypatch.setattr("workbench.gui.train.view.ask_folder", lambda *_, **__: str(place / "x"))
    view.trouble.save_elsewhere.click()
    assert requested(qtbot, run) == ("save", place / "x" / run.path.name)
    # A stop was requested, which does not end it.
    view.trouble.offer_end(is_pause=False, phase=PhaseChanged(phase=UNSAVED, text=words))
    assert view.trouble.words.text() == f"{words} Terminating the training process now loses them."
    assert view.trouble.end.isVisible()
    assert view.trouble.save_elsewhere.isVisible()
    log(PhaseChanged(phase="testing", text=TESTING, fraction=0.0, can_skip=True))
    qtbot.waitUntil(view.trouble.isHidden)


def test_the_list_does_not_call_weights_without_room_saved(context, written, open_library):
    run = written("full", epochs=1).begin().train(1)
    run._writer.write(PhaseChanged(phase=UNSAVED, text="Weights held in memory"))
    open_library()
    words = state_words(context.library.summary(run.path))
    assert words == "Weights held in memory, not saved"


def test_a_crash_has_one_resume_and_says_from_where(qtbot):
    banner = ErrorBanner()
    qtbot.addWidget(banner)
    words = "Resume continues at epoch 391 of 400 (checkpoint 14:41)."
    banner.show_outcome(RunOutcome("died", "It was killed.", can_resume=True, resumes=words))
    assert banner.words.text() == f"It was killed. All logged results are kept. {words}"
    assert banner.resume.property("role") == "primary"


def test_the_headers_resume_says_from_where(qtbot, view, written, open_library):
    written("stopped").begin().train(1).finish("stopped")
    open_library()
    header = view.header
    qtbot.waitUntil(lambda: header.headline.text() == "Stopped after 1 epoch")
    words = "Resume continues at epoch 2 of 5 (checkpoint 14:41)."
    header.set_can_resume(True, words)
    assert header.resume.isVisible()
    assert header.resume.property("role") == ""  # it was ended on purpose
    assert header.resume.toolTip().find("epoch 2 of 5") > 0
    assert header.how.text().startswith(words[:-1])


def test_a_crashed_run_has_no_second_resume_in_the_header(qtbot, view, written, open_library):
    run = written("dead").begin().train(1)
    run.end()
    open_library()
    qtbot.waitUntil(lambda: view.header.headline.text() == "Training crashed")
    assert view.trouble.resume.isVisible()
    assert not view.header.resume.isVisible()


def test_a_press_of_pause_leaves_the_keyboard_focus_where_it_was(
    qtbot, view, context, written, open_library
):
    written("active").begin().train(1)
    open_library()
    qtbot.waitUntil(view.header.pause.isVisible)
    view.activateWindow()
    view.log.setFocus()
    before = view.focusWidget()
    qtbot.mouseClick(view.header.pause, Qt.MouseButton.LeftButton)
    assert view.header.pause.text() == "Pausing"
    assert view.focusWidget() is before


def test_what_follows_the_training_is_beside_the_shares_of_the_time(
    qtbot, view, written, open_library
):
    run = written("time").begin().train(1)
    open_library()
    panel = view.panels["train_time"]
    assert not panel.bar.isVisible()  # nothing is known yet: no empty track
    spent = {"compile_s": 0.0, "saving_s": 0.0, "host_s": 0.0, "input_s": 0.0}
    run._writer.write(TimeSpent(compute_s=6.0, validation_s=2.0, after_s=227.0, **spent))
    qtbot.waitUntil(lambda: "3 min 47 s" in panel.after.text())
    assert panel.after.text().startswith("After training")
    shown = {name: row[2].text() for name, row in panel._rows.items() if not row[2].isHidden()}
    assert shown == {"compute": "75%", "validation": "25%"}


def test_a_run_that_is_through_its_epochs_is_listed_as_such(
    qtbot, view, context, tested, open_library
):
    open_library()
    qtbot.waitUntil(lambda: bool(context.library.runs))
    (summary,) = context.library.runs
    assert state_words(summary) == "Weights saved · evaluating on the test set"
    tested.log(RunFinished(outcome="completed", run="x", seconds=3.0, epochs_done=2))
