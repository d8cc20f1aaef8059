"""Replaces `workbench.worker` on the other computer in tests that need no TensorFlow.

It is sent as the application's code is, and started as a trainer is: `start RUN [--resume]`
leaves a process of its own session that holds the run's lock, appends events, keeps
checkpoints that its test has left beside, and obeys the control file. Standard library only.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

EVENTS = 250
KEEPS = False


def start(folder: Path, *, is_resumed: bool) -> None:
    lock = os.open(folder / "worker.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    if os.fork():
        os._exit(0)
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # By its command line the host distinguishes a trainer from other programs that have the file open.
    arguments = [sys.executable, "-m", "workbench.worker", "train", str(folder), str(lock)]
    os.set_inheritable(lock, True)
    os.execv(sys.executable, arguments + ["--resume"] * is_resumed)  # noqa: S606 - by its path


def train(folder: Path, *, is_resumed: bool) -> None:
    path, control = folder / "events.jsonl", folder / "control"
    seq = len(path.read_bytes().splitlines()) if path.exists() else 0
    if is_resumed:
        control.unlink(missing_ok=True)

    def log_event(**event: object) -> None:
        nonlocal seq
        seq += 1
        first = {"event": event.pop("event"), "seq": seq, "time": time.time()}
        with path.open("ab") as file:
            file.write(json.dumps({**first, **event}, separators=(",", ":")).encode() + b"\n")

    with (folder / "log.txt").open("a", encoding="utf-8") as log:
        log.write(f"trainer {os.getpid()}\n")
    log_event(event="log_line", text=f"pid {os.getpid()} resumed {is_resumed}")
    for number in range(EVENTS):
        log_event(event="heartbeat", memory_bytes=number)
        if number % 50 == 10:
            (folder / "checkpoints").mkdir(exist_ok=True)
            put(folder, "1.npz", "checkpoints/1.npz")
            log_event(event="checkpoint_kept", step=number, epoch=1)
        command = control.read_bytes().strip() if control.exists() else b""
        if command:
            finish(folder, log_event, "stopped", is_paused=command == b"pause")
            return
        time.sleep(0.01)
    finish(folder, log_event, "completed", is_paused=False)


def put(folder: Path, ready: str, name: str) -> None:
    new = folder / f"{name}.new"
    shutil.copy(folder.parent / ready, new)
    new.replace(folder / name)


def finish(folder: Path, log_event: Callable[..., None], outcome: str, *, is_paused: bool) -> None:
    put(folder, "weights.npz", "weights.npz")
    put(folder, "model.json", "model.json")
    log_event(event="run_finished", outcome=outcome, run=str(folder), seconds=1.0, epochs_done=1,
         is_paused=is_paused, can_resume=outcome == "stopped")  # fmt: skip
    if outcome == "completed" and not KEEPS:
        shutil.rmtree(folder / "checkpoints")


if __name__ == "__main__":
    verb, run, *rest = sys.argv[1:]
    {"start": start, "train": train}[verb](Path(run), is_resumed="--resume" in rest)
