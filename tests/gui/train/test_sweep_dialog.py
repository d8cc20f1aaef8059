"""The sweep's dialog while something else happens: late looks, closing, and a second start."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from shiboken6 import isValid

from tests.class_folders import stripes_project, write_stripes
from workbench.checkup.analysed import check_sweep
from workbench.client.background import Background
from workbench.errors import RunError, SaveError, UsageError
from workbench.gui.common import figure_saver
from workbench.gui.train.series import dialogs, sweep_plan
from workbench.gui.train.series.dialogs import SweepDialog
from workbench.gui.train.series.sweep_settings import AxisRow
from workbench.runs.folder import create_run
from workbench.runs.library.sweep import Axis, SweepPlan, sweepable
from workbench.runs.library.sweep_result import sweep_result

_PATIENCE_MS = 20_000


@pytest.fixture
def project(tmp_path):
    return stripes_project(write_stripes(tmp_path / "data", 60), epochs=1, learning_rate=0.05)


@pytest.fixture
def dialog(window, project):
    window.context.library.open()
    window.context.document.new(project)
    window.actions_by_key["sweep"].trigger()
    (dialog,) = window.findChildren(SweepDialog)
    yield dialog
    if isValid(dialog):
        dialog.reject()


def make_runs(project, home, series, seeds=1):
    """The runs of a sweep as its start makes them, but none in the queue."""
    plan = SweepPlan(project, (Axis.parse("learning_rate=0.05,0.01"),), seeds=seeds)
    for each in plan.runs():
        create_run(each.project, label=each.label, series=series, point=each.point, home=home)


def wait_until_idle(dialog, qtbot):
    """Until no look or check is under way, and what they have found is shown."""
    work = dialog.findChildren(Background)
    assert work
    qtbot.waitUntil(lambda: not any(each.is_busy for each in work), timeout=_PATIENCE_MS)


def test_a_late_look_does_not_bring_back_the_sweep_of_another_project(
    dialog, window, project, qtbot, monkeypatch
):
    document, library = window.context.document, window.context.library
    begun, may_end = threading.Event(), threading.Event()

    def late(series, home):
        found = sweep_result(series, home)
        if series == "old-1" and not begun.is_set():
            begun.set()
            may_end.wait(_PATIENCE_MS / 1000)
        return found

    monkeypatch.setattr(dialogs, "sweep_result", late)
    shown = dialog.results
    make_runs(document.project, library.home, "old-1")
    library.refresh()
    qtbot.waitUntil(begun.is_set, timeout=_PATIENCE_MS)
    document.new(project)
    make_runs(document.project, library.home, "new-1")
    library.refresh()
    assert not shown.result.runs
    qtbot.waitUntil(lambda: shown.result.series == "new-1", timeout=_PATIENCE_MS)
    may_end.set()
    wait_until_idle(dialog, qtbot)
    assert shown.result.series == "new-1"


def test_the_line_of_a_seed_shows_its_run_and_not_the_best_one(dialog, window, qtbot):
    home = window.context.library.home
    make_runs(window.context.document.project, home, "seeds-1", seeds=2)
    table, asked = dialog.results.table, []
    dialog.results.run_asked.connect(asked.append)
    window.context.library.refresh()
    qtbot.waitUntil(lambda: table.topLevelItemCount() == 2, timeout=_PATIENCE_MS)
    runs = dialog.results.result.combinations[0].runs
    line = table.topLevelItem(0)
    for place in range(2):
        table.setCurrentItem(line.child(place))
        table.itemDoubleClicked.emit(line.child(place), 0)
        dialog.results.show_run.click()
    paths = [run.trained.run.path for run in runs]
    assert asked == [paths[0], paths[0], paths[1], paths[1]]
    # It stays selected while results arrive.
    table.select(runs[0].combination)
    assert table.run == paths[1]
    dialog.results.select(dialog.results.result.combinations[1].number)
    assert table.run is None


def test_a_row_of_values_never_is_a_window_of_its_own(qapp, context, project, qtbot):
    shown = []

    class Watch(QObject):
        def eventFilter(self, watched, event):
            if event.type() == QEvent.Type.Show and watched.isWidgetType() and watched.isWindow():
                shown.append(watched)
            return False

    watch = Watch()
    qapp.installEventFilter(watch)
    settings = {each.key: each for each in sweepable(project)}
    qtbot.addWidget(AxisRow(context.theme, settings["learning_rate"]))
    qapp.removeEventFilter(watch)
    assert not shown


def test_a_range_that_begins_above_its_end_is_explained(context, project, qtbot):
    settings = {each.key: each for each in sweepable(project)}
    row = AxisRow(context.theme, settings["learning_rate"])
    qtbot.addWidget(row)
    row.form.setCurrentIndex(row.form.findData("range"))
    row.low.set_value(0.1)
    row.high.set_value(0.01)
    with pytest.raises(UsageError, match="the lower end must be below the upper end"):
        row.axis()


def check_rates(dialog, qtbot):
    """Compares three learning rates."""
    tree = dialog.plan.settings
    wait_until_idle(dialog, qtbot)
    tree.item("learning_rate").setCheckState(0, Qt.CheckState.Checked)


def test_closing_does_not_wait_for_the_check_which_ends_before_its_next_combination(
    dialog, qtbot, monkeypatch
):
    begun, may_end, ends = threading.Event(), threading.Event(), []

    def held(plan, go_on):
        begun.set()
        may_end.wait(_PATIENCE_MS / 1000)
        try:
            return check_sweep(plan, go_on)
        except RunError as error:
            ends.append(str(error))
            raise

    monkeypatch.setattr(sweep_plan, "check_sweep", held)
    check_rates(dialog, qtbot)
    qtbot.waitUntil(begun.is_set, timeout=_PATIENCE_MS)
    with qtbot.waitSignal(dialog.destroyed, timeout=_PATIENCE_MS):
        dialog.reject()
        assert not dialog.isVisible()
        assert not ends
        may_end.set()
    assert ends == ["Canceled."]


def test_nothing_is_started_while_runs_are_queued(dialog, window, qtbot, monkeypatch):
    plan, may_end, calls = dialog.plan, threading.Event(), []

    def held(_plan, **_where):
        calls.append(1)
        may_end.wait(_PATIENCE_MS / 1000)
        raise SaveError("The disk is full.")

    monkeypatch.setattr(dialogs, "begin_series", held)
    check_rates(dialog, qtbot)
    qtbot.waitUntil(plan.start.isEnabled, timeout=_PATIENCE_MS)
    plan.start.click()
    qtbot.waitUntil(lambda: bool(calls), timeout=_PATIENCE_MS)
    window.context.document.set_recipe(epochs=2)
    qtbot.waitUntil(plan._timer.isActive, timeout=_PATIENCE_MS)
    qtbot.waitUntil(lambda: not plan._timer.isActive(), timeout=_PATIENCE_MS)
    assert not plan.start.isEnabled()
    assert "Queuing the runs" in plan.words.text()
    plan.start.click()
    may_end.set()
    qtbot.waitUntil(plan.start.isEnabled, timeout=_PATIENCE_MS)
    assert len(calls) == 1


def test_the_menu_saves_the_figure_that_is_shown(dialog, qtbot, monkeypatch):
    page, asked = dialog.results, []
    monkeypatch.setattr(
        figure_saver,
        "ask_save_path",
        lambda _on, _title, name, *_rest, **_more: ("", asked.append(name)),
    )
    for key in ("parallel", "scatter"):
        page.figure.chosen.emit(key)
        menu = page.menu_button.menu()
        menu.aboutToShow.emit()
        assert len(menu.actions()) == 3
        menu.actions()[1].trigger()
    assert asked == ["parallel-coordinates.svg", "scatter-plot.svg"]
