"""Export, the queue and the next steps know whose run it is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from tests.written_runs import WrittenRun
from workbench.core.projects.project import new_project_id
from workbench.gui.train.runs.compare_dialog import CompareRuns
from workbench.runs.folder import create_run
from workbench.runs.state.queue import enqueue
from workbench.templates import find_template

LENET = replace(find_template("lenet5").project, id=new_project_id(), title="lenet")
FASHION = replace(find_template("fashion_convnet").project, id=new_project_id())


@pytest.fixture
def runs(window, qtbot):
    """A model of each of two projects; the newest is that of fashion."""
    made = []
    for project in (LENET, FASHION):
        run = WrittenRun("", project=project, recipe=project.recipe).begin().train(1)
        run.folder.weights_path.write_bytes(b"weights")
        run.folder.card_path.write_bytes(b"{}")
        made.append(run.finish())
    with qtbot.waitSignal(window.context.library.runs_changed):
        window.context.library.open()
    return made


def test_export_offers_the_run_of_the_open_project(window, runs, monkeypatch):
    asked, titles = [], []
    monkeypatch.setattr(window.runs._export, "ask", lambda *words: asked.append(words[:2]))
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *words: (titles.append(words[1:]), ("", ""))[1]
    )
    window.context.document.restore(LENET)
    window.runs.ask_export()
    rate, epochs = LENET.recipe.learning_rate, LENET.recipe.epochs
    assert asked == [(runs[0].path, f"lenet 1 · lr {rate:g} · {epochs} epochs")]
    window.context.document.new(find_template("cifar10_convnet").project)
    window.actions_by_key["export"].trigger()
    assert len(asked) == 1
    ((title, _start, filters),) = titles
    assert title == "Export the network, without weights"
    assert filters == "Python script (*.py)"


def test_a_run_like_one_that_waits_is_remarked_on(window, runs, qtbot):
    window.context.document.restore(LENET)
    live = WrittenRun("", project=LENET, recipe=LENET.recipe).begin().train(1)
    enqueue(create_run(LENET))
    library = window.context.library
    library.refresh()
    qtbot.waitUntil(lambda: library.num_waiting == 1)
    assert window.runs._queued_alike(LENET).startswith("3 · lr")
    other = replace(LENET, recipe=LENET.recipe.with_values(seed=99))
    assert window.runs._queued_alike(other) == ""
    library.stop(next(run.path for run in library.runs if run.queue_place))
    live.finish()
    library.refresh()
    qtbot.waitUntil(lambda: all(run.is_over for run in library.runs))  # else closing would ask


def test_a_finished_run_leads_on(window, runs, qtbot):
    window.context.document.restore(LENET)
    for key in ("evaluate", "classify"):
        train = window.show_view("train")
        qtbot.mouseClick(train.next_steps.buttons[key], Qt.MouseButton.LeftButton)
        assert window.views.current_key == key
        assert window.views.currentWidget().chooser.path == runs[0].path
    train = window.show_view("train")
    again = train.next_steps.buttons["train_again"]
    assert again.isVisible()
    with qtbot.waitSignal(train.train_again) as wanted:
        qtbot.mouseClick(again, Qt.MouseButton.LeftButton)
    assert wanted.args == [runs[0].path]
    qtbot.waitUntil(lambda: "card is damaged" in window.status.currentMessage(), timeout=20_000)
    window.context.library.select(runs[1].path)
    assert not again.isVisible(), "it is a run of another project"
    qtbot.mouseClick(train.next_steps.buttons["open_project"], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.context.document.project_id == FASHION.id)


@pytest.mark.parametrize(("action", "part"), [("report", "_report"), ("export", "_export")])
def test_what_is_written_is_the_run_that_the_view_shows(window, runs, monkeypatch, action, part):
    asked = []
    monkeypatch.setattr(getattr(window.runs, part), "ask", lambda path, *_: asked.append(path))
    window.context.document.restore(LENET)
    for view in ("evaluate", "classify"):
        window.show_view(view).chooser.choose(runs[1].path)  # of another project, to be clear
        window.actions_by_key[action].trigger()
    window.show_view("train")
    window.actions_by_key[action].trigger()
    assert asked == [runs[1].path, runs[1].path, runs[0].path]


def test_a_run_is_compared_with_one_of_its_project(window, runs, qtbot):
    second = WrittenRun("", project=LENET, recipe=LENET.recipe).begin().train(1).finish()
    WrittenRun("", project=FASHION, recipe=FASHION.recipe).begin().train(1).finish()
    library = window.context.library
    library.refresh()
    qtbot.waitUntil(lambda: len(library.runs) == 4)
    first = library.summary(runs[0].path)
    window.show_view("train").actions_of_runs.do("compare", [first])
    dialog = window.findChild(CompareRuns)
    assert str(dialog.right.currentData()) == str(second.path)
    dialog.reject()
