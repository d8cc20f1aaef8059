"""Requests to a trainer: taken once, and written on a full disk, too."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import threading
from pathlib import Path

import pytest

from workbench.core.projects.project import Project
from workbench.errors import RunError, SaveError
from workbench.runs import control
from workbench.runs.control import (
    clear_command,
    command_of,
    keep_control_room,
    request_again,
    request_save,
    request_skip,
    request_stop,
    take_request,
)
from workbench.runs.folder import create_run


def test_a_request_is_taken_once_and_no_command():
    run = create_run(Project())
    assert take_request(run) is None
    for ask, word in ((request_skip, "skip"), (request_again, "again")):
        ask(run)
        assert command_of(run) is None
        assert take_request(run)[0] == word
        assert take_request(run) is None
    request_skip(run, is_all=True)
    assert take_request(run)[0] == "skip_all"
    request_stop(run)
    assert take_request(run) is None
    assert command_of(run) == "stop"


def test_a_stop_that_comes_while_a_request_is_taken_stays(monkeypatch):
    run = create_run(Project())
    request_skip(run)
    opened = control.open_own

    def stop_first(path, flags):
        request_stop(run)
        return opened(path, flags)

    monkeypatch.setattr(control, "open_own", stop_first)
    take_request(run)
    assert command_of(run) == "stop"


def test_a_stop_into_the_kept_room_outlives_a_request_that_is_just_taken(monkeypatch):
    """On a full disk both are written into the same file."""
    run = create_run(Project())
    keep_control_room(run)
    full = SaveError("No room.", where="x")
    full.__cause__ = OSError(errno.ENOSPC, "No space left on device")

    def refuse(_path, _data):
        raise full

    monkeypatch.setattr(control, "save_bytes", refuse)
    monkeypatch.setattr(control, "_keep_sender", lambda *_: None)
    request_skip(run)
    read, written = os.pread, threading.Event()
    stop = threading.Thread(target=lambda: (request_stop(run), written.set()))

    def read_and_wait(*arguments):
        data = read(*arguments)
        if not stop.is_alive() and not written.is_set():
            stop.start()
            written.wait(0.3)  # where nothing holds it, the stop is there by now
        return data

    monkeypatch.setattr(control.os, "pread", read_and_wait)
    assert take_request(run)[0] == "skip"
    stop.join()
    assert command_of(run) == "stop"


def test_another_folder_is_a_new_one(tmp_path):
    run = create_run(Project())
    with pytest.raises(RunError, match="is in the run's own"):
        request_save(run, run.path / "machines" / "copy")
    with pytest.raises(RunError, match="exists already"):
        request_save(run, tmp_path)
    request_save(run, tmp_path / "wörter und\tmehr")
    assert take_request(run) == ("save", tmp_path / "wörter und\tmehr")


def test_room_that_is_kept_is_no_command_and_takes_the_place_of_none():
    run = create_run(Project())
    keep_control_room(run)
    assert run.control_path.stat().st_size == 4096
    assert (command_of(run), take_request(run)) == (None, None)
    request_stop(run)
    keep_control_room(run)
    assert command_of(run) == "stop"
    clear_command(run)
    run.control_path.symlink_to(run.path / "elsewhere")
    keep_control_room(run)
    assert not (run.path / "elsewhere").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk is mounted by root alone")
def test_a_full_disk_has_room_for_a_command(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        with_room, without = (create_run(Project(), path=disk / name) for name in "ab")
        keep_control_room(with_room)
        fill(disk)
        with pytest.raises(SaveError, match="the disk is full"):
            request_stop(without)
        request_stop(with_room)
        assert command_of(with_room) == "stop"
        request_save(with_room, tmp_path / "x")
        assert take_request(with_room) == ("save", tmp_path / "x")
        request_skip(with_room)
        assert take_request(with_room) == ("skip", Path())
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=False, capture_output=True)


def fill(disk):
    with (disk / "ballast").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
