"""One of several processes that all request the next run at the same moment (test_queue).

Usage: python _race.py HOME GO_FILE: waits for GO_FILE, then calls it until nothing waits. The
trainer is replaced by a process that holds the run's lock for a moment, as a trainer does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from workbench.core.storage.own_file import take_lock
from workbench.runs.state import queue

# Imports nothing of ours: several of them shall not keep a busy machine for minutes.
TRAINER = """
import os, sys
folder = sys.argv[1]
home, name = os.path.split(folder)
with open(os.path.join(home, "started.txt"), "a") as file:
    file.write(name + "\\n")
with open(os.path.join(folder, "events.jsonl"), "a") as file:
    file.write('{"event":"log_line","seq":1,"time":0.0,"text":"done"}\\n')
"""


def start_short_trainer(run, *, resume=False, extension=None):
    """Locks the run and hands the lock to a process that ends soon."""
    lock = take_lock(run.lock_path, wait_s=0.2)
    assert lock is not None, "two trainers of one run"
    os.set_inheritable(lock, True)
    with (run.path.parent / "alive.txt").open("a") as file:
        alive = [r for r in queue._folders(run.path.parent) if r.is_alive()]
        file.write(f"{len(alive)}\n")
    command = [sys.executable, "-S", "-E", "-c", TRAINER, str(run.path)]
    subprocess.Popen(command, pass_fds=[lock])
    os.close(lock)
    return 0


def main(home: Path, go: Path) -> None:
    queue.start_trainer = start_short_trainer
    print("ready", flush=True)
    while not go.exists():
        time.sleep(0.001)
    while queue.waiting(home):
        queue.start_next(home)
        time.sleep(0.005)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
