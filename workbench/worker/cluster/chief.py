"""The chief of several machines: starts the others or waits for them, and sends the task."""

from __future__ import annotations

import contextlib
import hmac
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

import msgspec
import numpy as np

from workbench.core.params import check_all
from workbench.core.storage.foreign_file import read_foreign, tail_lines
from workbench.core.storage.own_file import make_own_folder, open_own
from workbench.errors import RemoteError, RunError, WorkbenchError
from workbench.hardware.cluster import (
    CLUSTER_VARIABLE,
    Cluster,
    local_cluster,
    read_addresses,
    with_ports,
)
from workbench.protocol.bases import ErrorParts
from workbench.runs.environment import trainer_environment
from workbench.runs.folder import RunFolder
from workbench.runs.store.checkpoint import DataMark, Machine, checkpoint_path
from workbench.runs.store.weights_file import checkpoint_room
from workbench.targets import all_targets
from workbench.worker.checkpoints.training_state import TrainingJob
from workbench.worker.checkpoints.writer import KeptModel
from workbench.worker.cluster.members import (
    MAX_BYTES,
    ChannelClosedError,
    ClusterPeers,
    Connection,
    Peers,
    handed_cluster,
    mark_text,
    own_facts,
    socket_address,
)

COME_S = 300.0
"""How long the others are waited for."""

_HELLO_S = 10.0
_LOOK_S = 0.2
_PART_S = 20.0

REFUSAL_NAME = "refusal.json"
"""Why another machine could not join, as the process that started it reported: a file in the
chief's run folder, which the host's part removes before each start."""

_MAX_REFUSAL_BYTES = 64 * 1024


def cluster_of(job: TrainingJob, on_hang: Callable[[WorkbenchError], None]) -> Peers:
    """The cluster (`tf.distribute`) that a run is trained on, seen from its chief, which starts
    processes on this computer itself and waits for other machines to join.

    Raises:
        RunError: a process cannot be started.
    """
    target, kept = job.project.target, handed_cluster(job.run)
    spec = all_targets()[target.key]
    machines = ",".join(spec.machines(check_all(spec.params, target.params)[0]))
    if not machines:
        return Peers()
    if kept is not None:
        return Chief(kept, job, on_hang)
    addresses = read_addresses(machines)
    if not addresses[0].is_here:
        job.events.log_line(
            f"Run on each other machine, with its number: workbench join {machines} "
            "--machine NUMBER"
        )
        return Chief(Cluster(with_ports(addresses)), job, on_hang)
    leader = Chief(local_cluster(addresses), job, on_hang)
    try:
        leader.start_others()
    except RunError as error:
        leader.close(error)  # those that have begun
        raise
    return leader


def join_error_of(run: RunFolder) -> RemoteError | None:
    """The reason of the first machine that could not join; None while there is none."""
    try:
        data = read_foreign(run.path / REFUSAL_NAME, _MAX_REFUSAL_BYTES)
        refusal = msgspec.json.decode(data, type=ErrorParts)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return RemoteError(
        refusal.what,
        where=refusal.where,
        received=refusal.received,
        expected=refusal.expected,
        fix=refusal.fix,
    )


class Chief(ClusterPeers):
    """The trainer of the run; its events name the machines that it waits for."""

    def __init__(
        self, cluster: Cluster, job: TrainingJob, on_hang: Callable[[WorkbenchError], None]
    ) -> None:
        super().__init__(cluster, job.stop, on_hang)
        self._project = job.project
        self._run = job.run
        self._events = job.events
        self._children: dict[int, subprocess.Popen[bytes]] = {}
        self._others = list(range(1, len(cluster.machines)))

    # coming together ---------------------------------------------------------------------

    def start_others(self) -> None:
        """Starts a process for each other machine, on this computer.

        Raises:
            RunError: one cannot be started.
        """
        for index in self._others:
            handed = {CLUSTER_VARIABLE: self._cluster.of(index).text()}
            folder = self._run.machine_path(index + 1)
            try:
                make_own_folder(folder.parent)
                make_own_folder(folder)
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
                with os.fdopen(open_own(folder / "log.txt", flags), "ab") as log:
                    self._children[index] = subprocess.Popen(
                        [sys.executable, "-P", "-m", "workbench.worker", "join", str(folder)],
                        env=trainer_environment(self._project, handed),
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                        start_new_session=True,
                    )
            except OSError as error:
                raise RunError(
                    f"The process of machine {index + 1} could not be started.",
                    where=str(folder),
                    received=error.strerror or str(error),
                ) from error

    def rendezvous(self, *, resume: bool) -> None:
        facts: dict[int, Mapping[str, Any]] = {0: own_facts()}
        deadline = time.monotonic() + COME_S
        with self._listening() as listener:
            while missing := [index for index in self._others if index not in self._connections]:
                self._events.phase("gathering", f"Waiting for {self._named(missing)}")
                self._look_after(missing, deadline)
                with contextlib.suppress(TimeoutError):
                    accepted, _ = listener.accept()
                    facts |= self._let_in(accepted, missing)
        self._all_have_bfloat16 = all(fact.get("has_bfloat16") is True for fact in facts.values())
        self.others = [msgspec.convert(facts[i].get("machine"), Machine) for i in self._others]
        for connection in self._connections.values():
            self._send_task(connection, resume=resume)

    def _listening(self) -> socket.socket:
        address = self._cluster.address(0)
        place = socket_address(address)
        family = socket.AF_INET6 if ":" in place[0] else socket.AF_INET
        try:
            listener = socket.create_server(place, family=family)
        except OSError as error:
            raise RunError(
                "The chief cannot listen on its address.",
                where=str(address),
                received=error.strerror or str(error),
                expected="an address of this computer, and a free port",
                fix="Give an address of this computer first, or another port.",
            ) from error
        listener.settimeout(_LOOK_S)
        return listener

    def _look_after(self, missing: list[int], deadline: float) -> None:
        """Raises when there is no use in waiting any longer."""
        self.stop.check()
        for index in missing:
            child = self._children.get(index)
            if child is not None and child.poll() is not None:
                self._gone.append(index)
                raise self._went_away(index)
        refused = join_error_of(self._run)
        if refused is not None:
            raise refused
        if time.monotonic() > deadline:
            first = missing[0]
            raise RemoteError(
                f"Machine {first + 1} did not join within {COME_S:.0f} s.",
                where=self._cluster.machines[first],
                expected="a worker there that joins this training",
                fix="Start it with `workbench join`, then start the training again.",
            )

    def _let_in(self, accepted: socket.socket, missing: list[int]) -> dict[int, Mapping[str, Any]]:
        """Number and facts of a machine that has joined; empty for any other connection."""
        index = -1

        def ended() -> None:
            self._ended(index)

        connection = Connection(
            accepted,
            on_message=lambda message: self._note_end(index, message),
            on_end=ended,
            max_bytes=0,
        )
        try:
            hello = connection.receive("hello", timeout_s=_HELLO_S)
        except ChannelClosedError:
            hello = None
        said = hello.values if hello is not None else {}
        number = said.get("index")
        key = str(said.get("key", "")).encode(errors="replace")
        if number not in missing or not hmac.compare_digest(key, self._cluster.key.encode()):
            connection.close()
            return {}
        connection.max_bytes = MAX_BYTES
        index = int(number)
        self._connections[index] = connection
        self._check_versions(index, said.get("versions"))
        return {index: said}

    def _check_versions(self, index: int, theirs: Any) -> None:
        ours = own_facts()["versions"]
        for name in ("workbench", "tensorflow", "keras"):
            there = theirs.get(name) if isinstance(theirs, dict) else None
            if there != ours.get(name):
                raise RemoteError(
                    f"Machine {index + 1} has a different version of {name}.",
                    where=self._cluster.machines[index],
                    received=str(there)[:80],
                    expected=str(ours.get(name)),
                    fix="Install the same versions on all machines.",
                )

    def _send_task(self, connection: Connection, *, resume: bool) -> None:
        files = [checkpoint_path(self._run, generation) for generation in (1, 2)]
        files = [path for path in files if resume and path.is_file()]
        connection.send(
            "task",
            msgspec.json.encode(self._run.request()),
            resume=resume,
            has_bfloat16=self._all_have_bfloat16,
            files=[path.name for path in files],
        )
        for path in files:
            connection.send("file", read_foreign(path, checkpoint_room(self._run)))

    def _exchange_fingerprints(self, mark: DataMark) -> None:
        waited = dict(self._connections)
        while waited:
            self._events.phase("gathering", f"Waiting until {self._named(list(waited))} is ready")
            for index, connection in list(waited.items()):
                self.stop.check()
                ready = connection.receive("ready", timeout_s=_LOOK_S)
                if ready is None:
                    continue
                del waited[index]
                if ready.values.get("mark") != mark_text(mark):
                    raise RemoteError(
                        f"Machine {index + 1} has other images.",
                        where=self._cluster.machines[index],
                        expected="the same data set on all machines",
                        fix="Copy it there again.",
                    )
        for connection in self._connections.values():
            connection.send("go")

    def _named(self, indices: list[int]) -> str:
        machines = self._cluster.machines
        return ", ".join(f"machine {index + 1} ({machines[index]})" for index in indices[:3])

    # the end -----------------------------------------------------------------------------

    def send_model(self, model: KeptModel) -> None:
        file = BytesIO()
        arrays: dict[str, Any] = {str(i): one for i, one in enumerate(model.weights.values())}
        np.savez(file, **arrays)
        names = list(model.weights)
        for connection in self._connections.values():
            connection.send("model", file.getvalue(), epoch=model.epoch, names=names)

    def close(self, error: BaseException | None) -> None:
        super().close(error)
        deadline = time.monotonic() + (_PART_S if error is None else 2.0)
        for child in self._children.values():
            try:
                child.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def _how_it_ended(self, index: int) -> str:
        child = self._children.get(index)
        if child is None or index not in self._gone:
            return super()._how_it_ended(index)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(1.0)
        code = child.returncode
        if code is None:
            return super()._how_it_ended(index)
        if code < 0:
            return f"its process was terminated by signal {-code}"
        last = tail_lines(self._run.machine_path(index + 1) / "log.txt", max_lines=1)
        return "; ".join([f"its process ended with exit code {code}", *last])
