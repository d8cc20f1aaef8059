"""Checks and tests, in lanes side by side.

    python packaging/lanes.py [--full | --rest] [LANE ...]

Without a word the quick tier: all checks, and all tests but those marked `full`. `--full` runs
everything, and measures what the tests run of the program; `--rest` runs what the quick tier has
left out, after it. COVERAGE=1 measures those two as well, together.

Two lanes more run at a time than there are processors, all but the one of the real mouse at a lower
priority than that. What a lane prints goes to `build/lanes/LANE.log`, with its slowest tests; here
is one line for each, and the end of those that fail.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "build" / "lanes"
BIN = Path(sys.executable).parent
LAST_LINES = 60
AT_ONCE = (os.cpu_count() or 1) + 2
"""Lanes at a time: tests wait a third of their time for processes and timers."""


QUICK, FULL, REST = "", "--full", "--rest"
"""The tiers, by the word that asks for one."""

_SELECTED: dict[str, tuple[str, ...]] = {QUICK: ("-m", "not full"), FULL: (), REST: ("-m", "full")}
_NOTHING_SELECTED = 5
"""Exit code of pytest: a lane that the quick tier has run whole."""


@dataclass(frozen=True)
class Lane:
    """Commands that run one after the other; the first that fails is the last.

    Attributes:
        checks: Programs and their arguments, which are no part of the tier REST.
        tests: Arguments of pytest, which runs after them; () for no tests.
        is_measured: With coverage, where the tier is: it costs a quarter more where TensorFlow
            runs in the process of pytest, and sees nothing where all is done in other processes.
        niceness: As of `nice`. A window that a mouse moves in must not wait for other lanes.
    """

    name: str
    checks: tuple[tuple[str, ...], ...] = ()
    tests: tuple[str, ...] = ()
    is_measured: bool = True
    niceness: int = 5

    def commands(self, tier: str, *, is_measured: bool) -> tuple[tuple[str, ...], ...]:
        """What it runs in a tier."""
        checks = () if tier == REST else self.checks
        if not self.tests:
            return checks
        cache = f"cache_dir={LOGS / self.name}.cache"  # lanes must not write each other's
        before = ("-m", "coverage", "run") if is_measured and self.is_measured else ()
        pytest = ("-m", "pytest", "-q", "--durations=30", "-o", cache, *_SELECTED[tier])
        return (*checks, _python(*before, *pytest, *self.tests))

    @property
    def log(self) -> Path:
        return LOGS / f"{self.name}.log"

    def last_lines(self, count: int) -> list[str]:
        """The end of what it has printed."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return [line for line in lines if line.strip()][-count:]


def _python(*words: str) -> tuple[str, ...]:
    return (sys.executable, *words)


def _program(name: str, *words: str) -> tuple[str, ...]:
    return (str(BIN / name), *words)


def _tests(name: str, *words: str, is_measured: bool = True, niceness: int = 5) -> Lane:
    return Lane(name, tests=words, is_measured=is_measured, niceness=niceness)


def _ignored(*folders: str) -> tuple[str, ...]:
    return tuple(f"--ignore={folder}" for folder in folders)


def _worker(*folders: str) -> tuple[str, ...]:
    return tuple(f"tests/worker/{name}" for name in folders)


_MODEL = _worker("step", "model", "input", "checkpoints")
_REQUESTS = _worker("requests", "cluster", "checkup")
_TRAINER = _worker("trainer", "features")
_FORMATS = _worker("exporting")
_IN_OTHERS = (*_MODEL, *_REQUESTS, *_TRAINER, *_FORMATS)
_PROGRAMS = ("tests/cli", "tests/remote", "tests/checkup", "tests/seams")
_VIEWS = "tests/gui/views"
_WINDOW = ("tests/gui", "tests/client", "tests/document")

_EXPORTS = ("*notebook*.py", "*_script.py")
"""Names of the modules of tests/worker/requests that run exported programs, a lane of their own."""
_EXPORTED = [str(p) for n in _EXPORTS for p in (ROOT / "tests/worker/requests").glob(f"test_{n}")]

LANES = (
    _tests("end2end", "tests/end2end", is_measured=False, niceness=0),
    _tests("exports", *sorted({*_EXPORTED})),
    _tests("formats", *_FORMATS, is_measured=False),
    _tests("requests", *_REQUESTS, *(f"--ignore-glob=*/test_{name}" for name in _EXPORTS)),
    _tests("training", *_TRAINER, is_measured=False),
    _tests("views", _VIEWS),
    _tests("window", *_WINDOW, f"--ignore={_VIEWS}"),
    _tests("programs", *_PROGRAMS),
    # All that is in no other lane: a new folder of tests cannot be left out.
    _tests("rest", "tests", *_ignored("tests/worker", "tests/end2end", *_PROGRAMS, *_WINDOW)),
    _tests("model", *_MODEL),
    _tests("worker", "tests/worker", *_ignored(*_IN_OTHERS), is_measured=False),
    Lane("types", checks=(_program("mypy"),)),
    Lane(
        "style",
        checks=(
            _program("ruff", "check", "."),
            _program("ruff", "format", "--check", "."),
            _program("lint-imports", "--no-logo"),
        ),
    ),
    Lane("wheel", checks=(_python("packaging/check_wheel.py"),)),
)
"""Long ones first, so that no processor is idle at the end."""

COVERAGE = Lane(
    "coverage",
    checks=(
        _python("-m", "coverage", "combine", "--quiet"),
        _python("packaging/check_coverage.py"),
    ),
)
"""Of all lanes of tests together."""


def main(words: list[str]) -> int:
    """Runs the named lanes, or all; 0 when all are green."""
    tiers, names = [w for w in words if w in _SELECTED], [w for w in words if w not in _SELECTED]
    if unknown := set(names) - {lane.name for lane in LANES}:
        print("Unknown lane:", *sorted(unknown), "- lanes:", *(lane.name for lane in LANES))
        return 2
    tier = tiers[0] if tiers else QUICK
    is_measured = tier == FULL or "COVERAGE" in os.environ
    LOGS.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    if tier != REST:
        subprocess.run(_python("-m", "coverage", "erase"), cwd=ROOT, check=True)
    named = [lane for lane in LANES if not names or lane.name in names]
    failed = run_side_by_side(named, tier, is_measured=is_measured)
    if is_measured and tier != QUICK and not failed and not names:
        failed = run_side_by_side([COVERAGE], FULL, is_measured=False)
    verdict = f"failed: {', '.join(failed)}" if failed else "all green"
    print(f"{_minutes(time.monotonic() - started)}  {verdict}")
    return int(bool(failed))


def run_side_by_side(lanes: list[Lane], tier: str, *, is_measured: bool) -> list[str]:
    """Prints the result of each lane as it ends; returns the names of those that failed."""
    failed = []
    commands = {lane: lane.commands(tier, is_measured=is_measured) for lane in lanes}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs = {pool.submit(_run, lane, what): lane for lane, what in commands.items() if what}
        try:
            for done in as_completed(runs):
                lane, (seconds, is_green) = runs[done], done.result()
                _report(lane, seconds, is_green=is_green)
                failed += [] if is_green else [lane.name]
        except KeyboardInterrupt:  # the terminal sends it to the running ones too
            pool.shutdown(cancel_futures=True)
            raise
    return failed


def _report(lane: Lane, seconds: float, *, is_green: bool) -> None:
    lines = lane.last_lines(1 if is_green else LAST_LINES)
    verdict = "ok    " if is_green else "FAILED"
    print(f"{_minutes(seconds)}  {verdict}  {lane.name}", *lines, sep="\n    ", flush=True)


def _run(lane: Lane, commands: tuple[tuple[str, ...], ...]) -> tuple[float, bool]:
    started = time.monotonic()
    with lane.log.open("wb") as log:
        polite = ("nice", "-n", str(lane.niceness))
        is_green = all(_is_done((*polite, *command), log) for command in commands)
    return time.monotonic() - started, is_green


def _is_done(command: tuple[str, ...], log: IO[bytes]) -> bool:
    code = subprocess.run(command, cwd=ROOT, stdout=log, stderr=log, check=False).returncode
    if code == _NOTHING_SELECTED and _SELECTED[REST][1] in command:
        return True
    if code:  # of a signal below zero: a crash prints nothing itself
        log.write(f"ended with code {code}\n".encode())
    return code == 0


def _minutes(seconds: float) -> str:
    return f"{seconds // 60:3.0f}:{seconds % 60:02.0f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
