"""Following a run: its log of events from any byte on, and its other files."""

import contextlib
import hashlib
import os
import re
import time
from collections import OrderedDict
from typing import IO, Any, Dict

from workbench.host import state
from workbench.host.faults import Fault, system_faults
from workbench.host.request import Answer, HostRequest
from workbench.host.wire import BEAT_S, CHUNK

DIGEST_BYTES = 64 * 1024
"""Bytes of the log before an offset whose digest shows that both ends hold the same log."""

_LOOK_S = 0.05

FILES = frozenset(
    {
        "checkpoints/1.npz",
        "checkpoints/2.npz",
        "weights.npz",
        "model.json",
        "references.npz",
        "confusions.bin",
        "origin.json",
        "log.txt",
        "crash.txt",
        "worker.lock",
    }
)
"""What may be read of a run, beside checkpoints/best-N.npz."""

_BEST = re.compile(r"checkpoints/best-[0-9]{1,9}\.npz")
_MOST_OPEN = 8
_open: "OrderedDict[str, IO[bytes]]" = OrderedDict()


def attach(request: HostRequest) -> Answer:
    """Sends what a run's log holds and gets, until the run is over.

    Request: run, offset (bytes the other end has), digest (sha256 of the last 64 KiB of them).
    Frames sent: those with `offset` and bytes; each second one with `beat`, `is_alive`,
    `is_waiting`, `size`, `outcome`.
    Answer: is_over, size, outcome; or restart, where the other end has another log.
    """
    folder = request.home.known_run(request.text("run"))
    path = os.path.join(folder, "events.jsonl")
    offset = request.number("offset")
    if not _is_same(path, offset, request.text("digest")):
        return {"restart": True, "size": state.size_of(path)}, b""
    next_beat = 0.0
    while True:
        is_alive = state.is_alive(folder)  # first: what it wrote last is then seen below
        offset = _send_new(request, path, offset)
        if not is_alive:
            return {"is_over": True, "size": offset, "outcome": state.outcome(folder)}, b""
        if time.monotonic() >= next_beat:
            next_beat = time.monotonic() + BEAT_S
            request.send(_beat(folder, offset), b"")
        time.sleep(_LOOK_S)


def _beat(folder: str, offset: int) -> Dict[str, Any]:
    return {
        "beat": True,
        "is_alive": state.is_locked(folder),
        "is_waiting": state.is_waiting(folder),
        "size": offset,
        "outcome": state.outcome(folder),
    }


def _is_same(path: str, offset: int, digest: str) -> bool:
    if state.size_of(path) < offset:
        return False
    before = b""
    if offset:
        with open(path, "rb") as file:
            file.seek(max(0, offset - DIGEST_BYTES))
            before = file.read(min(offset, DIGEST_BYTES))
    return hashlib.sha256(before).hexdigest() == digest


def _send_new(request: HostRequest, path: str, offset: int) -> int:
    with system_faults(path), contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        file.seek(offset)
        for data in iter(lambda: file.read(CHUNK), b""):
            request.send({"offset": offset}, data)
            offset += len(data)
    return offset


def stat(request: HostRequest) -> Answer:
    """Opens a file of a run and says what it is; `read` then reads this very file, whatever
    gets its name meanwhile.

    Request: run, name. Answer: is_there; size, mtime_ns, sha256.
    """
    path = _path(request)
    with system_faults(path):
        try:
            file = open(path, "rb")  # noqa: SIM115 - it stays open for `read`
        except FileNotFoundError:
            return {"is_there": False}, b""
    digest, size = hashlib.sha256(), 0
    for data in iter(lambda: file.read(CHUNK), b""):
        digest.update(data)
        size += len(data)
    old = _open.pop(path, None)
    if old is not None:
        old.close()
    _open[path] = file
    while len(_open) > _MOST_OPEN:
        _open.popitem(last=False)[1].close()
    info = os.fstat(file.fileno())
    facts = {"size": size, "mtime_ns": info.st_mtime_ns, "sha256": digest.hexdigest()}
    return dict(facts, is_there=True), b""


def read(request: HostRequest) -> Answer:
    """A piece of the file that `stat` has opened on this line. Request: run, name, offset, limit.

    Answer: offset, and the bytes; none at the end of the file.
    """
    path = _path(request)
    file = _open.get(path)
    if file is None:
        raise Fault("request", "This file was not requested before.", where=path)
    offset = request.number("offset")
    with system_faults(path):
        file.seek(offset)
        data = file.read(min(request.number("limit", CHUNK), CHUNK))
    return {"offset": offset}, data


def _path(request: HostRequest) -> str:
    folder, name = request.home.known_run(request.text("run")), request.text("name")
    if name not in FILES and not _BEST.fullmatch(name):
        raise Fault("request", "This file of a run may not be read.", received=name[:200])
    return os.path.join(folder, name)
