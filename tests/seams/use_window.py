"""Uses one added thing in the real window of a copy of the program, and prints what was seen.

A script, run by test_window_plugins.py with the copy first on the path: no fixture of pytest
reaches into that process.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # for tests.written_runs

from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu

import workbench
from tests.small_projects import stripes_project
from tests.written_runs import WrittenRun
from workbench.app import close_context, make_context, make_window
from workbench.gui.help import groups_of
from workbench.gui.panels import panels_of
from workbench.runs.home import data_home

assert Path(workbench.__file__).is_relative_to(Path.cwd()), "not the copy"


PATIENCE_S = 300


def opened(context):
    """A window over the parts, shown and active."""
    window = make_window(context, data_home())
    window.show()
    window.activateWindow()
    assert QTest.qWaitForWindowActive(window)
    return window


def wait_until(is_so):
    """Lets the window work until something is so; fails where it never is."""
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s, f"never so: line {is_so.__code__.co_firstlineno}"
        QTest.qWait(20)


def menu_of(window, title):
    """A menu of the window, filled as when it is opened."""
    menu = next(menu for menu in window.findChildren(QMenu) if menu.title() == title)
    menu.aboutToShow.emit()
    return [action.text() for action in menu.actions()]


def view(context, _folder):
    window = opened(context)
    window.files.new()
    QTest.keyClick(window, Qt.Key.Key_6, Qt.KeyboardModifier.ControlModifier)
    shown = window.views.currentWidget()
    by_key = window.views.current_key
    window.show_view("design")
    QTest.mouseClick(window.top.switch._buttons["glossary"], Qt.MouseButton.LeftButton)
    return {
        "by key": by_key,
        "by segment": window.views.current_key,
        "text": shown.text(),
        "is visible": shown.isVisible(),
        "menu": menu_of(window, "&View"),
        "keys": dict(groups_of(window.menus.listed()))["View"],
        "is checked": window.actions_by_key["glossary"].isChecked(),
    }


def panel_and_source(context, folder):
    window = opened(context)
    context.library.open()
    context.library.start_run(stripes_project(folder), title="Stripes")
    wait_until(lambda: context.library.current is not None)
    wait_until(lambda: context.library.current.is_over)
    assert context.library.current.outcome.kind == "completed"
    evaluate = window.show_view("evaluate")
    context.library.refresh()
    wait_until(lambda: evaluate.chooser.path is not None)
    failures = []
    evaluate.state.failed.connect(failures.append)
    evaluate.evaluate()
    wait_until(lambda: failures or evaluate.state.evaluation is not None)
    assert not failures
    answer = evaluate.state.evaluation
    worst = evaluate.panels["worst_class"]
    seen = {
        "recalls": {score.name: score.recall for score in answer.per_class},
        "words": [label.text() for label in worst.findChildren(QLabel)],
        "is visible": worst.isVisible(),
        "menu": menu_of(window, "&Panels"),
        "titles": [panel.title for panel in panels_of("evaluate")],
        **classified_gray(window),
    }
    window.show_view("evaluate")
    next(a for a in evaluate.panels.actions() if a.text() == "Worst class").trigger()
    seen["is hidden"] = worst.isHidden()
    wait_until(lambda: not window.runs.is_running)  # else closing asks
    assert window.close()
    again = opened(context)
    kept = again.show_view("evaluate").panels
    seen["stays hidden"] = kept["worst_class"].isHidden()
    seen["others are hidden"] = kept["evaluate_classes"].isHidden()
    again.layouts.reset()
    seen["hidden after a reset"] = kept["worst_class"].isHidden()
    return seen


def classified_gray(window):
    """What the menu of sources offers, and the answers for what the added one brings in."""
    classify = window.show_view("classify")
    wait_until(lambda: classify.state.run is not None)
    menu = classify.panels["classify_pictures"].drop.more.menu()
    menu.aboutToShow.emit()
    answers, failures = [], []
    classify.state.classified.connect(lambda entry: answers.append(entry.answer))
    classify.state.failed.connect(failures.append)
    next(action for action in menu.actions() if action.text() == "Plain gray").trigger()
    wait_until(lambda: answers or failures)
    assert not failures
    return {
        "sources": [action.text() for action in menu.actions()],
        "classified": [[Path(a.file).name, *sorted(s.name for s in a.scores)] for a in answers],
    }


def curve(context, folder):
    run = WrittenRun("quick").begin().train(2).finish()
    window = opened(context)
    context.library.open()
    wait_until(lambda: context.library.runs)
    context.library.select(run.path)
    plots = window.show_view("train").plots
    wait_until(lambda: context.library.current.is_loaded)
    plot = plots.by_key["images_per_second"]
    was_shown = plot.isVisible()
    actions = plots.by_key["loss"].header.menu.actions()
    next(each for each in actions if each.text() == "Show images per second").trigger()
    plots.redraw()
    x, y = plot.main.raw.item.getData()
    plot.axes.hovered.emit(1.0)
    saved = []
    plots.said.connect(saved.append)
    plots.export(plot, folder / "plot.csv")
    wait_until(lambda: saved)
    return {
        "run": str(run.path),
        "was shown": was_shown,
        "is shown": plot.isVisible(),
        "x": x.tolist(),
        "y": y.tolist(),
        "title": plot.header.title.text(),
        "value": plot.card.train.text(),
    }


def setting(context, _folder):
    window = opened(context)
    seen = {}

    def use():
        dialog = QApplication.activeModalWidget()
        seen["labels"] = [label.text() for label in dialog.findChildren(QLabel)]
        box = dialog.form.editor_widget("beep")
        seen["before"] = box.isChecked()
        QTest.keyClick(box, Qt.Key.Key_Space)
        dialog.reject()

    QTimer.singleShot(0, use)
    window.actions_by_key["settings"].trigger()
    return seen


def main() -> None:
    what, folder = sys.argv[1], Path(sys.argv[2])
    app = QApplication([])
    context = make_context(data_home(), app)
    context.theme.apply(app)
    seen = globals()[what](context, folder)
    for window in app.topLevelWidgets():
        window.hide()
    close_context(context)
    assert "tensorflow" not in sys.modules
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
