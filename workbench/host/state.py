"""What a run's folder says of it, without a line of the application's own code."""

import errno
import fcntl
import json
import os
from typing import Any, Dict, List, Optional

from workbench.host.home import read_json

_TAIL = 64 * 1024
_VERBS = frozenset({b"train", b"join"})


def size_of(path: str) -> int:
    """Bytes of a file; 0 where there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def is_held(path: str) -> bool:
    """True while a process holds the lock of a file."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in (errno.EWOULDBLOCK, errno.EACCES)
    finally:
        os.close(lock)
    return False


def is_locked(folder: str) -> bool:
    """True while a trainer holds the run's lock: it is running."""
    return is_held(os.path.join(folder, "worker.lock"))


def is_waiting(folder: str) -> bool:
    """True while the run is queued: the marker is of the log as it is now."""
    mark = read_json(os.path.join(folder, "waiting"))
    events = size_of(os.path.join(folder, "events.jsonl"))
    return mark is not None and mark.get("log_bytes", 0) == events


def is_alive(folder: str) -> bool:
    """True while more is to come: a run is locked on its turn before it ceases to wait."""
    return is_waiting(folder) or is_locked(folder)


def outcome(folder: str) -> str:
    """The outcome in the last line of the log; "" while there is none."""
    try:
        with open(os.path.join(folder, "events.jsonl"), "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            lines = file.read(_TAIL).splitlines()
        last = json.loads(lines[-1].decode("utf-8")) if lines else None
    except (OSError, ValueError):
        return ""
    if not isinstance(last, dict) or last.get("event") != "run_finished":
        return ""
    return str(last.get("outcome", ""))[:40]


def holders(folder: str) -> List[int]:
    """Processes of this account that are the run's trainer: they hold its lock file open.

    A stored process id may be another program's by now, so none is trusted.
    """
    try:
        lock = os.stat(os.path.join(folder, "worker.lock"))
    except OSError:
        return []
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in pids if _is_trainer(pid) and _has_open(pid, lock)]


def _is_trainer(pid: int) -> bool:
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            words = file.read(4096).split(b"\0")
    except OSError:
        return False
    return pid != os.getpid() and b"workbench.worker" in words and not _VERBS.isdisjoint(words)


def _has_open(pid: int, lock: os.stat_result) -> bool:
    folder = "/proc/%d/fd" % pid
    try:
        for name in os.listdir(folder):
            try:
                info = os.stat(os.path.join(folder, name))
            except OSError:
                continue  # closed meanwhile
            if (info.st_dev, info.st_ino) == (lock.st_dev, lock.st_ino):
                return True
    except OSError:
        return False  # it ended, or belongs to another user
    return False


def facts_of(folder: str) -> Dict[str, Any]:
    """A run in a list of runs."""
    made: Optional[Dict[str, Any]] = read_json(os.path.join(folder, "host.json"))
    return {
        "run": os.path.basename(folder),
        "is_alive": is_locked(folder),
        "is_waiting": is_waiting(folder),
        "outcome": outcome(folder),
        "log_bytes": size_of(os.path.join(folder, "events.jsonl")),
        "request": (made or {}).get("request", ""),
    }
