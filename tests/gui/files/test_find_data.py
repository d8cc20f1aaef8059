"""The button that finds moved images, and what the open project makes of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import shiboken6

from tests.gui.views.pets import RESULT, WEIGHTS, keep_pets, scored_pets, write_pets
from workbench.client.background import Background
from workbench.core.projects.project import Choice, Project
from workbench.errors import DataNotFoundError
from workbench.gui.images import find_data
from workbench.gui.images.find_data import FindDataButton
from workbench.pictures.contents import content_of_file
from workbench.runs.moved_data import place_now
from workbench.runs.store.evaluation import KeptEvaluation, keep_evaluation


@pytest.fixture
def background(qtbot):
    background = Background(max_threads=1)
    yield background
    background.close()


@pytest.fixture
def moved(window, written, tmp_path):
    """Where images of the open project and of a run were, and where they are now."""
    old, new = write_pets(tmp_path / "pets"), tmp_path / "my pets"
    project = Project(dataset=Choice("folder", {"path": str(old)}))
    run = written("", project=project).begin().train(1).finish().folder
    keep_pets(run, old)
    ids = [content_of_file(str(old / f"{number}.png")) for number in range(20)]
    content = np.frombuffer(b"".join(ids), np.uint8).reshape(20, 16)
    kept = KeptEvaluation(result=RESULT, created=1.5, checksum=WEIGHTS)
    keep_evaluation(run, kept, replace(scored_pets(old), content=content))
    window.context.document.set_dataset(project.dataset)
    old.rename(new)
    return old, new


@pytest.fixture
def button(qtbot, window, moved, background):
    button = FindDataButton(window.context, background)
    button.show_for(DataNotFoundError("There is no such folder.", where=str(moved[0])))
    yield button
    if shiboken6.isValid(button):
        shiboken6.delete(button)


def test_found_images_are_compared_once_and_used_by_project_and_runs(
    qtbot, window, moved, button, monkeypatch
):
    compared, real = [], find_data.look_at
    monkeypatch.setattr(find_data, "look_at", lambda *w: [compared.append(w), real(*w)][1])
    old, new = moved
    with qtbot.waitSignal(button.found):
        button.take(str(new))
    assert window.context.document.project.dataset.params["path"] == str(new)
    assert place_now(str(old)) == str(new)
    window.moved.close()  # waits for what it still compares
    assert compared == [(str(old), str(new))]


def test_where_to_begin_to_look_is_found_in_a_thread(qtbot, moved, button, tmp_path, monkeypatch):
    """The folders around the old one may be on a disk that does not answer."""
    starts = []
    monkeypatch.setattr(
        find_data, "ask_folder", lambda *_words, start, **_kind: starts.append(start) or ""
    )
    button.click()
    assert starts == []
    qtbot.waitUntil(lambda: bool(starts))
    assert starts == [str(tmp_path)]


def test_nothing_follows_where_the_button_is_gone_by_then(qtbot, moved, button, background):
    button.take(str(moved[1]))
    shiboken6.delete(button)
    qtbot.waitUntil(lambda: not background.is_busy)
    assert place_now(str(moved[0])) == str(moved[0])
