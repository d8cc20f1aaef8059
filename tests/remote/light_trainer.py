"""What stands for `workbench.worker` on the other computer in tests that need no TensorFlow.

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

EVENTS = 250


def start(folder: str, *, is_resumed: bool) -> None:
    lock = os.open(os.path.join(folder, "worker.lock"), os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    if os.fork():
        os._exit(0)
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # By its command line the host's part knows a trainer from whatever else has the file open.
    arguments = [sys.executable, "-m", "workbench.worker", "train", folder, str(lock)]
    os.set_inheritable(lock, True)
    os.execv(sys.executable, arguments + ["--resume"] * is_resumed)


def train(folder: str, *, is_resumed: bool) -> None:
    path = os.path.join(folder, "events.jsonl")
    control = os.path.join(folder, "control")
    seq = len(open(path, "rb").read().splitlines()) if os.path.exists(path) else 0
    if is_resumed and os.path.exists(control):
        os.unlink(control)

    def tell(**event: object) -> None:
        nonlocal seq
        seq += 1
        first = {"event": event.pop("event"), "seq": seq, "time": time.time()}
        with open(path, "ab") as file:
            file.write(json.dumps({**first, **event}, separators=(",", ":")).encode() + b"\n")

    with open(os.path.join(folder, "log.txt"), "a", encoding="utf-8") as log:
        log.write(f"trainer {os.getpid()}\n")
    tell(event="log_line", text=f"pid {os.getpid()} resumed {is_resumed}")
    for number in range(EVENTS):
        tell(event="heartbeat", memory_bytes=number)
        if number % 50 == 10:
            keep(folder)
            tell(event="checkpoint_kept", step=number, epoch=1)
        wish = open(control, "rb").read().strip() if os.path.exists(control) else b""
        if wish:
            finish(folder, tell, "stopped", is_paused=wish == b"pause")
            return
        time.sleep(0.01)
    finish(folder, tell, "completed", is_paused=False)


def keep(folder: str) -> None:
    os.makedirs(os.path.join(folder, "checkpoints"), exist_ok=True)
    put(folder, "1.npz", "checkpoints/1.npz")


def put(folder: str, ready: str, name: str) -> None:
    path = os.path.join(folder, name)
    shutil.copy(os.path.join(os.path.dirname(folder), ready), path + ".new")
    os.replace(path + ".new", path)


def finish(folder: str, tell: object, outcome: str, *, is_paused: bool) -> None:
    put(folder, "weights.npz", "weights.npz")
    put(folder, "model.json", "model.json")
    tell(event="run_finished", outcome=outcome, run=folder, seconds=1.0, epochs_done=1,
         is_paused=is_paused, can_resume=outcome == "stopped")  # fmt: skip
    if outcome == "completed":
        shutil.rmtree(os.path.join(folder, "checkpoints"))


if __name__ == "__main__":
    verb, run, *rest = sys.argv[1:]
    {"start": start, "train": train}[verb](run, is_resumed="--resume" in rest)
