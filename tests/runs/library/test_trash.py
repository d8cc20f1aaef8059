from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from send2trash import plat_other

from workbench.cli import main
from workbench.core.projects.project import Project
from workbench.errors import RunError
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.library.trash import (
    check_deletable,
    restore_path,
    trash_run,
    trashed_runs,
)
from workbench.runs.state import queue

MEMORY = Path("/dev/shm")  # noqa: S108 - not for what is written, but for being another disk


@pytest.fixture
def other_disk():
    """A folder on another disk than the tests'; its trash is at the top of that disk."""
    if not os.access(MEMORY, os.W_OK) or MEMORY.stat().st_dev == Path.home().stat().st_dev:
        pytest.skip("no second disk is at hand")
    folder = Path(tempfile.mkdtemp(prefix="workbench-test-", dir=MEMORY))
    yield folder
    shutil.rmtree(folder)


def trash_in_a_child(path, home, **variables):
    """Trashes a run as a process of its own does, whose home is another one."""
    source = (
        "import sys, pathlib; from workbench.runs.folder import RunFolder; "
        "from workbench.runs.library.trash import trash_run; trash_run(RunFolder(pathlib.Path(sys.argv[1])))"
    )
    environment = {**os.environ, "HOME": str(home), **variables}
    subprocess.run([sys.executable, "-c", source, str(path)], check=True, env=environment)


def test_a_run_can_be_put_back_from_the_trash(home_trash, written):
    run = written("a b").begin().train(1).finish().folder
    trash_run(run)
    assert not run.path.exists()
    assert (home_trash / "files" / run.name / "events.jsonl").is_file()
    lines = (home_trash / "info" / f"{run.name}.trashinfo").read_text().splitlines()
    assert lines[0] == "[Trash Info]"
    assert lines[1] == f"Path={run.path}"
    assert lines[2].startswith("DeletionDate=20")


@pytest.mark.parametrize("folder", ["", "relative"])
def test_a_data_folder_that_is_none_by_its_specification_is_the_usual_one(
    written, tmp_path, monkeypatch, folder
):
    run = written("a b").begin().train(1).finish().folder
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    trash_in_a_child(run.path, tmp_path / "home", XDG_DATA_HOME=folder)
    assert (tmp_path / "home" / ".local" / "share" / "Trash" / "files" / run.name).is_dir()
    assert not list((tmp_path / "here").iterdir())


def test_names_that_are_taken_get_a_number(home_trash, tmp_path):
    for _ in range(2):
        run = create_run(Project(), path=tmp_path / "runs" / "same name")
        trash_run(run)
    trashed = list((home_trash / "files").iterdir())
    assert len(trashed) == 2
    for path in trashed:
        assert (path / "request.json").is_file()
        assert "same%20name" in (home_trash / "info" / f"{path.name}.trashinfo").read_text()


def test_a_run_that_trains_stays(written, home_trash):
    run = written("busy").begin()
    with pytest.raises(RunError, match="running run"):
        trash_run(run.folder)
    assert run.path.exists()
    assert not home_trash.exists()


def test_a_waiting_run_leaves_the_queue_first():
    run = create_run(Project())
    queue.enqueue(run)
    check_deletable(run)
    assert queue.waiting() == []
    assert run.path.exists()


def test_a_link_is_moved_and_not_what_it_points_to(home_trash, tmp_path):
    kept = create_run(Project(), path=tmp_path / "elsewhere" / "kept")
    link = tmp_path / "link"
    link.symlink_to(kept.path)
    trash_run(RunFolder(link))
    assert kept.request_path.is_file()
    assert not link.is_symlink()
    assert (home_trash / "files" / "link").is_symlink()


def test_another_disk_has_its_own_trash(other_disk, tmp_path):
    run = create_run(Project(), path=other_disk / "one")
    own = MEMORY / f".Trash-{os.getuid()}"
    was_there = own.exists()
    trash_in_a_child(run.path, tmp_path)
    infos = list((own / "info").glob("one*.trashinfo"))
    mine = [info for info in infos if f"Path={other_disk.name}/one\n" in info.read_text()]
    trashed = own / "files" / mine[0].stem
    assert (trashed / "request.json").is_file()
    assert not run.path.exists()
    if was_there:
        shutil.rmtree(trashed)
        mine[0].unlink()
    else:
        shutil.rmtree(own)


def test_what_is_copied_to_another_disk_leaves_what_links_point_to(other_disk, tmp_path):
    """The person's data folder is on another disk than the home and the runs."""
    run = create_run(Project(), path=tmp_path / "runs" / "one")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("kept")
    (run.path / "pictures").symlink_to(outside)
    trash_in_a_child(run.path, tmp_path, XDG_DATA_HOME=str(other_disk))
    assert not run.path.exists()
    assert (outside / "precious").read_text() == "kept"
    (trashed,) = (other_disk / "Trash" / "files").iterdir()
    assert (trashed / "request.json").is_file()
    assert (trashed / "pictures").is_symlink()


def test_what_cannot_be_moved_stays_where_it_is(tmp_path, home_trash):
    run = create_run(Project(), path=tmp_path / "one")
    home_trash.parent.mkdir()
    home_trash.write_text("a file where the trash should be")
    with pytest.raises(RunError, match="could not be moved") as caught:
        trash_run(run)
    assert caught.value.where == str(run.path)
    assert caught.value.received
    assert run.request_path.exists()
    assert list(home_trash.parent.iterdir()) == [home_trash]


def test_a_home_that_does_not_exist_yet_is_made(tmp_path, written):
    run = written("a").begin().train(1).finish().folder
    home = tmp_path / "no" / "such" / "home"
    trash_in_a_child(run.path, home)
    assert not run.path.exists()
    assert (home / ".local" / "share" / "Trash" / "files" / run.name / "request.json").is_file()


def test_a_home_that_cannot_be_made_is_reported(monkeypatch, written):
    run = written("a").begin().train(1).finish().folder
    monkeypatch.setenv("HOME", "/proc/no/home")
    with pytest.raises(RunError, match="there is no home folder") as caught:
        trash_run(run)
    assert (caught.value.where, run.path.exists()) == ("/proc/no/home", True)


def test_a_trashed_run_comes_back_to_its_place(home_trash, written, capsys):
    run = written("a b").begin().train(1).finish().folder
    assert main(["runs", "trash", run.name]) == 0
    capsys.readouterr()
    assert main(["runs", "restore"]) == 0
    assert str(run.path) in capsys.readouterr().out
    assert main(["runs", "restore", "no-such"]) == 3
    assert main(["runs", "restore", run.name]) == 0
    assert run.request_path.is_file()
    assert not [*(home_trash / "info").iterdir()]
    assert trashed_runs() == []


def test_of_two_of_a_name_the_last_deleted_comes_back(home_trash, tmp_path):
    path = tmp_path / "runs" / "same name"
    for title in ("first", "second"):
        trash_run(create_run(Project(title=title), path=path))
    for info in (home_trash / "info").iterdir():
        trashed = RunFolder(home_trash / "files" / info.name.removesuffix(".trashinfo"))
        day = "02" if trashed.request().title == "first" else "01"
        lines = info.read_text().splitlines()[:2]
        info.write_text("\n".join([*lines, f"DeletionDate=2026-01-{day}T10:00:00"]))
    assert restore_path(path).request().title == "first"


def test_a_run_is_not_put_over_another(home_trash, tmp_path):
    run = create_run(Project(), path=tmp_path / "runs" / "one")
    trash_run(run)
    create_run(Project(), path=run.path)
    with pytest.raises(RunError, match="something is in its place"):
        restore_path(run.path)


def test_what_is_no_run_is_not_listed(home_trash, tmp_path):
    for kind in ("files", "info"):
        (home_trash / kind).mkdir(parents=True)
    (home_trash / "files" / "letter.txt").touch()
    (home_trash / "info" / "letter.txt.trashinfo").write_text("[Trash Info]\nPath=/x/letter.txt\n")
    (home_trash / "info" / "odd.trashinfo").write_bytes(b"\xff\x00")
    assert trashed_runs(tmp_path) == []


def test_a_run_comes_back_from_the_trash_of_its_disk(other_disk, tmp_path, monkeypatch):
    run = create_run(Project(), path=other_disk / "one")
    trash_in_a_child(run.path, tmp_path)
    assert not run.path.exists()
    restore_path(run.path)
    assert run.request_path.is_file()


@pytest.mark.parametrize(
    "path", ["../outside/one", "a/../../outside/one", "/outside/one", "link/one", "circle/one"]
)
def test_a_disk_cannot_say_that_a_run_was_beside_it(home_trash, tmp_path, monkeypatch, path):
    """What is put back there would be written anywhere: the disk may come from elsewhere."""
    disk = tmp_path / "disk"
    monkeypatch.setattr(plat_other, "find_mount_point", lambda _: os.fsencode(disk))
    bin_of_disk = disk / f".Trash-{os.getuid()}"
    create_run(Project(), path=bin_of_disk / "files" / "one")
    info = bin_of_disk / "info" / "one.trashinfo"
    info.parent.mkdir()
    info.write_text("[Trash Info]\nPath=runs/one\n")
    assert [run.path for run in trashed_runs(disk)] == [disk / "runs" / "one"]
    (disk / "link").symlink_to(tmp_path)
    (disk / "circle").symlink_to("circle")
    info.write_text(f"[Trash Info]\nPath={path}\n")
    assert trashed_runs(disk) == []
