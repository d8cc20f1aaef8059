"""Each kind of what is no file, too long or changed under each name of runs and settings, through the
commands and a window: the files part of `foreign_runs`.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

import workbench
from tests.hostile import Listener, write_runs
from tests.mutated_runs import CHANGED, FILES, MADE, OTHER, changed_bytes
from tests.planted import HOME_FILES, HOME_FOLDERS, INNER_FILES, RUN_FILES, RUN_FOLDERS, RUNS_FILES
from tests.planted_kinds import KINDS, plant_kind
from tests.proofs._foreign_tally import MOST_S, Tally, in_processes, tell
from tests.proofs._foreign_tries import FAULTS, Try, command, tried, until_over, window
from tests.proofs._tiny_runs import tiny_project, write_stripes
from tests.proofs.telemetry import ALLOWED
from tests.traced import Sandbox, Trace
from workbench.core.projects.project_file import read_project, save_project
from workbench.runs.folder import create_run
from workbench.runs.state.queue import MARKER_NAME

_STARTED = time.monotonic()
_LONGEST_S = 120
_IN_RUN = f"runs/{CHANGED}/"
_RUN, _UNDO = f"../ours/runs/{CHANGED}", "sorted/undo.jsonl"
_ALL_KINDS = (*KINDS, "flipped bits", "wrong values", "wrong length")
_MORE = (
    *FILES, "control_sender", "initial.npz", "image_features.npz", "robustness_suite.json",
    "machines/1/log.txt", "tensorboard/train",
)  # fmt: skip
_TOGETHER = {
    "all files beside runs": [
        *RUNS_FILES, *HOME_FILES, *(f"../work/{name}" for name in ("picture.png", "data.npz", _UNDO))
    ],
    "all folders beside runs": [name for name in HOME_FOLDERS if name != "recovery/discarded"],
}  # fmt: skip
"""Names that something is planted under at once."""

_HEAVY_NAMES = ("weights.npz", "model.json", "request.json", "checkpoints/1.npz", "events.jsonl")

COMMANDS: dict[str, dict[str, tuple[str, ...]]] = {
    "light": {
        "runs": ("runs", "--json"),
        "runs --filter": ("runs", "--filter", "acc>0.1"),
        "runs show": ("runs", "show", CHANGED),
        "runs rename": ("runs", "rename", CHANGED, "title"),
        "runs tag": ("runs", "tag", CHANGED, "tag"),
        "runs note": ("runs", "note", CHANGED, "note"),
        "runs skip": ("runs", "skip", CHANGED),
        "runs again": ("runs", "again", CHANGED),
        "runs save": ("runs", "save", CHANGED, "../work/saved"),
        "runs export": ("runs", "export", CHANGED, "curves.csv", "--force"),
        "runs restore": ("runs", "restore"),
        "export --list": ("export", CHANGED, "--list"),
        "compare": ("compare", CHANGED, OTHER),
        "compare back": ("compare", OTHER, CHANGED, "--json"),
        "coach": ("coach", CHANGED),
        "queue": ("queue",),
        "attach": ("attach", CHANGED),
        "fetch": ("fetch", CHANGED),
        "pause": ("pause", CHANGED),
        "stop": ("stop", CHANGED),
        "targets": ("targets",),
        "check": ("check", "p.workbench"),
        "set": ("set", "p.workbench", "epochs=3"),
        "bundle --dry-run": ("bundle", "p.workbench", "p.workbundle", "--dry-run"),
        "classify": ("classify", CHANGED, "picture.png"),
        "evaluate": ("evaluate", CHANGED),
        "calibrate": ("calibrate", CHANGED),
        "robustness": ("robustness", CHANGED, "--alter", "noise=0.1", "--images", "30"),
        "undo --dry-run": ("undo", _UNDO, "--dry-run"),
    },
    "processes": {
        "export": ("export", CHANGED, "weights", "model.h5", "--force"),
        "runs trash": ("runs", "trash", CHANGED),
    },
    "heavy": {
        "report": ("report", CHANGED, "report.html", "--force"),
        "notebook": ("notebook", "p.workbench", "p.ipynb", "--force"),
        "explain": ("explain", CHANGED, "picture.png", "map.png", "--force"),
        "feature-maps": ("feature-maps", CHANGED, "picture.png", "maps.png", "--force"),
        "map": ("map", CHANGED),
        "resume": ("resume", CHANGED, "--epochs", "4"),
        "train": ("train", "p.workbench", "--initial-weights", CHANGED, "--epochs", "1"),
        "queue start": ("queue", "start", CHANGED),
    },
}
"""The words of each command; "heavy" ones import TensorFlow, "processes" need one of their own."""


_TRACED = {**COMMANDS["light"], **COMMANDS["processes"]}


@dataclass(frozen=True)
class _Case:
    """What is planted where (from the settings folder), and the command that is tried; "" for all."""

    place: str = ""
    kind: str = ""
    only: str = ""


def prepare(sandbox: Sandbox) -> None:
    """A trained run with all that is kept, another one, one that waits, and what commands use."""
    data = write_stripes(sandbox.work / "data.npz", count=300)
    save_project(tiny_project(data, epochs=3), sandbox.work / "p.workbench")
    Image.fromarray(np.full((12, 12), 90, np.uint8)).save(sandbox.work / "picture.png")
    runs, kept = sandbox.root / "ours" / "runs", sandbox.root / "kept"
    for words in (
        ("train", "p.workbench", "--run", _RUN),
        ("evaluate", _RUN),
        ("robustness", _RUN, "--alter", "noise=0.1"),
        ("map", _RUN),
        ("export", _RUN, "onnx", "model.onnx"),
        ("runs", "tag", _RUN, "tag"),
        ("classify", _RUN, "picture.png", "--copy-into", "sorted", "--yes"),
    ):
        _done(sandbox, *words)
    (undo,) = (path for path in (sandbox.work / "sorted").iterdir() if path.is_file())
    undo.rename(sandbox.work / _UNDO)
    shutil.copytree(runs / CHANGED, kept / "trained")
    (runs / CHANGED).rename(runs / OTHER)
    queued = create_run(read_project(sandbox.work / "p.workbench"), path=kept / "queued")
    (queued.path / MARKER_NAME).write_text('{"order": 1, "since": 1.0}')


def _done(sandbox: Sandbox, *words: str) -> None:
    tell(f"{time.monotonic() - _STARTED:,.0f} s: {' '.join(words)}")
    done = subprocess.run(
        [sys.executable, "-m", "workbench", *words], cwd=sandbox.work, env=sandbox.environment(),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{words}: {done.stdout}{done.stderr}")


def places() -> list[str]:
    """All names, from the settings folder."""
    ours = (*RUN_FILES, *INNER_FILES, *RUN_FOLDERS, *_MORE)
    rest = (*RUNS_FILES, *HOME_FILES, *HOME_FOLDERS, "runs")
    used = (f"../work/{name}" for name in ("p.workbench", "picture.png", "data.npz", _UNDO))
    return list(dict.fromkeys([*(_IN_RUN + name for name in ours), *rest, *used]))


def _fresh(base: Sandbox, root: Path, run: str) -> Sandbox:
    """A copy of what was prepared, with a run of that kind whose files are to be changed."""
    shutil.rmtree(root, ignore_errors=True)
    for name in ("ours", "work"):
        shutil.copytree(base.root / name, root / name)
    shutil.copytree(base.root / "kept" / run, root / "ours" / "runs" / CHANGED)
    return Sandbox(root)


def _names_of(place: str) -> list[str]:
    if place in _TOGETHER:
        return _TOGETHER[place]
    return [place] if place else []


def _plant(path: Path, kind: str, whole: dict[Path, bytes]) -> bool:
    """False where there is nothing to change. `whole` keeps what was there before the first time."""
    if kind in KINDS:
        plant_kind(path, kind)
        return True
    if path.is_dir():
        return False
    if path not in whole:
        whole[path] = path.read_bytes() if path.is_file() else MADE
    data = whole[path]
    rng = random.Random(path.name + kind)
    changes: dict[str, Callable[[], bytes]] = {
        "flipped bits": lambda: changed_bytes(data, ".bin", rng),
        "wrong values": lambda: changed_bytes(data, path.name, rng),
        "wrong length": lambda: data[: len(data) // 2] if rng.random() < 0.5 else data * 2,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(changes[kind]())
    return True


def _acts(part: str) -> dict[str, Callable[[], int]]:
    if part == "window":
        return {part: window}
    acts = {name: command(*words) for name, words in COMMANDS[part].items()}
    if "queue start" in acts:
        acts["queue start"] = partial(until_over, acts["queue start"])
    return acts


def _run_kind(name: str) -> str:
    return "queued" if name == "queue start" else "trained"


def _tries(base: Sandbox, part: str, case: _Case) -> Iterator[tuple[str, Try, str]]:
    """Each command with something under a name: its name, what came of it, what else is wrong."""
    root, sandbox = base.root / f"case-{os.getpid()}", None
    whole: dict[Path, bytes] = {}
    for name, act in _acts(part).items():
        if case.only not in {"", name}:
            continue
        if sandbox is None or part == "heavy":
            sandbox = _fresh(base, root, _run_kind(name))
        # Again before each command: some write the file anew.
        paths = [root / "ours" / name for name in _names_of(case.place)]
        if not all(_plant(path, case.kind, whole) for path in paths):
            return
        result = tried(sandbox, act)
        yield name, result, _wrong(root, name, result.said, case)


def _wrong(root: Path, name: str, said: str, case: _Case) -> str:
    """What must not be of what a command has printed and left; "" for nothing."""
    if name == "runs" and OTHER not in said and case.place != "runs":
        return f"the other run is not listed: {said[-800:]}"
    left = [path.name for path in (root / "home").iterdir() if path.name[:1] != "."]
    return f"left at home: {left}" if left else ""


def _case(base: Sandbox, part: str, usual: dict[str, Try], case: _Case) -> Tally:
    """All commands with something under a name."""
    tally = Tally()
    for name, result, wrong in _tries(base, part, case):
        mine = usual[name]
        outcome = "answered" if result.code in {0, 1} else "refused in words"
        fault = wrong or result.fault(mine)
        tally.count("broken" if fault else outcome, result.seconds - mine.seconds,
                    result.mib - mine.mib)  # fmt: skip
        if fault:
            tally.broken.append(f"BROKEN {case.place}, {case.kind}: {name}: {fault}")
    return tally


def _planted(base: Sandbox, part: str, cases: list[_Case], words: str) -> Tally:
    """Cases through the commands of a part, compared with how they are without."""
    usual = {}
    for name, result, _ in _tries(base, part, _Case()):
        tell(f"{name}: {result.seconds:.1f} s, {result.mib} MiB, exit {result.code}")
        if result.code not in range(5) or any(words in result.said for words in FAULTS):
            raise SystemExit(f"{name} fails with files as they are: {result.said}")
        usual[name] = result
    tried_s = max(result.seconds for result in usual.values())
    words = f"{words} ({len(usual)} commands; with files as they are at most {tried_s:.1f} s)"
    return in_processes(partial(_case, base, part, usual), cases, words)


def _traced(base: Sandbox, case: tuple[str, int]) -> Tally:
    """A command as a process under strace, once with each kind, under another name each time."""
    name, number = case
    tally, names = Tally(), [place for place in places() if place.startswith(_IN_RUN)]
    words, usual_s = _TRACED[name], 0.0
    for at, kind in enumerate(("", *_ALL_KINDS)):
        place = names[(number * len(_ALL_KINDS) + at) % len(names)]
        sandbox = _fresh(base, base.root / f"traced-{os.getpid()}", _run_kind(name))
        if kind and not _plant(sandbox.root / "ours" / place, kind, {}):
            continue
        trace, seconds = _timed(sandbox, words)
        usual_s = usual_s or seconds
        tally.count("traced", seconds - usual_s, 0)
        wrong = _wrong(sandbox.root, name, trace.said, _Case(place, kind))
        bad = trace.sent or trace.made or not trace.num_calls or trace.code not in range(5)
        if (
            bad
            or wrong
            or any(fault in trace.said for fault in FAULTS)
            or seconds - usual_s > MOST_S
        ):
            tally.broken.append(f"BROKEN {place}, {kind}: {name} under strace: {wrong} {trace}")
    return tally


def _timed(sandbox: Sandbox, words: tuple[str, ...]) -> tuple[Trace, float]:
    """What a process did, and its time of processors: other programs may hold up everything."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    trace = sandbox.traced(0, "workbench", *words, allowed=ALLOWED, longest_s=_LONGEST_S)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return trace, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _traced_window(base: Sandbox) -> Tally:
    """One window under strace over runs with each kind under each name, beside runs and projects that
    name a server of a stranger.
    """
    tally = Tally()
    with Listener() as server:
        sandbox = _fresh(base, base.root / "traced-window", "trained")
        runs = sandbox.root / "ours" / "runs"
        write_runs(sandbox.root / "ours", server.port)
        names = [place.removeprefix(_IN_RUN) for place in places() if place.startswith(_IN_RUN)]
        for name in names:
            for kind in _ALL_KINDS:
                run = runs / f"{kind}, {name}".replace("/", "-")
                shutil.copytree(base.root / "kept" / "trained", run)
                _plant(run / name, kind, {})
        count = sum(1 for path in runs.iterdir() if path.is_dir())
        tell(f"a window over {count} runs")
        started = time.monotonic()
        trace = sandbox.traced(0, "tests.proofs._foreign_tries", str(count), allowed=ALLOWED)
        tally.outcomes["runs shown"] = count
        is_shown = f"{count} shown" in trace.said
        if trace.sent or trace.made or not trace.num_calls or trace.code or not is_shown:
            tally.broken.append(f"BROKEN window: {trace}")
        if server.greetings:
            tally.broken.append(f"BROKEN the stranger was connected to: {server.greetings}")
    tell(trace.said)
    tally.report(
        f"one window under strace, {time.monotonic() - started:,.0f} s, {trace.said[-300:]!r}"
    )
    return tally


def files(base: Sandbox, only: str) -> Iterator[Tally]:
    """The parts; only those, and the names and kinds, with these words."""
    _import()
    all_places = places()
    cases = [_Case(place, kind) for kind in _ALL_KINDS for place in all_places]
    cases = [case for case in cases if only in f"light {case.place} {case.kind}"]
    if cases:
        words = f"{len(all_places)} names x {len(_ALL_KINDS)} kinds, commands in forks"
        yield _planted(base, "light", cases, words)
    # Neither without a folder of runs nor with a project that a question is asked about.
    outer = list(_TOGETHER)
    cases = [_Case(place, kind) for kind in _ALL_KINDS for place in outer]
    cases = [case for case in cases if only in f"window {case.place} {case.kind}"]
    if cases:
        names = sum(map(len, _TOGETHER.values()))
        words = f"{names} names beside runs in {len(outer)} sets x {len(_ALL_KINDS)} kinds, a window each"
        yield _planted(base, "window", cases, words)
    if only in "strace window":
        yield _traced_window(base)
    if only in "strace commands":
        numbered = [(name, number) for number, name in enumerate(_TRACED)]
        words = f"{len(_ALL_KINDS)} kinds x {len(numbered)} commands, a process under strace each"
        yield in_processes(partial(_traced, base), numbered, words)
    cases = [
        _Case(_IN_RUN + _HEAVY_NAMES[(at + kind_at) % len(_HEAVY_NAMES)], kind, name)
        for kind_at, kind in enumerate(_ALL_KINDS)
        for at, name in enumerate(COMMANDS["heavy"])
    ]
    cases = [case for case in cases if only in f"heavy {case.place} {case.kind}"]
    if cases:
        for name in ("tensorflow", "keras"):
            importlib.import_module(name)
        words = f"{len(_ALL_KINDS)} kinds x commands in forks that have imported TensorFlow"
        yield _planted(base, "heavy", cases, words)


def _import() -> None:
    """All code that forks run, so that they begin with it."""
    for info in pkgutil.walk_packages(workbench.__path__, "workbench."):
        if not info.name.endswith("__main__"):
            importlib.import_module(info.name)
    importlib.import_module("onnxruntime")
    if "tensorflow" in sys.modules:
        raise SystemExit("TensorFlow is imported by a module of the program")
