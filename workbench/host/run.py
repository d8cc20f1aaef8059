"""Runs on this computer: created, started, stopped, listed, removed."""

import contextlib
import hashlib
import json
import os
import shutil
import signal as signals
import tempfile
import time
from typing import Dict, List

from workbench.host import children, state
from workbench.host.faults import Fault, system_faults
from workbench.host.home import read_json, remove_file, write_file, write_json
from workbench.host.request import Answer, HostRequest
from workbench.host.wire import LINE_LIMIT

_COMMANDS = ("stop", "pause", "median", "skip", "skip_all", "again")
_SIGNALS = {"terminate": signals.SIGTERM, "kill": signals.SIGKILL}
_START_SILENCE_S = 120.0
_END_S = 20.0
_CLUSTER = "cluster.json"
_REFUSAL = "refusal.json"


def create(request: HostRequest) -> Answer:
    """Makes the folder of a run from its request; the same request again changes nothing.

    Request: name, code (sha), python (path), parcel (sha or ""), state (sha or "": its log and
    checkpoints from elsewhere, with which a new folder begins), is_longer (the request may have
    more epochs than the one there); bytes: request.json.
    Answer: run (its name), path, is_new.
    """
    name, python = request.text("name"), request.text("python")
    folder = request.home.run(name)
    facts = {
        "request": hashlib.sha256(request.data).hexdigest(),
        "code": request.text("code"),
        "python": python,
        "parcel": request.text("parcel"),
    }
    _check_stored(request, facts["code"], facts["parcel"])
    if not (os.path.isabs(python) and os.access(python, os.X_OK)):
        raise Fault(
            "no_python",
            "The Python environment of the run is missing.",
            where=python[:200],
            fix="Set up the computer again.",
        )
    is_new = not os.path.lexists(folder)
    if is_new:
        _make(request, folder, facts, request.text("state"))
    else:
        is_alive = state.is_alive(folder)
        if request.flag("is_longer") and not is_alive:
            write_file(os.path.join(folder, "request.json"), request.data)
        else:
            _check_same(folder, facts["request"])
        if not is_alive:
            write_json(os.path.join(folder, "host.json"), facts)
    return {"run": name, "path": folder, "is_new": is_new}, b""


def _check_stored(request: HostRequest, code: str, parcel: str) -> None:
    for kind, sha in (("code", code), ("parcel", parcel)):
        if (sha or kind == "code") and not os.path.isdir(request.home.stored(kind, sha)):
            raise Fault("not_stored", "The %s has not been sent yet." % kind, received=sha)


def _make(request: HostRequest, folder: str, facts: Dict[str, str], begun: str) -> None:
    if begun and not os.path.isdir(request.home.stored("state", begun)):
        raise Fault("not_stored", "The log of the run has not been sent yet.", received=begun)
    with system_faults(request.home.runs):
        temporary = tempfile.mkdtemp(prefix=".new-", dir=request.home.runs)
    try:
        with system_faults(folder):
            if begun:
                os.rmdir(temporary)
                os.rename(request.home.stored("state", begun), temporary)
            write_file(os.path.join(temporary, "request.json"), request.data)
            write_json(os.path.join(temporary, "host.json"), facts)
            os.rename(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _check_same(folder: str, digest: str) -> None:
    there = read_json(os.path.join(folder, "host.json"))
    if there is None or there.get("request") != digest:
        raise Fault(
            "other_run",
            "The other computer already has a run with this name.",
            where=folder,
            fix="Use another name, or delete that run there.",
        )


def start(request: HostRequest) -> Answer:
    """Starts a run's trainer, or queues it. The same attempt requested again, after a lost
    connection, starts nothing.

    Request: run, attempt (1, 2, ...), resume, joins; bytes: of several machines that train
    together, all of them, and which this one is. A process that joins as a worker and still
    waits for an earlier attempt is ended first.
    Answer: was_started, is_waiting, log_bytes (of the log before this attempt); those bytes,
    as the trainer got them: those of the first request are final.
    """
    folder = request.home.known_run(request.text("run"))
    attempt = request.number("attempt", 1)
    mark = os.path.join(folder, "started.json")
    events = os.path.join(folder, "events.jsonl")
    cluster = os.path.join(folder, _CLUSTER)
    if request.flag("joins") and request.data != _read(cluster):
        _end(folder)
    if state.is_alive(folder):
        return _started(folder, is_new=False)
    last = read_json(mark) or {}
    if last.get("attempt") == attempt and state.size_of(events) > last.get("log_bytes", 0):
        return _started(folder, is_new=False)  # it came, trained and ended meanwhile
    write_json(mark, {"attempt": attempt, "log_bytes": state.size_of(events)})
    remove_file(os.path.join(folder, _REFUSAL))
    if request.data:
        write_file(cluster, request.data)
    else:
        remove_file(cluster)
    ended = children.run(
        _command(folder, "start", *(["--resume"] if request.flag("resume") else [])),
        _environment(request, folder),
        silence_s=_START_SILENCE_S,
        is_ended_with_line=False,
    )
    if ended.code and not state.is_alive(folder):
        raise _not_started(folder, ended.lines)
    return _started(folder, is_new=True)


def _started(folder: str, *, is_new: bool) -> Answer:
    mark = read_json(os.path.join(folder, "started.json")) or {}
    answer = {
        "was_started": not is_new,
        "is_waiting": state.is_waiting(folder),
        "log_bytes": mark.get("log_bytes", 0),
    }
    return answer, _read(os.path.join(folder, _CLUSTER))


def _end(folder: str) -> None:
    deadline = time.monotonic() + _END_S
    while state.is_locked(folder):
        for pid in state.holders(folder):
            with contextlib.suppress(OSError):  # it ended meanwhile
                os.kill(pid, signals.SIGKILL)
        if time.monotonic() > deadline:
            raise Fault(
                "alive", "The process of an earlier attempt is still running.", where=folder
            )
        time.sleep(0.05)


def _read(path: str) -> bytes:
    with system_faults(path), contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        return file.read(LINE_LIMIT)
    return b""


def refuse(request: HostRequest) -> Answer:
    """Passes to a run's trainer, which waits for other machines, why one of them cannot join.

    Request: run; bytes: the error as JSON.
    """
    write_file(os.path.join(request.home.known_run(request.text("run")), _REFUSAL), request.data)
    return {}, b""


def _command(folder: str, verb: str, *options: str) -> List[str]:
    facts = read_json(os.path.join(folder, "host.json")) or {}
    python = facts.get("python", "")
    # -P: files beside something must not shadow Python's own modules.
    return [python, "-P", "-m", "workbench.worker", verb, folder, *options]


def _environment(request: HostRequest, folder: str) -> Dict[str, str]:
    facts = read_json(os.path.join(folder, "host.json")) or {}
    variables = dict(os.environ)
    variables.pop("PYTHONHOME", None)
    variables["PYTHONPATH"] = request.home.stored("code", facts.get("code", ""))
    variables["WORKBENCH_HOME"] = request.home.path
    return variables


def _not_started(folder: str, lines: List[str]) -> Fault:
    """What the application there said of it, as it said it."""
    for line in reversed(lines):
        try:
            error = json.loads(line)["error"]
            what = str(error.pop("what"))
            return Fault("not_started", what, **{key: str(text) for key, text in error.items()})
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
    return Fault(
        "not_started",
        "The training could not be started on the other computer.",
        where=folder,
        received="; ".join(lines[-3:])[:1000],
        fix="Set up the computer again.",
    )


def control(request: HostRequest) -> Answer:
    """Requests something of a trainer, or removes a queued run. Request: run, command."""
    folder, command = request.home.known_run(request.text("run")), request.text("command")
    if command not in _COMMANDS:
        raise Fault("request", "Unknown command for a run.", received=command[:100])
    if not (state.is_waiting(folder) and _is_cancelled(request, folder)):
        write_file(os.path.join(folder, "control"), command.encode("ascii") + b"\n")
    return {}, b""


def _is_cancelled(request: HostRequest, folder: str) -> bool:
    """False where its turn has just come, or its program has no such command."""
    ended = children.run(
        _command(folder, "cancel"), _environment(request, folder), silence_s=_START_SILENCE_S
    )
    return ended.code == 0


def signal(request: HostRequest) -> Answer:
    """Ends a run's trainer by force. Request: run, signal (terminate or kill).

    Answer: how many processes got it; their ids are looked up here, never sent.
    """
    folder, name = request.home.known_run(request.text("run")), request.text("signal")
    if name not in _SIGNALS:
        raise Fault("request", "Unknown signal.", received=name[:100])
    count = 0
    for pid in state.holders(folder):
        try:
            os.kill(pid, _SIGNALS[name])
            count += 1
        except OSError:
            continue  # it ended meanwhile
    return {"count": count}, b""


def list_runs(request: HostRequest) -> Answer:
    """All runs here, as a JSON list in the answer's bytes. Request: run, to see only that one."""
    one = request.text("run")
    if one:
        folders = [request.home.run(one)]
    else:
        names = sorted(os.listdir(request.home.runs), reverse=True)
        folders = [os.path.join(request.home.runs, n) for n in names if not n.startswith(".")]
    known = [f for f in folders if os.path.isfile(os.path.join(f, "request.json"))]
    runs = [state.facts_of(folder) for folder in known[:2000]]
    return {"count": len(known)}, json.dumps(runs).encode("ascii")


def forget(request: HostRequest) -> Answer:
    """Removes a run that is over. Request: run. Nothing happens where it is gone already."""
    folder = request.home.run(request.text("run"))
    if os.path.isdir(folder) and not os.path.islink(folder):
        if state.is_alive(folder):
            raise Fault(
                "alive",
                "The run is still training there.",
                where=folder,
                fix="Stop it first.",
            )
        with system_faults(folder):
            shutil.rmtree(folder)
    return {}, b""
