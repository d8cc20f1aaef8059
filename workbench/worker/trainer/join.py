"""`python -m workbench.worker join FOLDER`: a machine that is not the chief.

Its cluster is named in the environment (WORKBENCH_CLUSTER): then what it trains is sent by the
chief. Or in FOLDER (cluster.json, see `runs.trust`), with the request that was sent there by the
user: then the chief can only begin that. FOLDER holds its own log; nothing of it is needed
afterwards.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path

import msgspec
import numpy as np

from workbench.core.storage.json_file import DAMAGED
from workbench.core.storage.own_file import make_own_folder
from workbench.core.storage.save import save_bytes
from workbench.errors import RemoteError, UsageError, WorkbenchError
from workbench.hardware.cluster import CLUSTER_VARIABLE, Cluster
from workbench.runs.folder import RunFolder, RunRequest
from workbench.runs.store.checkpoint import DataMark, remove_checkpoints
from workbench.worker.checkpoints.writer import KeptModel
from workbench.worker.cluster.members import (
    ChannelClosedError,
    ClusterPeers,
    Connection,
    Message,
    handed_cluster,
    mark_text,
    own_facts,
    socket_address,
)
from workbench.worker.process.run_channel import StopSwitch

COME_S = 300.0
"""How long connecting to the chief is tried, and its start is waited for."""

_AGAIN_S = 0.5
_FILES = ("1.npz", "2.npz")


class Member(ClusterPeers):
    """A machine that is not the chief."""

    def __init__(
        self, cluster: Cluster, stop: StopSwitch, on_hang: Callable[[WorkbenchError], None]
    ) -> None:
        super().__init__(cluster, stop, on_hang)
        self._connections[0] = Connection(
            self._called(), on_message=partial(self._note_end, 0), on_end=partial(self._ended, 0)
        )
        self._connections[0].send("hello", index=cluster.index, key=cluster.key, **own_facts())

    def _called(self) -> socket.socket:
        deadline = time.monotonic() + COME_S
        while True:
            try:
                place = socket_address(self._cluster.address(0))
                return socket.create_connection(place, timeout=5.0)
            except OSError as error:
                if time.monotonic() > deadline:
                    raise RemoteError(
                        "The chief cannot be reached.",
                        where=self._cluster.machines[0],
                        received=error.strerror or str(error),
                        fix="Start the training there, and check that no firewall blocks "
                        "the connection.",
                    ) from error
            time.sleep(_AGAIN_S)

    def receive_task(self, run: RunFolder, *, is_requested: bool = False) -> bool:
        """Writes what is to be trained into this machine's folder.

        Args:
            run: The folder.
            is_requested: It has the request already: nothing else may be trained.

        Returns:
            Whether it goes on from the checkpoint that came with it.

        Raises:
            RemoteError: the chief went away, did not begin, or sends another request.
        """
        task = self._receive("task")
        self._all_have_bfloat16 = task.values.get("has_bfloat16") is True
        if is_requested:
            self._check_same(run, task.data)
        else:
            save_bytes(run.request_path, task.data)
        remove_checkpoints(run)
        for name in task.values.get("files", []):
            file = self._receive("file")
            if name in _FILES:
                make_own_folder(run.checkpoints_path)
                save_bytes(run.checkpoints_path / name, file.data)
        return task.values.get("resume") is True

    def _check_same(self, run: RunFolder, sent: bytes) -> None:
        """Raises RemoteError where the chief's request is not the one that is here, apart from the
        computer that it names.
        """
        ours = msgspec.structs.replace(run.request(), on="")
        try:
            theirs = msgspec.structs.replace(msgspec.json.decode(sent, type=RunRequest), on="")
        except DAMAGED:
            theirs = None
        if theirs != ours:
            raise RemoteError(
                "The chief sent another training than was requested on this machine.",
                where=self._cluster.machines[0],
                received=_first_difference(ours, theirs),
                expected="the same request on all machines",
                fix="Nothing was loaded here. Stop the run, and start it again.",
            )

    def _receive(self, kind: str) -> Message:
        message = self._connections[0].receive(kind, timeout_s=COME_S)
        if message is None:
            raise RemoteError(
                f"The chief did not respond for {COME_S:.0f} s.",
                where=self._cluster.machines[0],
                expected=f"the message “{kind}”",
            )
        return message

    def _exchange_fingerprints(self, mark: DataMark) -> None:
        self._connections[0].send("ready", mark=mark_text(mark))
        if self._connections[0].receive("go") is None:  # without a deadline: others may be loading
            raise ChannelClosedError

    def receive_model(self) -> KeptModel:
        """The weights that the chief keeps."""
        message = self._connections[0].receive("model")
        if message is None:
            raise ChannelClosedError
        with np.load(BytesIO(message.data), allow_pickle=False) as file:
            arrays = [np.array(file[str(i)]) for i in range(len(file.files))]
        weights = dict(zip(message.values["names"], arrays, strict=True))
        return KeptModel(weights, int(message.values["epoch"]))


def _first_difference(ours: RunRequest, theirs: RunRequest | None) -> str:
    """Which part of a request differs, by its name here: nothing of what was sent is shown."""
    if theirs is None:
        return "no request"
    fields = ours.__struct_fields__
    names = [name for name in fields if getattr(ours, name) != getattr(theirs, name)]
    inner = [key for key, value in ours.project.items() if theirs.project.get(key) != value]
    return f"other values of {', '.join([*names, *(f'project.{key}' for key in inner)])}"


def join_training(folder: str | Path) -> int:
    """Trains with others until their training ends; returns the exit code."""
    from workbench.worker.trainer.train import run_training

    run = RunFolder(Path(folder).absolute())
    try:
        is_requested = CLUSTER_VARIABLE not in os.environ
        cluster = handed_cluster(run)
        if cluster is None:
            raise UsageError("There is no training to join.", where=CLUSTER_VARIABLE)
        try:
            member = Member(cluster, StopSwitch(run), _end_at_once)
            resume = member.receive_task(run, is_requested=is_requested)
        except ChannelClosedError as error:
            raise RemoteError(
                "The chief rejected this machine.",
                received=str(error),
                expected="the same machines, versions and key",
            ) from error
    except WorkbenchError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return run_training(run.path, resume=resume, member=member)


def _end_at_once(error: WorkbenchError) -> None:
    sys.stderr.write(f"{error}\n")
    sys.stderr.flush()
    os._exit(error.exit_code)
