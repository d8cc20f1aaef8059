"""The window's sweep: chosen, trained by real runs through the queue, shown, saved and used."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from tests.class_folders import stripes_project, write_stripes
from tests.worker.conftest import chain
from workbench.gui.train.series.dialogs import SweepDialog
from workbench.runs.library.series import series_runs
from workbench.runs.state import queue

_PATIENCE_MS = 240_000
_WIDTH = "dense_3.units"


@pytest.fixture
def project(tmp_path):
    graph = chain(
        ("input", {"shape": (8, 8, 1)}),
        ("rescaling", {}),
        ("flatten", {}),
        ("dense", {"units": 4, "activation": "relu"}),
        ("dense", {"units": 3, "activation": "softmax"}),
    )
    own = stripes_project(write_stripes(tmp_path / "data", 60), epochs=1, learning_rate=0.05)
    return replace(own, graph=graph)


@pytest.fixture
def dialog(window, project, qtbot):
    window.context.library.open()
    window.context.document.new(project)
    window.actions_by_key["sweep"].trigger()
    (dialog,) = window.findChildren(SweepDialog)
    qtbot.waitUntil(lambda: has_setting(dialog, _WIDTH), timeout=_PATIENCE_MS)
    yield dialog
    dialog.reject()


def has_setting(dialog, key):
    try:
        return dialog.plan.settings.item(key) is not None
    except KeyError:
        return False


def compare(qtbot, dialog, key, values):
    """Checks a setting, and types its values."""
    dialog.plan.settings.item(key).setCheckState(0, Qt.CheckState.Checked)
    line = dialog.plan.rows[key].list
    line.clear()
    qtbot.keyClicks(line, values)
    qtbot.keyClick(line, Qt.Key.Key_Return)


def wait_for_check(qtbot, dialog):
    qtbot.waitUntil(dialog.plan.start.isEnabled, timeout=_PATIENCE_MS)
    return dialog.plan.words.text()


def test_widths_and_training_settings_are_offered_but_not_what_changes_the_images(dialog):
    tree = dialog.plan.settings
    assert tree.item(_WIDTH).text(1) == "4"
    assert tree.item("learning_rate").text(0) == "Learning rate"
    for key in ("seed", "validation_share", "dense_4.units", "momentum"):
        with pytest.raises(KeyError):
            tree.item(key)
    tree.search.setText("rate")
    assert tree.item("learning_rate").text(1) == "0.05"
    with pytest.raises(KeyError):
        tree.item(_WIDTH)
    tree.search.clear()
    assert tree.item(_WIDTH).parent().text(0) == "Widths"


def test_the_plan_is_counted_and_a_wrong_value_is_named(dialog, qtbot):
    compare(qtbot, dialog, "learning_rate", "0.05, 0.01")
    compare(qtbot, dialog, _WIDTH, "2, 4, 8")
    assert "6 runs of 6 combinations" in wait_for_check(qtbot, dialog)
    compare(qtbot, dialog, _WIDTH, "2, many")
    qtbot.waitUntil(lambda: "Units cannot be" in dialog.plan.words.text(), timeout=_PATIENCE_MS)
    assert not dialog.plan.start.isEnabled()
    dialog.plan.rows[_WIDTH].remove.click()
    assert "2 runs of 2 combinations" in wait_for_check(qtbot, dialog)
    assert dialog.plan.settings.item(_WIDTH).checkState(0) == Qt.CheckState.Unchecked


def test_a_range_has_steps_in_a_grid_and_is_drawn_from_at_random(dialog, qtbot):
    dialog.plan.settings.item(_WIDTH).setCheckState(0, Qt.CheckState.Checked)
    row = dialog.plan.rows[_WIDTH]
    row.form.setCurrentIndex(row.form.findData("range"))
    row.low.set_value(2)
    row.high.set_value(32)
    row.steps.set_value(5)
    row.spacing.setCurrentIndex(row.spacing.findData("log"))
    assert "5 runs of 5 combinations" in wait_for_check(qtbot, dialog)
    widths = [each.values[_WIDTH] for each in dialog.plan.plan().combinations]
    assert widths == ["2", "4", "8", "16", "32"]
    dialog.plan.order.chosen.emit("random")
    assert not row.steps.isVisible()
    assert dialog.plan.draw_seed.isVisible()
    dialog.plan.num_random.set_value(7)
    drawn = [int(each.values[_WIDTH]) for each in dialog.plan.plan().combinations]
    assert len(drawn) == 7
    assert all(2 <= width <= 32 for width in drawn)
    dialog.plan.draw_seed.set_value(5)
    again = dialog.plan.plan()
    assert again.draw_seed == 5
    assert [int(each.values[_WIDTH]) for each in again.combinations] != drawn
    dialog.plan.order.chosen.emit("grid")
    assert not dialog.plan.draw_seed.isVisible()


def test_combinations_that_cannot_be_trained_are_left_out_only_when_agreed(
    dialog, window, project, qtbot
):
    convolution = ("input", {"shape": (8, 8, 1)}), ("conv2d", {"filters": 2}), ("flatten", {})
    graph = chain(*convolution, ("dense", {"units": 3, "activation": "softmax"}))
    window.context.document.new(replace(project, graph=graph))
    qtbot.waitUntil(lambda: has_setting(dialog, "conv2d_1.kernel_size"), timeout=_PATIENCE_MS)
    compare(qtbot, dialog, "conv2d_1.kernel_size", "3, 9")
    qtbot.waitUntil(lambda: "1 of 2 combinations" in dialog.plan.words.text(), timeout=_PATIENCE_MS)
    assert not dialog.plan.start.isEnabled()
    assert dialog.plan.skip.text() == "Leave out 1 combination that cannot be trained"
    dialog.plan.seeds.set_value(2)
    dialog.plan.skip.setChecked(True)
    dialog.plan.check_soon()
    assert "2 runs of 1 combination" in wait_for_check(qtbot, dialog)


def test_runs_take_turns_on_several_targets(dialog, qtbot):
    compare(qtbot, dialog, "learning_rate", "0.05, 0.01, 0.02")
    button = dialog.plan.targets
    assert button.text() == "This computer"
    menu = button.menu()
    menu.aboutToShow.emit()
    lines = {action.text(): action for action in menu.actions() if action.isCheckable()}
    own = next(action for words, action in lines.items() if words.startswith("This computer"))
    assert own.isChecked()
    other = next(action for action in lines.values() if "simulated" in action.text())
    other.trigger()
    assert button.text() == "2 targets"
    wait_for_check(qtbot, dialog)
    keys = [each.project.target.key for each in dialog.plan.plan().runs()]
    assert len(keys) == 3
    assert keys[0] == keys[2] != keys[1]
    menu.aboutToShow.emit()
    next(a for a in menu.actions() if a.isCheckable() and "simulated" in a.text()).trigger()
    assert button.text() == "This computer"
    assert dialog.plan.plan().targets == ()


@pytest.mark.worker
def test_a_sweep_is_trained_shown_saved_and_used(dialog, window, qtbot, tmp_path):
    compare(qtbot, dialog, "learning_rate", "0.05, 0.000001")
    compare(qtbot, dialog, _WIDTH, "4, 16")
    wait_for_check(qtbot, dialog)
    dialog.plan.start.click()
    page, document = dialog.results, window.context.document
    qtbot.waitUntil(lambda: page.table.topLevelItemCount() == 4, timeout=_PATIENCE_MS)
    assert page.isVisible()
    qtbot.waitUntil(
        lambda: page.head.text().startswith("4 of 4 runs completed"), timeout=_PATIENCE_MS
    )
    best = page.result.best
    assert page.chosen() is best
    assert len(page.parallel.trials) == len(page.scatter.trials) == 4
    # The worst is chosen by a click on its line, and the project takes it in one step.
    worst = page.result.combinations[-1]
    trial = next(each for each in page.parallel.trials if each.number == worst.number)
    start, end = page.parallel.points(trial)[:2]
    place = (start + (end - start) * 0.3).toPoint()  # where no other line is
    qtbot.mouseClick(page.parallel, Qt.MouseButton.LeftButton, pos=place)
    assert page.chosen().number == worst.number
    steps = document.undo_stack.count()
    page.use.click()
    qtbot.waitUntil(lambda: "Undo reverts this" in page.said.text(), timeout=_PATIENCE_MS)
    assert document.undo_stack.count() == steps + 1
    assert document.recipe.learning_rate == float(worst.values["learning_rate"])
    (wide,) = [n for n in document.graph.nodes.values() if n.name == "dense_3"]
    assert wide.params["units"] == int(worst.values[_WIDTH])
    assert document.recipe.split_seed is None, "the division of the images stays the project's"
    document.undo_stack.undo()
    assert document.recipe.learning_rate == 0.05

    for saver, name in (("parallel", "a.csv"), ("parallel", "a.svg"), ("scatter", "b.png")):
        page._savers[saver].save(tmp_path / name)
        qtbot.waitUntil((tmp_path / name).exists, timeout=_PATIENCE_MS)
    qtbot.waitUntil(lambda: page.said.text().endswith("b.png."), timeout=_PATIENCE_MS)
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    assert [row[_WIDTH] for row in rows] == ["4", "16", "4", "16"]
    assert all(row["outcome"] == "completed" for row in rows)
    assert "Validation accuracy" in (tmp_path / "a.svg").read_text()

    # Another dialog, as after the window was closed, shows the same sweep.
    other = SweepDialog(window.context, window)
    other.show()
    qtbot.waitUntil(lambda: other.results.head.text() == page.head.text(), timeout=_PATIENCE_MS)
    assert other.results.isVisible()
    other.reject()


@pytest.mark.worker
def test_a_sweep_is_stopped_and_goes_on(dialog, window, qtbot):
    compare(qtbot, dialog, "learning_rate", "0.05, 0.04, 0.03")
    compare(qtbot, dialog, "epochs", "400, 401")
    wait_for_check(qtbot, dialog)
    dialog.plan.start.click()
    qtbot.waitUntil(dialog.results.stop.isVisible, timeout=_PATIENCE_MS)
    dialog.results.stop.click()
    qtbot.waitUntil(lambda: not dialog.results.stop.isVisible(), timeout=_PATIENCE_MS)
    home = window.context.library.home
    assert not queue.waiting(home)
    series = dialog._series
    waiting = {run.path for run in series_runs(series, home)[1:]}
    assert len(waiting) == 5

    # The same plan goes on with the same runs, but for one that had nothing yet to be resumed.
    dialog.pages.chosen.emit("plan")
    wait_for_check(qtbot, dialog)
    dialog.plan.start.click()
    qtbot.waitUntil(dialog.results.stop.isVisible, timeout=_PATIENCE_MS)
    assert dialog._series == series
    assert {run.path for run in series_runs(series, home)[1:]} == waiting
    dialog.results.stop.click()
    qtbot.waitUntil(lambda: not dialog.results.stop.isVisible(), timeout=_PATIENCE_MS)
