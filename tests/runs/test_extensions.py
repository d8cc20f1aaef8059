"""More epochs than a request plans: in force once a trainer has begun, and not before."""

from __future__ import annotations

import os

import pytest

from workbench.core.projects.project import Project
from workbench.core.storage.own_file import take_lock
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import LinkFoundError
from workbench.protocol.events import LogLine
from workbench.runs.folder import NAME, Extension, create_run
from workbench.runs.library.summary import summarise
from workbench.runs.log.event_log import EventWriter

TO_FOUR = Extension(after=2, before=2, epochs=4)
TO_SIX = Extension(after=4, before=4, epochs=6, restarts_patience=True)


@pytest.fixture
def run():
    return create_run(Project(id="p", recipe=TrainingRecipe(epochs=2)))


def log(run):
    with EventWriter(run.events_path) as writer:
        writer.write(LogLine(text="something"))


def epochs(run):
    return run.request().to_project().recipe.epochs


def test_it_is_in_force_while_a_trainer_is_there_and_once_that_has_logged(run):
    log(run)
    lock = take_lock(run.lock_path)
    run.extend(TO_FOUR)
    assert (epochs(run), run.project().recipe.epochs) == (4, 4)
    os.close(lock)
    assert epochs(run) == 2, "a trainer that has logged nothing has not begun"
    log(run)
    assert epochs(run) == 4
    assert summarise(run).label == "1 · lr 0.001 · 4 epochs"
    assert b'"epochs": 2' in run.request_path.read_bytes()


def test_one_that_never_began_does_not_come_back_with_the_next_trainer(run):
    log(run)
    run.extend(TO_FOUR)
    log(run)
    run.extend(TO_SIX)
    assert (epochs(run), run.request().patience_from) == (4, 0)
    lock = take_lock(run.lock_path)
    run.extend(None)
    assert epochs(run) == 4
    run.extend(TO_SIX)
    assert (epochs(run), run.request().patience_from) == (6, 4)
    os.close(lock)


def test_what_was_not_extended_gets_no_file(run):
    run.extend(None)
    assert not (run.path / NAME).exists()
    assert run.extensions().epochs == 0


@pytest.mark.parametrize("text", ["", "{", '{"entries": [{"after": "x"}]}', "[]"])
def test_a_damaged_file_changes_nothing(run, text):
    (run.path / NAME).write_text(text)
    assert epochs(run) == 2


def test_it_is_not_written_through_a_link(run, tmp_path):
    (tmp_path / "own").write_text("mine")
    (run.path / NAME).symlink_to(tmp_path / "own")
    with pytest.raises(LinkFoundError):
        run.extend(TO_FOUR)
    assert (tmp_path / "own").read_text() == "mine"
