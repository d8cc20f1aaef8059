"""Two computers behind real ssh servers on loopback are started as one, and train together."""

from __future__ import annotations

import json
import shutil
import socket
import stat
from dataclasses import replace

import pytest

from tests import sshd
from tests.proofs import several_machines as proof
from tests.proofs._tiny_runs import history_of, wait_for_end, write_stripes
from workbench.protocol.events import RunStarted
from workbench.remote.ssh import host_keys
from workbench.remote.ssh.command import RemoteHost
from workbench.runs.control import request_pause
from workbench.runs.folder import create_run
from workbench.runs.link import read_link, read_remote
from workbench.runs.log.event_log import read_all
from workbench.runs.start import reap, start_trainer

pytestmark = [
    pytest.mark.full,
    pytest.mark.worker,
    pytest.mark.skipif(bool(sshd.why_not()), reason=sshd.why_not() or "runs"),
]


@pytest.fixture
def hosts(tmp_path, monkeypatch):
    """Two servers that one key opens, and whose identity has been accepted."""
    monkeypatch.setenv("SSH_AUTH_SOCK", "")
    with sshd.Sshd(tmp_path / "one") as one, sshd.Sshd(tmp_path / "two") as two:
        shutil.copy(one.folder / "authorized_keys", two.folder / "authorized_keys")
        for server in (one, two):
            place = RemoteHost(
                host=server.address, user=server.user, port=server.port, key_file=str(one.key_file)
            )
            host_keys.accept(place, host_keys.offered_keys(place))
        yield one, two
        reap()


def together(hosts):
    """The target of both, at free ports: they are the same computer."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in hosts]
    machines = ",".join(f"127.0.0.1:{one.getsockname()[1]}" for one in held)
    for one in held:
        one.close()
    return proof.ssh_target(hosts, machines=machines)


def folder_of(run, host, suffix=""):
    return host.home / ".workbench" / "runs" / f"{read_remote(run).run}{suffix}"


def finished(run):
    wait_for_end(run)
    found = history_of(run).finished
    assert found is not None, (read_link(run), run.mirror_log_path.read_text())
    return found


def resumed_without_join(run, host, folder):
    """The end of a trainer that goes on with a run while the program of a host is incomplete."""
    (code,) = (host.home / ".workbench" / "code").iterdir()
    needed = code / "workbench" / "worker" / "trainer" / "join.py"
    needed.rename(folder / "join.py")
    start_trainer(run, resume=True)
    end = finished(run)
    (folder / "join.py").rename(needed)
    return end


def test_two_computers_train_what_one_does_though_one_could_not_join_for_a_while(hosts, tmp_path):
    project = proof.project_of(write_stripes(tmp_path / "stripes.npz"), number=1, epochs=8)
    run = create_run(replace(project, target=together(hosts)))
    paused, _ = proof.disturbed(run, request_pause)
    assert paused.is_paused

    failed = resumed_without_join(run, hosts[1], tmp_path)
    assert failed.outcome == "failed"
    assert failed.error.what.startswith("Machine 2 could not join: "), failed.error
    assert "workbench.worker.trainer.join" in failed.error.received
    assert failed.can_resume

    start_trainer(run, resume=True)
    assert finished(run).outcome == "completed", finished(run).error
    losses, weights = proof.distances(run, proof.trained(project, tmp_path))
    assert losses < proof.TOLERANCE
    assert weights < proof.WEIGHTS_TOLERANCE
    leader, member = folder_of(run, hosts[0]), folder_of(run, hosts[1], ".2")
    assert run.events_path.read_bytes() == (leader / "events.jsonl").read_bytes()
    started = [event for event in read_all(run.events_path) if isinstance(event, RunStarted)]
    assert [(one.target, one.replicas) for one in started] == [("several", 2)] * 2
    # Each has got program and pictures, and the same key, which no other user may read.
    for server in hosts:
        for kind in ("code", "parcels"):
            assert len(list((server.home / ".workbench" / kind).iterdir())) == 1
    clusters = [json.loads((folder / "cluster.json").read_text()) for folder in (leader, member)]
    assert [one["index"] for one in clusters] == [0, 1]
    assert clusters[0]["key"] == clusters[1]["key"]
    assert len(clusters[0]["key"]) == 32
    assert stat.S_IMODE((member / "cluster.json").stat().st_mode) == 0o600
    assert not (member / "weights.npz").exists()
