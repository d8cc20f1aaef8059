"""How several machines come together, agree and part: real sockets, without TensorFlow."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from dataclasses import replace

import msgspec
import pytest

from workbench.core.projects.project import Project
from workbench.errors import RemoteError
from workbench.hardware.cluster import local_cluster, read_addresses
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.log.event_log import EventWriter
from workbench.runs.store.checkpoint import DataMark, Machine, differences, this_machine
from workbench.worker.checkpoints.training_state import TrainingJob
from workbench.worker.cluster import chief as leading
from workbench.worker.cluster import members as machines
from workbench.worker.cluster.chief import Chief
from workbench.worker.cluster.members import ChannelClosedError, Connection
from workbench.worker.process.run_channel import EventLogger, StoppedError, StopSwitch
from workbench.worker.process.setup import versions
from workbench.worker.trainer import join as joining
from workbench.worker.trainer.join import Member

MARK = DataMark(num_train=3, num_validation=0, num_test=1, digest="a")
DOOM_S = 30.0


@pytest.fixture
def cluster():
    return local_cluster(read_addresses("localhost,localhost"))


@pytest.fixture
def run(tmp_path):
    return create_run(Project(), path=tmp_path / "run")


def job_of(run, writer):
    return TrainingJob(run, run.project(), EventLogger(writer), StopSwitch(run))


@pytest.fixture
def leader(cluster, run):
    with EventWriter(run.events_path) as writer:
        made = Chief(cluster, job_of(run, writer), pytest.fail)
        yield made
        made.close(None)


def in_background(function, *arguments, **named):
    """A thread that does it, and a list of what came out: a value or an error."""
    outcome = []

    def work():
        try:
            outcome.append(function(*arguments, **named))
        except Exception as error:  # noqa: BLE001 - handed to the test
            outcome.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread, outcome


def outcome_of(background):
    thread, outcome = background
    thread.join(DOOM_S)
    assert not thread.is_alive()
    return outcome[0]


def member_of(cluster, folder, index=1):
    run = RunFolder(folder)
    folder.mkdir()
    return Member(cluster.of(index), StopSwitch(run), pytest.fail), run


def test_a_machine_receives_what_to_train_and_from_where(leader, cluster, run, tmp_path):
    run.checkpoints_path.mkdir()
    (run.checkpoints_path / "2.npz").write_bytes(b"state " * 100_000)
    gathering = in_background(leader.rendezvous, resume=True)
    member, folder = member_of(cluster, tmp_path / "member")
    assert member.receive_task(folder)
    assert outcome_of(gathering) is None
    assert folder.request() == run.request()
    assert (folder.checkpoints_path / "2.npz").read_bytes() == b"state " * 100_000
    assert not (folder.checkpoints_path / "1.npz").exists()
    member.close(None)


def requested(folder, request):
    """The folder of a machine that has got its request from the user."""
    folder.mkdir()
    (folder / "request.json").write_bytes(msgspec.json.encode(request))
    return (folder / "request.json").read_bytes()


def test_a_chief_cannot_change_what_was_requested_here(leader, cluster, run, tmp_path):
    folder, ours = tmp_path / "member", run.request()
    secret = {"key": "folder", "params": {"path": "/somewhere/secret"}}
    before = requested(
        folder, msgspec.structs.replace(ours, project={**ours.project, "dataset": secret})
    )
    gathering = in_background(leader.rendezvous, resume=False)
    member = Member(cluster.of(1), StopSwitch(RunFolder(folder)), pytest.fail)
    with pytest.raises(RemoteError) as caught:
        member.receive_task(RunFolder(folder), is_requested=True)
    assert "project.dataset" in caught.value.received
    assert outcome_of(gathering) is None
    assert (folder / "request.json").read_bytes() == before
    member.close(None)


def test_the_same_request_on_another_computer_begins(leader, cluster, run, tmp_path):
    folder = tmp_path / "member"
    before = requested(folder, msgspec.structs.replace(run.request(), on="the other computer"))
    gathering = in_background(leader.rendezvous, resume=False)
    member = Member(cluster.of(1), StopSwitch(RunFolder(folder)), pytest.fail)
    assert not member.receive_task(RunFolder(folder), is_requested=True)
    assert outcome_of(gathering) is None
    assert (folder / "request.json").read_bytes() == before
    member.close(None)


def test_old_checkpoints_are_forgotten_where_a_run_begins_anew(leader, cluster, tmp_path):
    folder = tmp_path / "member"
    gathering = in_background(leader.rendezvous, resume=False)
    member, run = member_of(cluster, folder)
    run.checkpoints_path.mkdir()
    (run.checkpoints_path / "1.npz").write_bytes(b"of another run")
    assert not member.receive_task(run)
    assert outcome_of(gathering) is None
    assert not run.checkpoints_path.exists()
    member.close(None)


def test_strangers_are_not_let_in(leader, cluster, tmp_path):
    gathering = in_background(leader.rendezvous, resume=False)
    place = machines.socket_address(cluster.address(0))
    stranger, folder = member_of(replace(cluster, key="guessed"), tmp_path / "stranger")
    with pytest.raises(ChannelClosedError):
        stranger.receive_task(folder)
    stranger.close(None)
    hello = b'{"kind": "hello", "bytes": 0, "values": '
    for noise in (
        b"GET / HTTP/1.1\r\n\r\n",
        b"\0",
        b'{"kind": "hello"}\n',
        hello + b'{"index": 9}}\n',
        hello + b'{"index": 1, "key": "\\ud800"}}\n',
        hello + b"[]}\n",
    ):
        with socket.create_connection(place, timeout=DOOM_S) as line:
            line.sendall(noise)
            line.shutdown(socket.SHUT_WR)
            assert line.recv(10) == b""
    member, folder = member_of(cluster, tmp_path / "member")
    member.receive_task(folder)
    assert outcome_of(gathering) is None
    member.close(None)


def test_another_version_is_refused_in_words(leader, cluster, tmp_path, monkeypatch):
    gathering = in_background(leader.rendezvous, resume=False)
    facts = machines.own_facts()
    older = {**facts, "versions": {**facts["versions"], "keras": "3.0.0"}}
    monkeypatch.setattr(joining, "own_facts", lambda: older)
    member, _ = member_of(cluster, tmp_path / "member")
    error = outcome_of(gathering)
    assert isinstance(error, RemoteError)
    assert error.what == "Machine 2 has a different version of keras."
    assert error.received == "3.0.0"
    member.close(None)


def test_another_processor_of_a_machine_is_why_figures_can_differ(
    leader, cluster, tmp_path, monkeypatch
):
    facts = machines.own_facts()
    slower = {**facts, "machine": {**facts["machine"], "cpu": "Another"}}
    monkeypatch.setattr(joining, "own_facts", lambda: slower)
    member = together(leader, cluster, tmp_path / "member")
    now = this_machine(versions(), leader.others)
    then = this_machine(versions(), [this_machine(versions())])
    assert differences(then, now) == [f"machine 2: another CPU: Another instead of {then.cpu}"]
    assert differences(this_machine(versions()), now) == ["2 machines instead of 1"]
    assert msgspec.json.decode(msgspec.json.encode(now), type=Machine) == now
    member.close(None)


def together(leader, cluster, folder):
    gathering = in_background(leader.rendezvous, resume=False)
    member, run = member_of(cluster, folder)
    member.receive_task(run)
    assert outcome_of(gathering) is None
    return member


def test_all_go_once_all_are_ready(leader, cluster, tmp_path):
    member = together(leader, cluster, tmp_path / "member")
    waiting = in_background(leader._exchange_fingerprints, MARK)
    member._exchange_fingerprints(MARK)
    assert outcome_of(waiting) is None
    member.close(None)


def test_other_pictures_are_refused_in_words(leader, cluster, tmp_path):
    member = together(leader, cluster, tmp_path / "member")
    in_background(
        member._exchange_fingerprints,
        DataMark(num_train=3, num_validation=0, num_test=1, digest="b"),
    )
    with pytest.raises(RemoteError, match="Machine 2 has other images"):
        leader._exchange_fingerprints(MARK)
    member.close(None)


def test_a_machine_that_fails_before_all_are_ready_says_why(leader, cluster, tmp_path):
    member = together(leader, cluster, tmp_path / "member")
    member.close(RemoteError("There is no such file."))
    with pytest.raises(ChannelClosedError) as caught:
        leader._exchange_fingerprints(MARK)
    error = leader.explained(caught.value)
    assert error.what == "Machine 2 failed: There is no such file."
    assert error.where == cluster.machines[1]


def test_a_machine_notices_that_the_chief_was_lost(leader, cluster, tmp_path):
    member = together(leader, cluster, tmp_path / "member")
    leader._connections[1].close()  # as its death would
    with pytest.raises(ChannelClosedError) as caught:
        member._exchange_fingerprints(MARK)
    assert member.explained(caught.value).what == "The chief was lost."
    member.close(None)


def test_errors_of_tensorflow_are_reported_by_the_machine_that_they_name(leader):
    cut = "Collective ops is aborted by: The following tasks are unhealthy\n/job:worker/task:1"
    error = type("UnavailableError", (Exception,), {"__module__": "tensorflow.errors"})
    assert leader.explained(error(cut)).what == "Machine 2 was lost."
    own = error("No such operation on /job:worker/replica:0/task:0/device:CPU:0")
    assert leader.explained(own) is own
    other = ValueError("/task:1")
    assert leader.explained(other) is other


def test_waiting_for_machines_can_be_stopped(leader, run):
    gathering = in_background(leader.rendezvous, resume=False)
    run.control_path.write_bytes(b"stop\n")
    assert isinstance(outcome_of(gathering), StoppedError)


def test_no_machine_is_waited_for_for_ever(leader, monkeypatch):
    monkeypatch.setattr(leading, "COME_S", 0.0)
    with pytest.raises(RemoteError, match="Machine 2 did not join"):
        leader.rendezvous(resume=False)


def test_a_chief_that_cannot_listen_reports_it(run, cluster):
    with (
        socket.create_server(machines.socket_address(cluster.address(0))),
        EventWriter(run.events_path) as writer,
    ):
        leader = Chief(cluster, job_of(run, writer), pytest.fail)
        with pytest.raises(Exception, match="cannot listen"):
            leader.rendezvous(resume=False)


def test_a_line_carries_large_messages_both_ways():
    ends = socket.socketpair()
    left, right = (Connection(end) for end in ends)
    data = bytes(range(256)) * 50_000
    sending = in_background(left.send, "file", data, name="x")
    message = right.receive("file", timeout_s=DOOM_S)
    assert outcome_of(sending) is None
    assert (message.values, message.data) == ({"name": "x"}, data)
    assert right.receive("file", timeout_s=0.0) is None
    left.close()
    with pytest.raises(ChannelClosedError):
        right.receive("file", timeout_s=DOOM_S)
    right.close()


def meeting(commands, *, to_the_end=False):
    """What each machine receives, by its command ("", "stop", "pause") and length of a call."""
    barrier = threading.Barrier(len(commands))
    said = [None] * len(commands)

    def total(index):
        def add(values):
            said[index] = values
            barrier.wait(DOOM_S)
            sums = [sum(column) for column in zip(*said, strict=True)]
            barrier.wait(DOOM_S)
            return sums

        return add

    return [total(index) for index in range(len(commands))]


@pytest.mark.parametrize(
    ("commands", "is_on", "is_pause"),
    [
        (("", "", ""), False, False),
        (("pause", "", ""), True, True),
        (("", "", "stop"), True, False),
        (("pause", "stop", ""), True, False),
    ],
)
def test_all_machines_end_at_once_for_the_same_reason(tmp_path, commands, is_on, is_pause):
    switches = []
    for index, (command, total) in enumerate(zip(commands, meeting(commands), strict=True)):
        run = create_run(Project(), path=tmp_path / str(index))
        if command:
            run.control_path.write_text(command)
        switch = StopSwitch(run)
        switch.agree_by(total, is_chief=index == 0)
        switches.append(switch)
    assert not any(switch.is_on for switch in switches)  # not agreed yet
    waiting = [in_background(switch.barrier, 10 + i) for i, switch in enumerate(switches)]
    assert {outcome_of(one) for one in waiting} == {0 if is_on else 10}
    assert {switch.is_on for switch in switches} == {is_on}
    assert {switch.is_pause for switch in switches} == {is_pause}
    waiting = [in_background(s.barrier, 5 + i, to_the_end=True) for i, s in enumerate(switches)]
    assert {outcome_of(one) for one in waiting} == {5}


def test_a_process_that_waits_in_a_library_ends_all_the_same():
    words = (
        "import ctypes, signal; from workbench.worker.cluster.members import ending_after\n"
        "signal.signal(signal.SIGTERM, lambda *_: None)\n"
        "with ending_after(0.2):\n    ctypes.PyDLL(None).sleep(600)  # no other thread runs\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, check=False, timeout=DOOM_S
    )
    assert ended.returncode == 1
    assert "Timeout" in ended.stderr


def test_a_stranger_may_send_no_bytes():
    ours, theirs = socket.socketpair()
    connection = Connection(ours, max_bytes=0)
    theirs.sendall(b'{"kind": "hello", "bytes": 1099511627776}\n')
    with pytest.raises(ChannelClosedError):
        connection.receive("hello", timeout_s=DOOM_S)
    connection.close()
    theirs.close()


def test_a_line_ends_whatever_ends_its_reader():
    """Nested too deep for any reader of JSON: an error that is not of the network."""
    ours, theirs = socket.socketpair()
    ended = threading.Event()
    connection = Connection(ours, on_end=ended.set)
    nested = b"[" * 100_000 + b"]" * 100_000
    theirs.sendall(b'{"kind": "hello", "bytes": 0, "values": {"a": ' + nested + b"}}\n")
    with pytest.raises(ChannelClosedError):
        connection.receive("hello", timeout_s=DOOM_S)
    assert ended.wait(DOOM_S)
    connection.close()
    theirs.close()


def test_a_silent_machine_is_probed():
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        there, _ = server.accept()
    connection = Connection(ours)
    assert ours.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        assert 0 < ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) <= 60_000
        assert 0 < ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) <= 60
    connection.close()
    there.close()
