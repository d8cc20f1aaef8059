"""A run of another project: it is named, it leads there, and Stop is not about it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt

from tests.looks import wait_until_painted
from workbench.core.projects.project import new_project_id
from workbench.gui.common import run_text
from workbench.gui.train import run_controller
from workbench.protocol.events import RunFinished
from workbench.templates import find_template

OTHER = replace(find_template("fashion_convnet").project, id=new_project_id(), title="Flowers & Co")


@pytest.fixture
def other(qtbot, cifar, written):
    """A run of another project trains; the window shows a project without runs."""
    run = written("", project=OTHER, recipe=OTHER.recipe).begin().train(1)
    library = cifar.context.library
    with qtbot.waitSignal(library.runs_changed):
        library.open()
    qtbot.waitUntil(lambda: cifar.runs.elsewhere is not None)
    return run


@pytest.fixture
def ended(cifar, monkeypatch):
    """What the library was asked to end; the trainer is this process."""
    calls = []
    for name in ("stop", "pause"):
        keep = lambda path, name=name: calls.append((name, path))  # noqa: E731
        monkeypatch.setattr(cifar.context.library, name, keep)
    return calls


def test_the_button_and_the_keys_are_not_about_another_projects_run(cifar, other, ended):
    top, actions = cifar.top, cifar.actions_by_key
    assert not cifar.runs.is_running
    assert top.train.accessibleName() == "Add to queue"
    assert "“Flowers & Co: 1 · lr" in top.train.toolTip().replace("&amp;", "&")
    assert not top.next.isVisible()
    assert not actions["stop_run"].isEnabled()
    assert not actions["pause_run"].isEnabled()
    assert actions["start_run"].text() == "Add to &queue"
    cifar.runs.stop()
    cifar.runs.pause()
    assert ended == []


def test_pressing_the_button_waits_for_the_run_that_it_names(
    qtbot, cifar, other, ended, monkeypatch
):
    begun = []
    monkeypatch.setattr(
        cifar.context.library, "start_run", lambda project, **kw: begun.append((project, kw))
    )
    qtbot.mouseClick(cifar.top.train, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(begun))
    assert begun[0][1]["wait"] is True
    assert ended == []
    cifar.context.library.run_queued.emit("")
    assert "it starts when “Flowers & Co: 1" in cifar.status.currentMessage()


def test_a_chip_says_how_far_it_is_and_leads_there(qtbot, cifar, other):
    chip = cifar.top.elsewhere
    assert chip.isVisible()
    qtbot.waitUntil(lambda: chip.accessibleName() == "Flowers & Co: epoch 1 of 5")
    other.train(1)
    qtbot.waitUntil(lambda: chip.accessibleName() == "Flowers & Co: epoch 2 of 5")
    assert cifar.top.train.property("role") == "primary"
    qtbot.mouseClick(chip, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: cifar.context.document.project_id == OTHER.id)
    qtbot.waitUntil(lambda: cifar.views.current_key == "train")
    assert not chip.isVisible()
    assert cifar.top.train.text() == "Stop"
    assert "Ends “Flowers" in cifar.top.train.toolTip()
    assert cifar.context.library.current.run.path == other.path


@pytest.mark.parametrize("width", [960, 1024, 1280, 1440])
def test_the_switch_of_views_stays_where_it_is_when_a_chip_appears(
    qtbot, cifar, written, monkeypatch, width
):
    cifar.resize(width, 700)
    top = cifar.top
    switch_at = lambda: top.switch.mapTo(cifar, QPoint(0, 0)).x()  # noqa: E731
    qtbot.waitUntil(lambda: cifar.width() == width)
    wait_until_painted(qtbot, top)
    before = switch_at()
    run = written("", project=OTHER, recipe=OTHER.recipe).begin().train(1)
    cifar.context.library.open()
    qtbot.waitUntil(top.elsewhere.isVisible)
    run.train(1)
    qtbot.waitUntil(lambda: "epoch 2 of 5" in top.elsewhere.accessibleName())
    wait_until_painted(qtbot, top)
    assert abs(switch_at() - before) <= 1
    assert top.elsewhere.shown_text().count("&") % 2 == 0
    if width <= 1024:
        assert top.elsewhere.text() == "40%"
        assert top.train.accessibleName() == "Add to queue"
    assert top.train.isVisible()
    assert top.train.mapTo(cifar, top.train.rect().topRight()).x() < width
    cifar.resize(1600, 700)
    qtbot.waitUntil(lambda: top.train.text() == "Add to queue")
    assert top.elsewhere.text().startswith("Flowers && Co: epoch 2")


def test_another_projects_run_is_stopped_only_when_it_is_agreed_by_name(
    qtbot, cifar, other, ended, monkeypatch
):
    asked, answers = [], [1, 1, 0, 0]

    def answer(_parent, what, more, choices, *, default=0):
        asked.append((what, more, choices[default]))
        return answers.pop(0)

    monkeypatch.setattr(run_text, "ask_choice", answer)
    train = cifar.show_view("train")
    cifar.context.library.select(other.path)
    qtbot.waitUntil(train.header.stop.isEnabled)
    summary = cifar.context.library.summary(other.path)
    for _round in range(2):
        qtbot.mouseClick(train.header.stop, Qt.MouseButton.LeftButton)
        train.actions_of_runs.do("pause", [summary])
    words = [what for what, _more, _default in asked]
    assert words[0].startswith("Stop “Flowers & Co: 1 · lr")
    assert words[1].startswith("Pause “Flowers & Co: 1 · lr")
    assert all("another project" in more for _what, more, _default in asked)
    assert {default for *_, default in asked} == {"Cancel"}
    assert ended == [("stop", other.path), ("pause", other.path)]


def test_the_end_of_another_projects_run_is_told_by_its_name(qtbot, cifar, other):
    with qtbot.waitSignal(cifar.context.library.run_ended):
        other.finish()
    assert cifar.status.currentMessage().startswith("“Flowers & Co: 1 · lr")
    assert "raining completed" in cifar.status.currentMessage()
    qtbot.waitUntil(lambda: not cifar.top.elsewhere.isVisible())
    assert cifar.top.train.text() == "Train"


def test_closing_names_the_run_that_goes_on(cifar, other, ended, monkeypatch):
    asked = []
    monkeypatch.setattr(
        run_controller, "ask_choice", lambda _parent, what, *_rest: [asked.append(what), 3][1]
    )
    assert not type(cifar.runs).may_close(cifar.runs)
    assert asked[0].startswith("“Flowers & Co: 1 · lr")
    assert ended == []


def test_the_projects_own_run_has_one_stop_button(qtbot, cifar, written, other):
    project = cifar.context.document.project
    own = written("", project=project, recipe=project.recipe).begin().train(1)
    library, header = cifar.context.library, cifar.show_view("train").header
    library.refresh()
    qtbot.waitUntil(lambda: library.summary(own.path) is not None)
    library.select(own.path)
    qtbot.waitUntil(header.pause.isVisible)
    qtbot.waitUntil(lambda: cifar.top.train.text() == "Stop")
    assert not header.stop.isVisible()
    library.select(other.path)  # the bar's Stop is not about this one
    qtbot.waitUntil(header.stop.isVisible)


def test_train_is_no_main_button_beside_a_paused_run(qtbot, cifar, written):
    project = cifar.context.document.project
    run = written("", project=project, recipe=project.recipe).begin().train(1)
    paused = {"outcome": "stopped", "is_paused": True, "can_resume": True}
    run._writer.write(RunFinished(run="x", seconds=9.0, epochs_done=1, **paused))
    run.end()
    assert cifar.top.train.property("role") == "primary"
    cifar.context.library.open()
    qtbot.waitUntil(lambda: cifar.top.train.property("role") == "")
    assert cifar.top.train.text() == "Train"  # it can be pressed all the same
    resume = cifar.show_view("train").header.resume
    qtbot.waitUntil(resume.isVisible)
    assert resume.property("role") == "primary"
    cifar.context.document.new(OTHER)
    qtbot.waitUntil(lambda: cifar.top.train.property("role") == "primary")
