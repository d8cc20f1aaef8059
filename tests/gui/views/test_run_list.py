"""The list of runs: found by words, several selected, shown on the plots, kept in order."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QItemSelectionModel, QPoint, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QMessageBox

from workbench.core.projects.project import Project
from workbench.core.training.learning_rates import LongerTraining
from workbench.core.training.recipe import TrainingRecipe
from workbench.gui.kit.theme import ui_font
from workbench.gui.panels import panels_of
from workbench.gui.train.runs import controller
from workbench.gui.train.runs.controller import RunNotesDialog, TrainLongerDialog
from workbench.gui.train.runs.run_list import run_menu
from workbench.gui.train.runs.run_model import (
    EYE_COLOR_ROLE,
    SUMMARY_ROLE,
    chips,
    eye_rect,
    fitting,
)
from workbench.gui.train.view import TrainView
from workbench.runs.folder import create_run
from workbench.runs.state.queue import enqueue, waiting
from workbench.runs.store.notes import RunNotes, read_notes, write_notes


@pytest.fixture
def view(show_view, context):
    return show_view(TrainView(context, panels_of("train")), 1300, 800)


@pytest.fixture
def three(written, open_library):
    """Three runs that have ended, newest first in the list: c, b, a."""
    runs = [written(name, epochs=2).begin().train(2).finish() for name in ("a", "b", "c")]
    for place, run in enumerate(runs):  # made within one second: distinguished by hand
        write_notes(run.folder, RunNotes(tags=["even"] if place % 2 == 0 else []))
    open_library()
    return runs


def titles(view):
    model = view.panels["train_runs"].list.model()
    return [model.index(row, 0).data(SUMMARY_ROLE).title for row in range(model.rowCount())]


def choose(view, *wanted):
    """Selects the rows of some titles, as clicks with Ctrl do."""
    model, selection = (
        view.panels["train_runs"].list.model(),
        view.panels["train_runs"].list.selectionModel(),
    )
    selection.clearSelection()
    for row, title in enumerate(titles(view)):
        if title in wanted:
            flag = QItemSelectionModel.SelectionFlag.Select
            selection.select(model.index(row, 0), flag)


def test_words_tags_and_comparisons_find_runs(view, three):
    view.panels["train_runs"].filter.setText("tag:even")
    assert sorted(titles(view)) == ["a", "c"]
    view.panels["train_runs"].filter.setText("tag:even -title:c")
    assert titles(view) == ["a"]
    view.panels["train_runs"].filter.setText("acc>0.7")
    assert len(titles(view)) == 3
    view.panels["train_runs"].filter.setText("acc>0.8")
    assert titles(view) == []
    assert "None of 3 runs" in view.panels["train_runs"].hint.text()
    view.panels["train_runs"].filter.clear()
    assert view.panels["train_runs"].hint.isHidden()


def test_filtering_does_not_change_the_run_that_is_looked_at(view, context, three):
    current = context.library.current
    view.panels["train_runs"].filter.setText("no such run")
    view.panels["train_runs"].filter.clear()
    assert context.library.current is current
    assert [run.path for run in view.panels["train_runs"].selected()] == [current.run.path]


def test_several_can_be_selected_without_leaving_the_current_one(view, context, three):
    current = context.library.current.run.path
    choose(view, "a", "b", "c")
    assert len(view.panels["train_runs"].selected()) == 3
    assert context.library.current.run.path == current
    panel = view.panels["train_runs"]
    texts = [action.text() for action in panel.make_menu(panel.selected()).actions()]
    assert "Move 3 runs to trash\tDel" in texts
    for chosen in ("abc", "ab"):
        choose(view, *chosen)
        compare = panel.make_menu(panel.selected()).actions()[0]
        assert compare.text() == "Compare…"
        assert compare.isEnabled()


def test_space_shows_the_selected_runs_on_the_plots(qtbot, view, context, three):
    choose(view, "a", "b")
    view.panels["train_runs"].list.setFocus()
    qtbot.keyClick(view.panels["train_runs"].list, Qt.Key.Key_Space)
    assert context.library.shown == {three[0].path, three[1].path}
    qtbot.waitUntil(lambda: len(context.library.shown_histories()) == 2)
    shown = {overlay.title: overlay.color for overlay in view.state.overlays.overlays()}
    current = context.library.summary(context.library.current.run.path).title
    assert set(shown) == {"a", "b"} - {current}
    rows = view.panels["train_runs"].model.runs
    colors = {
        run.title: view.panels["train_runs"].model.index(i, 0).data(EYE_COLOR_ROLE)
        for i, run in enumerate(rows)
    }
    assert colors["a"] != colors["b"]
    assert colors["c"] == ""
    qtbot.keyClick(view.panels["train_runs"].list, Qt.Key.Key_Space)
    assert context.library.shown == set()


def test_a_colour_stays_while_another_run_is_hidden(view, context, three):
    for run in three:
        context.library.toggle_shown(run.path)
    before = dict(view.state.overlays.colors)
    context.library.toggle_shown(min(before))
    after = view.state.overlays.colors
    assert len(after) == 2
    assert all(before[path] == color for path, color in after.items())


def test_the_eye_of_another_run_does_not_select_it(qtbot, view, context, three):
    """Also with a hand that trembles, and clicked twice."""
    rows = view.panels["train_runs"].list
    chosen = context.library.current.run.path
    (before,) = view.panels["train_runs"].selected()
    asked = []
    view.state.runs_asked.connect(lambda *each: asked.append(each))
    at = eye_rect(rows.visualRect(rows.model().index(2, 0))).center()
    other = rows.model().index(2, 0).data(SUMMARY_ROLE)
    assert other.path != chosen
    where, left = rows.viewport(), Qt.MouseButton.LeftButton
    qtbot.mousePress(where, left, pos=at)
    qtbot.mouseMove(where, at + QPoint(2, 1))
    qtbot.mouseRelease(where, left, pos=at + QPoint(2, 1))
    assert context.library.shown == {other.path}
    assert view.panels["train_runs"].selected() == [before]
    qtbot.mouseDClick(where, left, pos=at)
    assert context.library.shown == set()
    assert context.library.current.run.path == chosen
    assert not asked


def test_selected_runs_lead_to_their_comparison(qtbot, view, context, three):
    panel, asked = view.panels["train_runs"], []
    view.state.runs_asked.connect(lambda key, runs: asked.append((key, len(runs))))
    assert panel.compare.isHidden()
    top = panel.list.geometry().top()
    choose(view, "a", "c")
    assert panel.compare.text() == "Compare 2 runs…"
    assert panel.compare.isVisible()
    assert panel.list.geometry().top() == top
    view.actions_of_runs.do = lambda *_: None
    qtbot.mouseClick(panel.compare, Qt.MouseButton.LeftButton)
    view.state.compare_asked.emit()
    choose(view, "b")
    assert panel.compare.isHidden()
    view.state.compare_asked.emit()
    assert asked == [("compare", 2), ("compare", 2), ("compare", 1)]


def test_the_eye_of_a_row_can_be_clicked(qtbot, view, context, three):
    index = view.panels["train_runs"].list.model().index(1, 0)
    place = eye_rect(view.panels["train_runs"].list.visualRect(index)).center()
    viewport = view.panels["train_runs"].list.viewport()
    current = context.library.current
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=QPoint(place))
    assert context.library.shown == {index.data(SUMMARY_ROLE).path}
    assert context.library.current is current


def test_f2_edits_name_tags_and_note(qtbot, view, context, three, monkeypatch):
    def answer(dialog):
        assert (dialog.title.text(), dialog.title.placeholderText()) == ("", "b")
        dialog.title.setText("  better ")
        dialog.tags.setText("paper, night")
        dialog.text.setPlainText("first line\nsecond <line>")
        return QDialog.DialogCode.Accepted

    monkeypatch.setattr(RunNotesDialog, "exec", answer)
    choose(view, "b")
    qtbot.keyClick(view.panels["train_runs"].list, Qt.Key.Key_F2)
    qtbot.waitUntil(lambda: read_notes(three[1].folder).title == "better")
    notes = read_notes(three[1].folder)
    assert notes.tags == ["paper", "night"]
    assert notes.text == "first line\nsecond <line>"
    qtbot.waitUntil(lambda: "better" in titles(view))
    assert [run.title for run in view.panels["train_runs"].selected()] == ["better"]


def test_tags_can_be_added_to_several_at_once(qtbot, view, three, monkeypatch):
    monkeypatch.setattr(controller, "ask_text", lambda *_: "one two")
    choose(view, "a", "b")
    view.actions_of_runs.do("tags", view.panels["train_runs"].selected())
    qtbot.waitUntil(lambda: read_notes(three[1].folder).tags == ["one", "two"])
    qtbot.waitUntil(lambda: read_notes(three[0].folder).tags == ["even", "one", "two"])


def test_del_asks_before_anything_goes(qtbot, view, context, three, monkeypatch):
    deleted = []
    monkeypatch.setattr(context.library, "delete", deleted.append)
    asked = []

    def say_no(box):
        asked.append(box.text())
        return QMessageBox.StandardButton.Cancel

    monkeypatch.setattr(QMessageBox, "exec", say_no)
    choose(view, "a", "b")
    qtbot.keyClick(view.panels["train_runs"].list, Qt.Key.Key_Delete)
    assert asked == ["Move 2 runs to the trash?"]
    assert deleted == []
    monkeypatch.setattr(QMessageBox, "exec", lambda _box: QMessageBox.StandardButton.Yes)
    qtbot.keyClick(view.panels["train_runs"].list, Qt.Key.Key_Delete)
    assert sorted(deleted) == [three[0].path, three[1].path]


def test_an_active_run_is_not_deleted_with_del(qtbot, view, written, open_library, monkeypatch):
    written("active").begin()
    open_library()
    asked = []
    view.state.runs_asked.connect(lambda key, _runs: asked.append(key))
    choose(view, "active")
    qtbot.keyClick(view.panels["train_runs"].list, Qt.Key.Key_Delete)
    assert asked == []


def test_waiting_runs_say_their_place_and_can_be_moved(qtbot, view, context, written, open_library):
    written("first").begin().train(1)
    for title in ("second", "third"):
        enqueue(create_run(Project(), title=title, label=title))
    open_library()
    assert view.panels["train_runs"].waiting.text() == "2 queued"
    model = view.panels["train_runs"].model
    words = {run.title: model.index(i, 0).data() for i, run in enumerate(model.runs)}
    assert words["second"] == "second, Queued, next"
    assert words["third"] == "third, Queued: 1 run before it"
    third = next(run for run in model.runs if run.title == "third")
    menu = {
        action.text(): action for action in view.panels["train_runs"].make_menu([third]).actions()
    }
    menu["Move up in queue"].trigger()
    qtbot.waitUntil(lambda: [run.request().title for run in waiting()] == ["third", "second"])
    context.library.select(third.path)
    qtbot.waitUntil(lambda: view.header.headline.text() == "Queued, next")
    assert view.header.how.text() == ""  # once is enough
    assert view.header.stop.text() == "Remove from queue"
    view.header.stop.click()
    qtbot.waitUntil(lambda: [run.request().title for run in waiting()] == ["second"])


def test_del_takes_waiting_runs_out_of_the_queue(qtbot, view, context, written, open_library):
    written("busy").begin()
    for title in ("first", "second"):
        enqueue(create_run(context.document.project, title=title))
    open_library()
    runs = view.panels["train_runs"].list
    qtbot.waitUntil(lambda: runs.model().rowCount() == 3)
    runs.clearSelection()
    for row in range(3):
        index = runs.model().index(row, 0)
        if index.data(SUMMARY_ROLE).queue_place:
            flags = QItemSelectionModel.SelectionFlag
            runs.selectionModel().select(index, flags.Select | flags.Rows)
    assert len(view.panels["train_runs"].selected()) == 2
    qtbot.keyClick(runs, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: [run.title for run in context.library.runs] == ["busy"])
    assert runs.model().rowCount() == 1


def test_a_new_run_leaves_selection_and_place_as_they_were(qtbot, view, context, written, three):
    choose(view, "a")
    written("d").begin().train(1).finish()
    with qtbot.waitSignal(context.library.runs_changed):
        context.library.refresh()
    assert len(titles(view)) == 4
    assert [run.title for run in view.panels["train_runs"].selected()] == ["a"]


def test_tags_that_do_not_fit_are_counted(qapp):
    metrics = QFontMetrics(ui_font(11))
    shown = chips(["one", "two", "three", "four"], metrics, 70)
    assert shown[0][0].startswith("+")
    assert [text for text, _ in shown][-1] == "one"
    assert sum(width for _, width in shown) <= 70 + 30
    assert chips([], metrics, 70) == []


def test_train_longer_is_offered_where_a_checkpoint_is_kept(qtbot, written, open_library, context):
    for name in ("with", "without"):
        run = written(name).begin().train(5).finish("completed")
        if name == "with":
            run.folder.checkpoints_path.mkdir()
            (run.folder.checkpoints_path / "1.npz").write_bytes(b"a checkpoint")
    open_library()
    found = {}
    for run in context.library.runs:
        menu = run_menu(None, [run], shown=(), ask=lambda key, runs: None)
        (action,) = [a for a in menu.actions() if a.text().startswith("Train longer")]
        found[run.title] = (action.text(), action.isEnabled())
    assert found == {
        "with": ("Train longer…", True),
        "without": ("Train longer (no checkpoint is kept)", False),
    }


def test_the_button_that_trains_longer_is_the_main_one(qtbot):
    longer = LongerTraining(TrainingRecipe(epochs=40), 40, 400)
    dialog = TrainLongerDialog("1 · Baseline", longer)
    qtbot.addWidget(dialog)
    kinds = QDialogButtonBox.StandardButton
    roles = [dialog.buttons.button(kind).property("role") for kind in (kinds.Ok, kinds.Cancel)]
    assert roles == ["primary", None]


def test_where_room_is_short_a_verdict_is_whole_and_its_reason_left_out(qtbot):
    metrics = QFontMetrics(ui_font(12))
    words = "Overfitting since epoch 6: the validation loss rises · today 18:01"
    head = "Overfitting since epoch 6"
    assert fitting(words, metrics, 1000) == words
    assert fitting(words, metrics, metrics.horizontalAdvance(head) + 1) == head
    assert fitting(words, metrics, 60).endswith("…")
