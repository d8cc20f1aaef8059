"""The run mirror against the real bridge in a process of its own, over a line that is cut.

The trainer behind it is a light one: what is held against each other are the two logs.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import random
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tests.remote.there import WEIGHTS, There
from workbench.cli import main
from workbench.core.projects.project import Project
from workbench.core.storage.own_file import take_lock
from workbench.errors import RemoteError, WorkbenchError
from workbench.protocol.events import Heartbeat
from workbench.remote.mirror import run_mirror as mirror_module
from workbench.remote.mirror.run_mirror import LinkReporter, RunMirror, note_attempt
from workbench.remote.mirror.session import FileFetcher, LogMirror
from workbench.remote.setup import name_there, packed_state, piece_of
from workbench.runs.control import (
    request_pause,
    request_retry,
    request_stop,
    send_command,
    take_retry,
)
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.link import Remote, read_link, read_remote, write_link, write_remote
from workbench.runs.log.event_log import EventWriter, read_all
from workbench.runs.state.outcome import outcome_of
from workbench.runs.store.checkpoint import (
    read_checkpoint,
)
from workbench.runs.store.weights_file import read_arrays, write_arrays

PATIENCE_S = 120.0


@pytest.fixture
def there(tmp_path):
    return There(tmp_path / "there")


@pytest.fixture
def here():
    run = create_run(Project())
    lock = take_lock(run.lock_path)
    write_link(run, LinkReporter(run, host="there", device="").link)
    yield run
    os.close(lock)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(mirror_module, "_LONGEST_WAIT_S", 0.05)


def carry(run, there, *, resume=False):
    if resume:
        note_attempt(run)
    reporter = LinkReporter(run, host="there", device="The TPU")
    return RunMirror(run, there.connect, there.prepare, reporter, resume=resume).run()


def in_background(run, there, **options):
    thread = threading.Thread(target=carry, args=(run, there), kwargs=options)
    thread.start()
    return thread


def wait_for(is_it):
    deadline = time.monotonic() + PATIENCE_S
    while not is_it():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def wait_for_more(path, num_bytes, thread):
    """Until a file has grown by so much, or the thread that it grows by has ended."""

    def size():
        return path.stat().st_size if path.exists() else 0

    enough = size() + num_bytes
    wait_for(lambda: size() >= enough or not thread.is_alive())


def check_brought(run, there):
    assert run.events_path.read_bytes() == there.log
    events = read_all(run.events_path)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    weights = read_arrays(run.weights_path, checksum=run.model_card().checksum)
    assert np.array_equal(weights["dense/kernel"], WEIGHTS["dense/kernel"])
    assert not (run.path / "fetching").exists()


def test_a_run_is_brought_whole(here, there):
    assert carry(here, there) == 0
    check_brought(here, there)
    assert there.lines == 1
    assert (read_link(here).state, read_remote(here).run) == ("ended", "run-1")
    assert not here.checkpoints_path.exists()  # completed: as on the computer that trained it


def test_what_a_completed_run_keeps_there_is_kept_here_and_nothing_else(here, tmp_path):
    there = There(tmp_path / "there", keeps=True)
    here.checkpoints_path.mkdir()
    write_arrays(here.checkpoints_path / "2.npz", WEIGHTS)  # fetched before, and gone there
    assert carry(here, there) == 0
    check_brought(here, there)
    assert [path.name for path in here.checkpoints_path.iterdir()] == ["1.npz"]
    assert (here.checkpoints_path / "1.npz").read_bytes() == (there.runs / "1.npz").read_bytes()


def test_cut_anywhere_nothing_is_lost_or_doubled_and_the_trainer_notices_nothing(here, there):
    rng = random.Random(os.environ.get("PYTEST_CUTS_SEED", "7"))
    there.cuts = (int(10 ** rng.uniform(1.5, 5.5)) for _ in range(25))
    assert carry(here, there) == 0
    check_brought(here, there)
    assert there.lines > 10
    assert len(there.pids()) == 1


def test_who_reads_of_the_end_finds_the_weights(here, there):
    seen = []

    def look():
        while not seen:
            if b'"run_finished"' in here.events_path.read_bytes():
                seen.append(here.has_model())

    here.events_path.touch()
    thread = threading.Thread(target=look)
    thread.start()
    assert carry(here, there) == 0
    thread.join(PATIENCE_S)
    assert seen == [True]


def test_checkpoints_come_while_it_trains(here, there):
    thread = in_background(here, there)
    wait_for((here.checkpoints_path / "1.npz").exists)
    assert outcome_of(here).kind == "running"
    assert read_checkpoint(here).state.step == 10
    thread.join(PATIENCE_S)
    check_brought(here, there)


def test_a_pause_is_passed_on_and_resume_goes_on_there(here, there):
    thread = in_background(here, there)
    wait_for(lambda: here.events_path.stat().st_size > 2_000 if here.events_path.exists() else 0)
    request_pause(here)
    thread.join(PATIENCE_S)
    paused = here.events_path.read_bytes()
    assert json.loads(paused.splitlines()[-1])["is_paused"]
    assert (here.checkpoints_path / "1.npz").exists()
    here.control_path.unlink()
    assert carry(here, there, resume=True) == 0
    check_brought(here, there)
    assert here.events_path.read_bytes().startswith(paused)
    assert len(there.pids()) == 2


def test_a_resume_that_was_noted_and_not_requested_is_requested_by_the_next(here, there):
    thread = in_background(here, there)
    wait_for(lambda: read_remote(here) is not None and here.events_path.exists())
    request_stop(here)
    thread.join(PATIENCE_S)
    here.control_path.unlink()
    note_attempt(here)  # and the run mirror is killed
    assert carry(here, there) == 0
    check_brought(here, there)
    assert len(there.pids()) == 2
    assert carry(here, there) == 0  # it is over: nothing is started again
    assert len(there.pids()) == 2


def test_a_killed_trainer_is_reported_with_its_last_words(here, there):
    thread = in_background(here, there)
    wait_for((here.checkpoints_path / "1.npz").exists)
    send_command(here, "kill")
    thread.join(PATIENCE_S)
    assert b"run_finished" not in here.events_path.read_bytes()
    assert here.events_path.read_bytes() == there.log
    assert here.log_path.read_text().startswith("trainer ")
    assert read_link(here).state == "ended"
    assert not here.control_path.exists()


def test_a_mirror_leaves_the_run_alone_on_command(here, there):
    thread = in_background(here, there)
    wait_for(lambda: here.events_path.exists() and here.events_path.stat().st_size)
    send_command(here, "leave")
    thread.join(PATIENCE_S)
    size = len(there.log)
    wait_for(lambda: len(there.log) > size)
    assert not here.control_path.exists()
    assert carry(here, there) == 0
    check_brought(here, there)
    assert len(there.pids()) == 1


def test_another_log_there_is_copied_anew(here, there):
    here.events_path.write_bytes(b'{"event":"log_line","seq":1,"text":"of another run"}\n')
    assert carry(here, there) == 0
    check_brought(here, there)
    assert b"another run" not in here.events_path.read_bytes()


@pytest.mark.parametrize("is_connected", [True, False])
def test_a_run_that_is_stopped_before_it_began_there_is_logged_as_stopped(
    here, there, is_connected
):
    def prepare(line, on_progress):
        on_progress("Packing", -1.0)
        if not is_connected:
            there.cuts = itertools.repeat(0)
            line.close()
            line.call("list")
        request_stop(here)
        while True:
            on_progress("Packing", -1.0)

    reporter = LinkReporter(here, host="there", device="")
    code = []
    thread = threading.Thread(
        target=lambda: code.append(RunMirror(here, there.connect, prepare, reporter).run())
    )
    thread.start()
    if not is_connected:
        wait_for(lambda: read_link(here).state == "lost")
        request_stop(here)
    thread.join(PATIENCE_S)
    assert code == [0]
    finished = read_all(here.events_path)[-1]
    assert (finished.outcome, finished.can_resume, read_remote(here)) == ("stopped", True, None)
    assert not here.control_path.exists()
    assert not there.runs.joinpath("run-1").exists()
    # It can be resumed: what it has logged begins the log there.
    there.cuts, there.sends = None, here
    assert carry(here, there, resume=True) == 0
    assert here.events_path.read_bytes() == there.log


class _Failing:
    """Files that cannot be fetched, for an unexpected reason."""

    run = RunFolder(Path("/nowhere"))

    def __init__(self, error):
        self.error = error

    def small(self):
        raise self.error


@pytest.mark.parametrize("error", [PermissionError(13, "not allowed"), RecursionError("deep")])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_nobody_waits_for_files_of_which_the_fetching_has_ended(error):
    fetcher = FileFetcher(_Failing(error))
    fetcher.request("epoch")

    def wait():
        with contextlib.suppress(WorkbenchError):
            fetcher.wait()

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    waiting.join(PATIENCE_S)
    assert not waiting.is_alive()
    assert fetcher.is_idle
    with pytest.raises(WorkbenchError):
        fetcher.check()
    fetcher.close()


def test_a_new_copy_takes_the_old_one_s_place_only_when_it_is_whole(here, there, monkeypatch):
    """The log there is longer than one frame: what was here is read until all of it is here."""
    with there.connect() as line:
        there.prepare(line, lambda *a: None)
    folder = there.runs / "run-1"
    heartbeats = b"".join(
        b'{"event":"heartbeat","seq":%d,"time":1.0,"memory_bytes":1}\n' % n
        for n in range(1, 20_000)
    )
    (folder / "events.jsonl").write_bytes(heartbeats)
    (folder / "started.json").write_text('{"attempt": 1, "log_bytes": 0}')
    write_remote(here, Remote(target={"key": "ssh"}, host="there", run="run-1", attempt=1))
    here.events_path.write_bytes(b'{"event":"log_line","seq":1,"text":"of another run"}\n')
    sizes = []
    finish = LogMirror.finish_restart

    def note(mirror):
        if mirror.is_restarted:
            sizes.append(mirror.offset)
        finish(mirror)

    monkeypatch.setattr(LogMirror, "finish_restart", note)
    assert carry(here, there) == 0
    assert sizes == [len(heartbeats)]
    assert here.events_path.read_bytes() == heartbeats


def test_damaged_files_from_there_never_take_the_place_of_good_ones(here, there):
    (there.runs / "1.npz").write_bytes(b"PK not an archive")
    (there.runs / "weights.npz").write_bytes(os.urandom(5_000))
    here.checkpoints_path.mkdir()
    good = here.checkpoints_path / "1.npz"
    write_arrays(good, WEIGHTS)
    before = good.read_bytes()
    thread = in_background(here, there)
    wait_for(
        lambda: here.events_path.exists() and b"checkpoint_kept" in here.events_path.read_bytes()
    )
    request_stop(here)
    thread.join(PATIENCE_S)
    # The log does not wait for them for ever; what is damaged is nowhere.
    assert here.events_path.read_bytes() == there.log
    assert good.read_bytes() == before
    assert not here.weights_path.exists()


def test_a_wrong_address_is_refused_at_once_and_a_later_loss_is_tried_again(here, there):
    def refuse():
        raise RemoteError("Nobody there.", key="no_name", is_passing=True)

    reporter = LinkReporter(here, host="there", device="")
    assert RunMirror(here, refuse, there.prepare, reporter).run() == 4
    assert (read_link(here).state, read_link(here).error.what) == ("refused", "Nobody there.")
    lines = iter([refuse, refuse, there.connect])

    def connect():
        return next(lines)()

    with there.connect() as line:
        there.prepare(line, lambda *a: None)
    write_remote(here, Remote(target={"key": "ssh"}, host="there", run="run-1", attempt=1))
    assert RunMirror(here, connect, there.prepare, reporter).run() == 0
    check_brought(here, there)


@pytest.fixture
def _long_waiting(monkeypatch):
    """Longer than any test waits."""
    monkeypatch.setattr(mirror_module, "_FIRST_WAIT_S", 3_600.0)
    monkeypatch.setattr(mirror_module, "_LONGEST_WAIT_S", 3_600.0)


@pytest.mark.usefixtures("_long_waiting")
def test_a_lost_line_is_tried_again_as_soon_as_that_is_requested(here, there):
    there.cuts = iter([40_000])
    thread = in_background(here, there)
    wait_for(lambda: read_link(here).state == "lost")
    assert read_link(here).next_try > time.time() + 3_000
    assert outcome_of(here).kind == "silent"
    request_retry(here)
    thread.join(PATIENCE_S)
    check_brought(here, there)
    assert (there.lines, len(there.pids())) == (2, 1)
    assert not here.retry_path.exists()


@pytest.mark.usefixtures("_long_waiting")
def test_a_request_to_try_again_takes_no_command_s_place(here, there):
    there.cuts = iter([40_000])
    thread = in_background(here, there)
    wait_for(lambda: read_link(here).state == "lost")
    request_pause(here)
    request_retry(here)
    thread.join(PATIENCE_S)
    assert json.loads(here.events_path.read_bytes().splitlines()[-1])["is_paused"]


@pytest.mark.usefixtures("_long_waiting")
def test_attach_in_the_terminal_does_not_wait_for_the_next_try(here, there, capsys):
    there.cuts = iter([40_000])
    thread = in_background(here, there)
    wait_for(lambda: read_link(here).state == "lost")
    assert main(["attach", str(here.path), "--json"]) == 0
    thread.join(PATIENCE_S)
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["outcome"] == "completed"
    check_brought(here, there)


def test_a_folder_in_the_place_of_the_request_is_none(here):
    here.retry_path.mkdir()
    assert not take_retry(here)


def test_a_line_may_be_lost_for_days(here, there, monkeypatch):
    monkeypatch.setattr(mirror_module, "_LONGEST_WAIT_S", 0.0)
    tries = itertools.count()

    def connect():
        if next(tries) < 1_100:  # 2 ** 1,024 is no float
            raise RemoteError("Nobody there.", key="cut", is_passing=True)
        return there.connect()

    reporter = LinkReporter(here, host="there", device="")
    assert RunMirror(here, connect, there.prepare, reporter).run() == 0
    check_brought(here, there)


def test_the_digest_of_both_logs_is_the_same_after_many_mirrors(here, there):
    """Each run mirror is ended by command once it has brought some more: the next one goes on."""
    rng = random.Random(3)
    for number in range(5):
        thread = in_background(here, there)
        if number:  # the first one perhaps before it has a line
            wait_for_more(here.events_path, rng.randrange(1, 3_000), thread)
        send_command(here, "leave")
        thread.join(PATIENCE_S)
    here.control_path.unlink(missing_ok=True)
    assert carry(here, there) == 0
    check_brought(here, there)
    digests = {
        hashlib.sha256(log).hexdigest() for log in (here.events_path.read_bytes(), there.log)
    }
    assert len(digests) == 1
    assert len(there.pids()) == 1


def test_a_run_that_began_here_goes_on_there_from_what_it_has_kept(here, there):
    with EventWriter(here.events_path) as writer:
        for number in range(300):
            writer.write(Heartbeat(memory_bytes=number))
    begun = here.events_path.read_bytes()
    here.checkpoints_path.mkdir()
    write_arrays(here.checkpoints_path / "2.npz", WEIGHTS)
    there.sends = here
    there.cuts = iter([40_000])
    assert carry(here, there) == 0
    check_brought(here, there)
    assert here.events_path.read_bytes().startswith(begun)
    assert b"resumed True" in here.events_path.read_bytes()[len(begun) :]
    assert list((there.home / "states").iterdir()) == list((there.home / "uploads").iterdir()) == []


def test_what_a_run_has_kept_gives_the_same_archive_and_distinguishes_places(here):
    with packed_state(here) as nothing:
        assert nothing is None
    with EventWriter(here.events_path) as writer:
        writer.write(Heartbeat(memory_bytes=1))
    with packed_state(here) as one, packed_state(here) as other:
        assert one.sha == other.sha
        assert hashlib.sha256(piece_of(one.file, 0)).hexdigest() == one.sha
        assert name_there(here, one.sha) != name_there(here)
    with EventWriter(here.events_path) as writer:
        writer.write(Heartbeat(memory_bytes=2))
    with packed_state(here) as more:
        assert more.sha != one.sha
