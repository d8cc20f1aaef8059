"""The computers that join, against real bridges over plain pipes; the trainers are light ones."""

from __future__ import annotations

import io
import json
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tests.remote import light_trainer
from tests.remote.bridges import local_line, send
from workbench.errors import RemoteError
from workbench.remote.mirror.cluster_hosts import Members
from workbench.remote.ssh.command import RemoteHost
from workbench.runs.folder import RunFolder
from workbench.runs.link import Remote
from workbench.worker.cluster.chief import join_error_of

PATIENCE_S = 60.0
MACHINES = ("one:1", "two:2")
REMOTE = Remote(target={"key": "ssh"}, host="one", run="run-1")


def made(line, name, source):
    """A run there whose trainer is a program of this source."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, text in (
            ("workbench/__init__.py", ""),
            ("workbench/worker/__init__.py", ""),
            ("workbench/worker/__main__.py", source),
        ):
            archive.writestr(zipfile.ZipInfo(path), text)
    code = send(line, "code", packed.getvalue())
    line.call(
        "create", b'{"project": {}}', name=name, code=code, python=sys.executable, parcel="", state=""
    )  # fmt: skip


@pytest.fixture
def homes(tmp_path):
    """Two computers; in the runs' folder of each what the light trainer keeps of a run."""
    homes = tmp_path / "one", tmp_path / "two"
    for home in homes:
        (home / "runs").mkdir(parents=True)
        for name in ("1.npz", "weights.npz", "model.json"):
            (home / "runs" / name).write_bytes(b"kept")
    return homes


def wait_for(is_it):
    deadline = time.monotonic() + PATIENCE_S
    while not is_it():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def members(home):
    return Members(MACHINES, [RemoteHost(host="two")], lambda place: local_line(home))


LIGHT = Path(light_trainer.__file__).read_text()
FAILING = "import sys; print('no such thing', file=sys.stderr); sys.exit(3)"
CRASHING = LIGHT.replace("def train(", "def train(*_, **__):\n    print('nobody')\n\ndef _train(").replace(
    "for number in (0, 1, 2):",
    "log = os.open(folder / 'log.txt', os.O_WRONLY | os.O_CREAT)\n    "
    "os.dup2(log, 1)\n    for number in (0,):",
)  # fmt: skip


def test_the_first_cluster_sent_to_the_chief_counts_for_its_attempt(homes):
    clusters = members(homes[1]).cluster(), members(homes[1]).cluster()
    with local_line(homes[0]) as line:
        made(line, "run-1", LIGHT)
        first = line.call("start", clusters[0], run="run-1", attempt=1)
        again = line.call("start", clusters[1], run="run-1", attempt=1)
        assert first.data == again.data == clusters[0]
        assert again.flag("was_started")
        line.call("signal", run="run-1", signal="kill")
        folder = homes[0] / "runs" / "run-1"
        wait_for(lambda: not RunFolder(folder).is_alive())
        assert line.call("start", clusters[1], run="run-1", attempt=2).data == clusters[1]
        line.call("signal", run="run-1", signal="kill")
    assert (folder / "cluster.json").stat().st_mode & 0o777 == 0o600


def test_who_still_waits_for_an_earlier_attempt_makes_room(homes):
    clusters = members(homes[1]).cluster(), members(homes[1]).cluster()
    log = homes[1] / "runs" / "run-1.2" / "log.txt"
    with local_line(homes[1]) as line:
        made(line, "run-1.2", LIGHT)
        for number, text in enumerate((clusters[0], clusters[0], clusters[1]), 1):
            line.call("start", text, run="run-1.2", attempt=1 + number // 3, joins=True)
            wait_for(lambda: log.exists() and log.read_text().endswith("\n"))
        # The same text has started nothing twice.
        wait_for(lambda: log.read_text().count("trainer") == 2)
        pids = [int(word) for word in log.read_text().split()[1::2]]
        cmdline = Path(f"/proc/{pids[0]}/cmdline")
        assert not cmdline.exists() or not cmdline.read_bytes()  # gone, or about to be reaped
        assert line.call("signal", run="run-1.2", signal="kill").number("count") == 1


def test_they_come_once_the_first_one_has_begun(homes):
    these = members(homes[1])
    with local_line(homes[0]) as leader, local_line(homes[1]) as other:
        made(leader, "run-1", LIGHT)
        made(other, "run-1.2", LIGHT)
        cluster = leader.call("start", these.cluster(), run="run-1", attempt=1).data
        with these.coming(leader, REMOTE, cluster):
            wait_for((homes[1] / "runs" / "run-1.2" / "events.jsonl").exists)
        there = json.loads((homes[1] / "runs" / "run-1.2" / "cluster.json").read_text())
        assert there == {**json.loads(cluster), "index": 1}
        assert join_error_of(RunFolder(homes[0] / "runs" / "run-1")) is None
        for line, name in ((leader, "run-1"), (other, "run-1.2")):
            line.call("signal", run=name, signal="kill")


@pytest.mark.parametrize(("source", "word"), [(FAILING, "no such thing"), (CRASHING, "nobody")])
def test_a_machine_that_cannot_join_is_reported_to_the_chief_with_its_last_words(
    homes, source, word
):
    these = members(homes[1])
    folder = RunFolder(homes[0] / "runs" / "run-1")
    with local_line(homes[0]) as leader:
        made(leader, "run-1", LIGHT)
        with local_line(homes[1]) as other:
            made(other, "run-1.2", source)
        cluster = leader.call("start", these.cluster(), run="run-1", attempt=1).data
        with these.coming(leader, REMOTE, cluster):
            wait_for(lambda: join_error_of(folder) is not None)
        refused = join_error_of(folder)
        assert refused.what.startswith("Machine 2 could not join: ")
        assert word in refused.received
        leader.call("signal", run="run-1", signal="kill")
        wait_for(lambda: not folder.is_alive())
        leader.call("start", these.cluster(), run="run-1", attempt=2)
        assert join_error_of(folder) is None  # that was another attempt
        leader.call("signal", run="run-1", signal="kill")


def test_what_the_first_one_says_is_not_handed_on_unseen(homes):
    other = Members(("one:1", "evil:2"), [RemoteHost(host="two")]).cluster()
    with local_line(homes[0]) as leader:
        for text in (b"", b"\0", other):
            with (
                pytest.raises(RemoteError) as caught,
                members(homes[1]).coming(leader, REMOTE, text),
            ):
                pass
            assert caught.value.key == "protocol"
