"""A run opens as a project: from the welcome page, from its menu and by double click."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from tests.written_runs import WrittenRun
from workbench.core.projects.project_file import read_project, save_project
from workbench.gui.files import opening
from workbench.protocol.events import RunFinished
from workbench.runs.home import runs_home
from workbench.templates import find_template

OLD_RUN = Path(__file__).parents[2] / "data" / "runs" / "before_project_ids"


@pytest.fixture
def listed(window, qtbot):
    """Reads the list of runs, as the window does after its first paint."""

    def read():
        with qtbot.waitSignal(window.context.library.runs_changed):
            window.context.library.open()

    return read


@pytest.fixture
def changed(window):
    """A template with other values, begun in the window but never saved."""
    window.files.new(find_template("fashion_convnet").project)
    recipe = {"learning_rate": 0.0003, "batch_size": 500, "epochs": 40}
    window.context.document.set_recipe(**recipe)
    return window.context.document.project


def train(project, path="", *, is_over=True):
    run = WrittenRun(project.title, recipe=project.recipe, project=project, project_path=path)
    run.begin().train(1)
    return run.finish() if is_over else run


def press(widget):
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)


def links(widget):
    return {each.text(): each for each in widget.findChildren(QPushButton) if each.isVisible()}


def test_the_run_that_trains_opens_with_its_project(window, qtbot, listed, changed):
    run = train(changed, is_over=False)
    window.files._document.new()
    window.show_view("welcome")
    listed()
    welcome = window.views.view("welcome")
    qtbot.waitUntil(welcome._running.isVisible)
    press(welcome._running)
    qtbot.waitUntil(lambda: window.views.current_key == "train")
    document, library = window.context.document, window.context.library
    assert document.graph == changed.graph
    assert document.recipe == changed.recipe
    assert (document.project_id, document.is_dirty) == (changed.id, False)
    assert window.windowTitle() == "[*]Fashion-MNIST convnet — Workbench"
    assert library.current.run.path == run.path
    run.finish()
    qtbot.waitUntil(lambda: library.summary(run.path).is_over)  # else closing would ask


def test_an_unsaved_project_with_runs_stays_among_the_recent(window, qtbot, listed, changed):
    train(changed)
    window.files._document.new(find_template("lenet5").project)
    window.show_view("welcome")
    listed()
    recent = window.views.view("welcome").recent_runs
    qtbot.waitUntil(lambda: bool(links(recent)))
    shown = links(recent)
    title = "Untitled (Fashion-MNIST convnet)"
    assert list(shown) == [title, "Fashion-MNIST convnet: 1 · lr 0.0003 · 40 epochs"]
    press(shown[title])
    qtbot.waitUntil(lambda: window.context.document.project_id == changed.id)
    assert window.context.document.graph == changed.graph


def test_a_saved_project_opens_as_its_file_wherever_that_is_now(
    window, qtbot, listed, changed, tmp_path
):
    run = train(changed)
    path = tmp_path / "saved later.workbench"
    window.context.document.save(path)
    window.context.document.new()
    listed()
    welcome = window.views.view("welcome")

    def is_listed_once():  # where the file is, is noted in another thread
        welcome.recent_runs.refresh()
        return len(welcome.recent_runs.shown) == 1

    qtbot.waitUntil(is_listed_once)
    window.run_opener.open(run.path)
    qtbot.waitUntil(lambda: window.context.document.path == path)
    assert window.context.document.project_id == changed.id


@pytest.fixture(params=[0, 1, 2])
def answered(request, monkeypatch):
    """What the user answers, and the questions."""
    asked = []
    answer = request.param
    monkeypatch.setattr(opening, "ask_choice", lambda *words: asked.append(words) or answer)
    return answer, asked


def test_a_file_that_differs_is_opened_or_the_run_as_a_copy(
    window, qtbot, changed, tmp_path, answered
):
    answer, asked = answered
    path = tmp_path / "p.workbench"
    save_project(changed, path)
    run = train(changed, str(path))
    save_project(replace(changed, recipe=changed.recipe.with_values(epochs=3)), path)
    document = window.context.document
    document.new()
    fresh = document.project_id
    window.run_opener.open(run.path)
    qtbot.waitUntil(lambda: len(asked) == 1)
    assert asked[0][1] == "“p.workbench” has changed since this run."
    if answer == 2:
        assert document.project_id == fresh
        return
    assert (document.project_id, document.path) == (changed.id, path if answer == 0 else None)
    assert document.recipe.epochs == (3 if answer == 0 else 40)
    if answer == 1:  # saved beside the file it is a project of its own
        document.save(tmp_path / "copy.workbench")
        assert read_project(tmp_path / "copy.workbench").id != changed.id
        assert read_project(path).id == changed.id


def test_a_double_click_opens_the_project_of_a_run(window, qtbot, listed, changed):
    window.context.document.restore(changed)  # unedited since: nothing to ask
    run = train(changed)
    other = train(replace(find_template("lenet5").project, id="f" * 16, title="lenet"))
    view = window.show_view("train")
    listed()
    tree = view.panels["train_runs"].list
    qtbot.waitUntil(lambda: window.context.library.current.run.path == run.path)
    window.context.library.select(other.path)
    view.state.runs_asked.emit("open_project", [window.context.library.summary(other.path)])
    qtbot.waitUntil(lambda: window.context.document.project_id == "f" * 16)
    assert tree.isVisible()


def test_a_run_of_an_earlier_version_opens(window, qtbot, listed):
    shutil.copytree(OLD_RUN, runs_home() / "2026-11-22_20-16-06_stripes")
    window.show_view("welcome")
    listed()
    recent = window.views.view("welcome").recent_runs
    qtbot.waitUntil(lambda: bool(links(recent)))
    shown = links(recent)
    press(shown["Stripes · lr 0.05 · 2 epochs"])
    qtbot.waitUntil(lambda: len(window.context.document.graph.nodes) == 4)
    document = window.context.document
    assert (document.recipe.learning_rate, document.recipe.epochs) == (0.05, 2)
    assert window.context.library.current.run.name == "2026-11-22_20-16-06_stripes"


def pause(run):
    run._writer.write(
        RunFinished(
            outcome="stopped", run=run.folder.name, seconds=3.0, epochs_done=1,
            can_resume=True, is_paused=True,
        )
    )  # fmt: skip
    return run.end()


def test_a_run_goes_by_the_file_that_its_project_was_saved_as_later(
    window, qtbot, listed, changed, tmp_path
):
    train(replace(changed, title=""), is_over=True)
    window.show_view("welcome")
    listed()
    recent = window.views.view("welcome").recent_runs
    assert recent.lines[0].link.text() == "Untitled: 1 · lr 0.0003 · 40 epochs"
    window.context.document.save(tmp_path / "mynet.workbench")
    name = "mynet: 1 · lr 0.0003 · 40 epochs"
    qtbot.waitUntil(lambda: list(links(recent)) == [name])
    assert window.context.library.runs[0].project == "mynet"


def test_the_welcome_page_shows_what_trains_and_what_is_paused(
    window, qtbot, listed, changed, monkeypatch
):
    halted = pause(train(changed, is_over=False))
    for _ in range(5):
        train(changed)
    live = train(changed, is_over=False)
    resumed = []
    library = window.context.library
    monkeypatch.setattr(library, "resume", lambda path, wait: resumed.append((path, wait)))
    window.show_view("welcome")
    listed()
    lines = window.views.view("welcome").recent_runs.lines
    assert [line.state.text() for line in lines[:3]] == [
        "Running · epoch 2 of 5",
        "Paused after 1 epoch",
        "",
    ]
    qtbot.waitUntil(lines[0].state.isVisible)
    assert [line.state.isVisible() for line in lines[:3]] == [True, True, False]
    assert [line.resume.isVisible() for line in lines[:3]] == [False, True, False]
    live.train(1)
    library.refresh()
    qtbot.waitUntil(lambda: lines[0].state.text() == "Running · epoch 3 of 5")
    press(lines[1].resume)
    assert resumed == [(halted.path, True)]
    live.finish()
    library.refresh()
    qtbot.waitUntil(lambda: all(run.is_over for run in library.runs))  # else closing would ask
