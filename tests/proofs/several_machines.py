"""Two machines train what one does; one is killed, frozen or cut off, and the run goes on

    prove.sh several_machines [--recipes N] [--namespaces] [--ssh]

Two processes on this computer, each with every other row of every batch: losses and weights
beside those of a single process (float32). Then a machine is killed or frozen: the run must say
so within the deadline, and end as undisturbed when it is resumed. With --namespaces the second
process runs in a network namespace of its own (root, iproute2), and the line is cut too. With
--ssh both run in a namespace with an ssh server each (openssh-server), reach each other by other
addresses than ssh does, and are set up and started from here.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from tests.private_host import PrivateHost, why_not
from tests.proofs._tiny_runs import (
    RECIPES,
    Tail,
    history_of,
    tiny_project,
    wait_for_end,
    write_stripes,
)
from tests.sshd import Sshd
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.texts import parse_target
from workbench.protocol.events import CheckpointKept, RunFinished, RunStarted
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.home import data_home, runs_home
from workbench.runs.log.event_log import read_all
from workbench.runs.start import start_trainer
from workbench.runs.store.weights_file import read_arrays
from workbench.runs.trust import place_of, remember
from workbench.targets import all_targets

LOCAL = "localhost,localhost"
TOLERANCE = 1e-5
"""Largest difference of two losses."""

WEIGHTS_TOLERANCE = 1e-4
"""Of two weights: an optimizer that goes by a gradient's sign makes more of rounding."""

DEADLINE_S = 45.0
"""TensorFlow's 10 s of silence, and time for a busy computer."""

_PER_PART = {"dropout"}
"""Layers that draw otherwise on another number of machines."""


def project_of(data: Path, *, number: int = 0, epochs: int = 3, machines: str = "") -> Project:
    """A small network under recipe `number`, in float32; for one process or for several."""
    project = tiny_project(data, number=number, epochs=epochs)
    nodes = [node for node in project.graph.nodes.values() if node.kind not in _PER_PART]
    nodes = [_without_idle_bias(*pair) for pair in itertools.pairwise([*nodes, nodes[-1]])]
    edges = [Edge(a.id, b.id) for a, b in itertools.pairwise(nodes)]
    recipe = project.recipe.with_values(precision="float32", xla="off", sync_batch_norm="on")
    target = Choice("several", {"machines": machines}) if machines else Choice("this_computer")
    return replace(project, graph=Graph.of(nodes, edges), recipe=recipe, target=target)


def _without_idle_bias(node: Node, behind: Node) -> Node:
    """A bias that normalization cancels has no gradient: Adam would make steps of what
    is mere rounding, in another direction each time.
    """
    if behind.kind != "batch_normalization":
        return node
    return replace(node, params={**node.params, "use_bias": False})


def trained(project: Project, home: Path) -> RunFolder:
    """A run from its start to its end."""
    run = create_run(project, home=home)
    remember(place_of(run))
    start_trainer(run)
    wait_for_end(run)
    return run


def distances(run: RunFolder, reference: RunFolder) -> tuple[float, float]:
    """The largest difference of two completed runs' losses, and of their weights."""
    left, right = history_of(run), history_of(reference)
    for history in (left, right):
        finished = history.finished
        if finished is None or finished.outcome != "completed":
            raise AssertionError(f"{run.path}: {finished.error if finished else 'no end'}")
    if len(left.losses) != len(right.losses):
        raise AssertionError(f"{len(left.losses)} steps instead of {len(right.losses)}")
    ours, theirs = read_arrays(run.weights_path), read_arrays(reference.weights_path)
    weights = max(float(np.abs(ours[name] - theirs[name]).max()) for name in ours)
    return float(np.abs(left.losses - right.losses).max()), weights


def disturbed(
    run: RunFolder, disturb: Callable[[RunFolder], None], *, resume: bool = False
) -> tuple[RunFinished, float]:
    """Starts a run, disturbs it after its first checkpoint; its end, and seconds until then."""
    tail = Tail(run)
    remember(place_of(run))
    start_trainer(run, resume=resume)
    if tail.until(lambda event: isinstance(event, CheckpointKept)) is None:
        raise AssertionError(f"it ended before it was disturbed: {history_of(run).finished}")
    disturb(run)
    begun = time.monotonic()
    finished = tail.until(lambda event: isinstance(event, RunFinished))
    seconds = time.monotonic() - begun
    wait_for_end(run)
    if not isinstance(finished, RunFinished):
        message = f"its trainer crashed without a word: {run.log_tail()}"
        raise AssertionError(message)  # noqa: TRY004 - nothing of a wrong type was handed over
    return finished, seconds


def member_pid(run: RunFolder) -> int:
    """The process of machine 2, started by the run's trainer."""
    events = read_all(run.machine_path(2) / "events.jsonl")
    return next(event.pid for event in reversed(events) if isinstance(event, RunStarted))


def signal_member(number: signal.Signals) -> Callable[[RunFolder], None]:
    """Sends a signal to machine 2."""
    return lambda run: os.kill(member_pid(run), number)


def check_gone(finished: RunFinished, seconds: float) -> None:
    """The end of a run one of whose machines disconnected."""
    error = finished.error
    if finished.outcome != "failed" or error is None or "Machine 2 was lost" not in error.what:
        raise AssertionError(f"it ended otherwise: {finished.outcome}, {error}")
    if not finished.can_resume or seconds > DEADLINE_S:
        raise AssertionError(f"after {seconds:.1f} s, can be resumed: {finished.can_resume}")


# network namespaces ---------------------------------------------------------------------


@contextmanager
def namespace(number: int) -> Iterator[tuple[str, str, str, str]]:
    """A network namespace with a line to this one: its name, this end of the line, and the
    addresses of this end and of the other.
    """
    name, here, there = f"wb-{number}", f"wb{number}a", f"wb{number}b"
    ours, theirs = f"10.77.{number % 200}.1", f"10.77.{number % 200}.2"

    def ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True)

    ip("netns", "add", name)
    try:
        ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", name)
        ip("addr", "add", f"{ours}/24", "dev", here)
        ip("link", "set", here, "up")
        ip("-n", name, "addr", "add", f"{theirs}/24", "dev", there)
        ip("-n", name, "link", "set", there, "up")
        ip("-n", name, "link", "set", "lo", "up")
        yield name, here, ours, theirs
    finally:
        ip("netns", "delete", name)  # the line goes with it


@contextmanager
def joined(name: str, machines: str) -> Iterator[subprocess.Popen[bytes]]:
    """`workbench join` in a namespace, as it would be typed on the second machine."""
    words = ["ip", "netns", "exec", name, sys.executable, "-m", "workbench", "join", machines]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [*words, "--machine", "2"], stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield process
        finally:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def cut(link: str) -> None:
    """Brings this end of a line down."""
    subprocess.run(["ip", "link", "set", link, "down"], check=True)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kills a machine's processes."""
    os.killpg(process.pid, signal.SIGKILL)


def in_namespaces(data: Path, home: Path, reference: RunFolder) -> Iterator[str]:
    """Everything once more over a network."""
    with namespace(os.getpid() % 10_000) as (name, link, ours, theirs):
        machines = f"{ours},{theirs}"
        project = project_of(data, epochs=3, machines=machines)
        with joined(name, machines):
            losses, weights = distances(trained(project, home), reference)
        yield _verdict("two namespaces", losses, weights)
        for what in ("killed", "line cut"):
            run = create_run(project_of(data, epochs=40, machines=machines), home=home)
            with joined(name, machines) as member:
                act = partial(kill_group, member) if what == "killed" else partial(cut, link)
                finished, seconds = disturbed(run, lambda _run, act=act: act())
            check_gone(finished, seconds)
            subprocess.run(["ip", "link", "set", link, "up"], check=True)
            with joined(name, machines):
                remember(place_of(run))
                start_trainer(run, resume=True)
                wait_for_end(run)
            undisturbed = trained(project_of(data, epochs=40, machines=LOCAL), home)
            losses, weights = distances(run, undisturbed)
            yield f"{what} after {seconds:.1f} s: {_verdict('resumed', losses, weights)}"


# over ssh -------------------------------------------------------------------------------


def over_ssh(data: Path, folder: Path, reference: RunFolder) -> Iterator[str]:
    """Two hosts are started from here; one's process is killed, and the run resumed."""
    os.environ["WORKBENCH_HOME"] = str(folder / "here")
    os.environ["SSH_AUTH_SOCK"] = ""
    with PrivateHost(folder / "one") as one, PrivateHost(folder / "two", number=1) as two:
        shutil.copy(one.folder / "authorized_keys", two.folder / "authorized_keys")
        for host in (one, two):
            host.accept_as(f"[{host.address}]:{host.port}", data_home())
        target = ssh_target((one, two), machines=",".join(one.link_to(two)))
        run = trained(replace(project_of(data, number=1), target=target), runs_home())
        yield _verdict("over ssh", *distances(run, reference))
        long = project_of(data, number=1, epochs=20)
        run = create_run(replace(long, target=target))
        finished, seconds = disturbed(run, lambda _run: kill_joined(two))
        check_gone(finished, seconds)
        remember(place_of(run))
        start_trainer(run, resume=True)
        wait_for_end(run)
        undisturbed = trained(replace(long, target=Choice("several", {"machines": LOCAL})), folder)
        verdict = _verdict("resumed", *distances(run, undisturbed))
        yield f"machine 2 killed over ssh, reported after {seconds:.1f} s; {verdict}"


def ssh_target(hosts: Sequence[Sshd], *, machines: str) -> Choice:
    """All hosts as one target, with the first one's key and this interpreter."""
    places = ",".join(f"{host.user}@{host.address}:{host.port}" for host in hosts)
    choice = parse_target(f"ssh:{places}/several:{machines}", all_targets())
    named = {"key_file": str(hosts[0].key_file), "python": sys.executable}
    return Choice(choice.key, {**choice.params, **named})


def kill_joined(host: PrivateHost) -> None:
    """Kills the process that has joined, on its host."""
    killed = 0
    for pid in host.pids():
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if b"workbench.worker" in words and b"join" in words:
            os.kill(pid, signal.SIGKILL)
            killed += 1
    if killed != 1:
        raise AssertionError(f"{killed} processes have joined")


# ----------------------------------------------------------------------------------------


def _verdict(what: str, losses: float, weights: float) -> str:
    if losses > TOLERANCE or weights > WEIGHTS_TOLERANCE:
        raise AssertionError(f"{what}: losses differ by {losses:.1e}, weights by {weights:.1e}")
    return f"{what}: losses differ by {losses:.1e}, weights by {weights:.1e}"


def locally(data: Path, home: Path, recipes: int) -> Iterator[str]:
    """Two processes on this computer."""
    for number in range(recipes):
        one = trained(project_of(data, number=number), home)
        two = trained(project_of(data, number=number, machines=LOCAL), home)
        yield _verdict(f"recipe {number}", *distances(two, one))
    long = project_of(data, epochs=40, machines=LOCAL)
    undisturbed = trained(long, home)
    for number in (signal.SIGKILL, signal.SIGSTOP):
        run = create_run(long, home=home)
        finished, seconds = disturbed(run, signal_member(number))
        check_gone(finished, seconds)
        remember(place_of(run))
        start_trainer(run, resume=True)
        wait_for_end(run)
        verdict = _verdict("resumed", *distances(run, undisturbed))
        yield f"{number.name} to machine 2, reported after {seconds:.1f} s; {verdict}"


def main() -> int:
    """Prints a line a finding; fails with the first that is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recipes", type=int, default=len(RECIPES))
    parser.add_argument("--namespaces", action="store_true")
    parser.add_argument("--ssh", action="store_true")
    arguments = parser.parse_args()
    if arguments.ssh and (missing := why_not()):
        parser.error(missing)
    if arguments.namespaces and (os.geteuid() != 0 or shutil.which("ip") is None):
        parser.error("--namespaces needs root and the program ip (package iproute2)")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        data = write_stripes(home / "stripes.npz")
        for line in locally(data, home, arguments.recipes):
            print(line, flush=True)
        if arguments.namespaces:
            reference = trained(project_of(data), home)
            for line in in_namespaces(data, home, reference):
                print(line, flush=True)
        if arguments.ssh:
            for line in over_ssh(data, home, trained(project_of(data, number=1), home)):
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
