from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from workbench.core.projects.project import Project
from workbench.core.storage.own_file import take_lock
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import RunFolderError, SaveError
from workbench.runs.control import command_of, request_stop
from workbench.runs.folder import create_run, is_locked
from workbench.runs.home import cache_home, data_home, made_cache, runs_home
from workbench.runs.library.index import find_model, list_runs, open_run
from workbench.runs.library.projects import PLACES_NAME, keep_place
from workbench.runs.model_card import ModelCard, read_card, write_card
from workbench.runs.state.queue import remember_outside


def test_the_homes_follow_the_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    assert data_home() == tmp_path
    assert runs_home() == tmp_path / "runs"
    assert cache_home() == tmp_path / "cache"


def test_the_homes_without_the_variable(monkeypatch, tmp_path):
    monkeypatch.delenv("WORKBENCH_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert data_home() == tmp_path / "data" / "workbench"
    assert cache_home() == tmp_path / "cache" / "workbench"


def test_a_run_keeps_its_request():
    project = Project(title="Größe: 3/4", recipe=TrainingRecipe(epochs=3))
    run = create_run(project, project_path="/home/me/p.workbench")
    request = run.request()
    assert request.title == "Größe: 3/4"
    assert request.to_project().recipe.epochs == 3
    assert request.project_path == "/home/me/p.workbench"
    assert run.path.parent == runs_home()
    assert not run.is_alive()
    assert not run.has_model()


def test_runs_of_the_same_second_have_folders_of_their_own():
    assert len({create_run(Project(title="x")).path for _ in range(5)}) == 5


def test_an_exact_folder_must_be_empty(tmp_path):
    run = create_run(Project(), path=tmp_path / "deep" / "run")
    assert run.path == tmp_path / "deep" / "run"
    with pytest.raises(RunFolderError, match="not empty"):
        create_run(Project(), path=run.path)
    (tmp_path / "file").write_text("")
    with pytest.raises(SaveError):
        create_run(Project(), path=tmp_path / "file" / "run")


def test_runs_are_found_by_path_name_and_start_of_the_name(run):
    assert open_run(run.path) == open_run(run.name) == open_run(run.name[:-2]) == run
    with pytest.raises(RunFolderError, match="Unknown run") as error:
        open_run("nothing like it")
    assert run.name in error.value.expected
    create_run(Project(title="Small net"))
    with pytest.raises(RunFolderError, match="Several"):
        open_run(run.name[:6])


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("{", "damaged"),
        ('{"project": 3}', "damaged"),
        ('{"project": {}, "version": 99}', "newer"),
        ("[" * 100_000, "damaged"),
    ],
)
def test_a_damaged_request_is_reported(run, text, match):
    run.request_path.write_text(text)
    with pytest.raises(RunFolderError, match=match):
        run.request()


def test_a_stop_is_requested_once_and_stays_requested(run):
    assert not command_of(run)
    request_stop(run)
    request_stop(run)
    assert command_of(run)


def test_the_lock_is_proof_of_life(run):
    assert not is_locked(run.lock_path)
    lock = take_lock(run.lock_path)
    assert run.is_alive()
    assert run.is_alive()
    assert take_lock(run.lock_path, wait_s=0.0) is None
    import os

    os.close(lock)
    assert not run.is_alive()


CARD = ModelCard(class_names=["a", "b"], input_shape=[8, 8, 1], fit="crop", graph={"nodes": []})


def test_the_card_comes_back(run):
    write_card(run.path, CARD)
    assert read_card(run.path) == run.model_card() == CARD
    assert find_model(run.name) == str(run.path)


def test_a_run_without_weights_is_reported(run):
    with pytest.raises(RunFolderError, match="no trained weights"):
        find_model(run.path)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "{}",
        '{"class_names": [], "input_shape": [8, 8, 1], "fit": "crop", "graph": {}}',
        '{"class_names": ["a"], "input_shape": [8, 0, 1], "fit": "crop", "graph": {}}',
        '{"class_names": ["a"], "input_shape": [8, 8, 1], "fit": "crop", "graph": {}, "version": 9}',
    ],
)
def test_a_damaged_card_is_reported(run, text):
    run.card_path.write_text(text)
    with pytest.raises(RunFolderError):
        run.model_card()


def test_the_log_tail_has_no_control_characters(run):
    run.log_path.write_bytes(b"\x1b[31mred\x1b[0m\n\n\xff\nlast\x07\n")
    assert run.log_tail() == ("[31mred[0m", "\ufffd", "last")


def test_a_cache_that_cannot_be_made_is_reported(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(SaveError, match="could not be created") as caught:
        made_cache(file / "cache")
    assert caught.value.where == str(file / "cache")
    assert Path(made_cache(tmp_path / "a" / "b")).is_dir()


def test_runs_and_lists_of_files_are_for_this_user_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "own"))
    old = os.umask(0o022)
    try:
        inside = create_run(Project(title="A"))
        outside = create_run(Project(title="B"), path=tmp_path / "elsewhere" / "run")
        remember_outside(outside)
        keep_place(data_home(), "id", "/home/a/b.workbench")
    finally:
        os.umask(old)
    for folder in (tmp_path / "own", inside.path.parent, inside.path, outside.path):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder
    names = ("outside-runs.json", PLACES_NAME)
    lists = [path for path in (tmp_path / "own").iterdir() if path.name in names]
    assert len(lists) == 2
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in lists)


def test_a_run_in_the_runs_folder_is_listed_once_whatever_way_led_there(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    (tmp_path / "work").mkdir()
    run = create_run(Project(title="A"), path=tmp_path / "work" / ".." / "runs" / "a")
    remember_outside(run)
    assert [found.name for found in list_runs()] == ["a"]
