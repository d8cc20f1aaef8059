"""When a window keeps a trainer ready, and when it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.app import keep_trainer_ready
from workbench.gui.common import next_run
from workbench.runs.start import ready_trainer
from workbench.templates import find_template


@pytest.fixture
def keeper(window, monkeypatch):
    monkeypatch.setattr(next_run, "DELAY_MS", 0)
    keeper = keep_trainer_ready(window)
    yield keeper
    keeper.close()
    assert ready_trainer.pid == 0


@pytest.fixture
def ready(qtbot, window, keeper):
    """The process id of the trainer that is kept for an opened project."""
    assert ready_trainer.pid == 0
    window.files.new(find_template("cifar10_convnet").project)
    qtbot.waitUntil(lambda: ready_trainer.pid != 0)
    return ready_trainer.pid


def is_gone(pid):
    return not Path(f"/proc/{pid}").exists()


def test_the_setting_ends_it_and_starts_it_again(qtbot, context, ready):
    context.settings.change(keeps_trainer_ready=False)
    qtbot.waitUntil(lambda: is_gone(ready))
    context.document.set_recipe(epochs=7)
    context.settings.change(keeps_trainer_ready=True)
    qtbot.waitUntil(lambda: ready_trainer.pid not in {0, ready})


def test_an_edit_that_needs_other_variables_replaces_it(qtbot, context, ready):
    context.document.set_recipe(threads=1)
    qtbot.waitUntil(lambda: ready_trainer.pid not in {0, ready})
    assert is_gone(ready)


def test_a_change_of_view_starts_it_again_where_it_ended(qtbot, window, ready):
    ready_trainer.release()
    window.top.switch.chosen.emit("train")
    qtbot.waitUntil(lambda: ready_trainer.pid not in {0, ready})


def test_a_run_under_way_gets_its_memory(qtbot, context, ready, written):
    library = context.library
    run = written(home=library.home)
    run.begin()
    library.open()
    qtbot.waitUntil(lambda: is_gone(ready))
    run.finish()
    run.end()
    library.refresh()
    qtbot.waitUntil(lambda: ready_trainer.pid != 0)
