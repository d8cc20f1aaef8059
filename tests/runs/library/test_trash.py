from __future__ import annotations

import os

import pytest

from workbench.core.projects.project import Project
from workbench.errors import RunError
from workbench.runs.folder import create_run
from workbench.runs.library import trash
from workbench.runs.library.trash import check_deletable, trash_run
from workbench.runs.state import queue


@pytest.fixture(autouse=True)
def home_trash(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return tmp_path / "share" / "Trash"


def test_a_run_can_be_put_back_from_the_trash(home_trash, written):
    run = written("a b").begin().train(1).finish().folder
    target = trash_run(run)
    assert not run.path.exists()
    assert target == home_trash / "files" / run.name
    assert (target / "events.jsonl").is_file()
    lines = (home_trash / "info" / f"{run.name}.trashinfo").read_text().splitlines()
    assert lines[0] == "[Trash Info]"
    assert lines[1] == f"Path={run.path}"
    assert lines[2].startswith("DeletionDate=20")


def test_names_that_are_taken_get_a_number(home_trash, written, tmp_path):
    for _ in range(2):
        run = create_run(Project(), path=tmp_path / "runs" / "same name")
        trash_run(run)
    names = sorted(path.name for path in (home_trash / "files").iterdir())
    assert names == ["same name", "same name.2"]
    info = (home_trash / "info" / "same name.2.trashinfo").read_text()
    assert "same%20name" in info


def test_a_run_that_trains_stays(written, home_trash):
    run = written("busy").begin()
    with pytest.raises(RunError, match="running run"):
        trash_run(run.folder)
    assert run.path.exists()


def test_a_waiting_run_leaves_the_queue_first():
    run = create_run(Project())
    queue.enqueue(run)
    check_deletable(run)
    assert queue.waiting() == []
    assert run.path.exists()


def test_another_disk_has_its_own_trash(tmp_path, monkeypatch, home_trash):
    """The home trash is on another disk: the trash at the top of the run's disk is taken."""
    run = create_run(Project(), path=tmp_path / "disk" / "runs" / "one")
    monkeypatch.setattr(trash, "_top_of_disk", lambda path: tmp_path / "disk")
    home_trash.parent.mkdir(parents=True)
    home_trash.write_text("no folder: as good as another disk")
    target = trash_run(run)
    user = os.getuid()
    assert target == tmp_path / "disk" / f".Trash-{user}" / "files" / "one"
    info = target.parent.parent / "info" / "one.trashinfo"
    assert "Path=runs/one\n" in info.read_text()


def test_a_shared_trash_is_used_only_where_nobody_could_have_faked_it(
    tmp_path, monkeypatch, home_trash
):
    top = tmp_path / "disk"
    monkeypatch.setattr(trash, "_top_of_disk", lambda path: top)
    home_trash.parent.mkdir(parents=True)
    home_trash.write_text("")
    (top / ".Trash").mkdir(parents=True)
    one = create_run(Project(), path=top / "runs" / "one")
    assert ".Trash-" in str(trash_run(one))
    (top / ".Trash").chmod(0o1777)
    two = create_run(Project(), path=top / "runs" / "two")
    assert trash_run(two) == top / ".Trash" / str(os.getuid()) / "files" / "two"


def test_what_cannot_be_moved_stays_where_it_is(tmp_path, home_trash, monkeypatch):
    run = create_run(Project(), path=tmp_path / "one")

    def refuse(self, target):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(type(run.path), "rename", refuse)
    with pytest.raises(RunError, match="could not be moved"):
        trash_run(run)
    assert run.request_path.exists()
    assert list((home_trash / "info").iterdir()) == []
