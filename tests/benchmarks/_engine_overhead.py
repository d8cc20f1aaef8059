"""What logging, checkpoints and watching a training cost."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from tests.benchmarks._engine_speed import Case, in_turns, settle
from tests.benchmarks._runs import wait_for
from tests.virtual_screen import virtual_screen
from workbench.protocol.events import Batch, EpochFinished, TimeSpent
from workbench.runs.control import request_stop
from workbench.runs.environment import trainer_environment
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.log.event_log import EventReader
from workbench.runs.start import start_trainer

ROOT = Path(__file__).resolve().parents[2]
GOAL = 0.02
EPOCHS, STEPS = 4, 50
_SPAN_S = 20.0
_WARM_UP_S = 6.0
"""Of each span: the window starts, or the log's last words of the other span come in."""


def print_overhead(case: Case, rounds: int) -> bool:
    """(d): the bare loop against the trainer with its log and checkpoints, in turns; and one
    run that is watched by the real window every other span of time.
    """
    settle(case)
    variants = {"bare loop": partial(_bare, case), "trainer": partial(_logged, case)}
    speeds = in_turns(variants, rounds)
    bare, logged = (statistics.median(values) for values in speeds.values())
    print(
        f"event log and checkpoints: bare loop {bare:,.0f}, trainer {logged:,.0f} images/s: "
        f"{100 * (1 - logged / bare):+.1f} % slower (goal 2 %); median of {rounds}",
        flush=True,
    )
    watched = _watched_slowdown(case, pairs=max(7, rounds))
    whole = 1 - (1 - watched) * logged / bare
    print(f"all of it on against all of it off: {100 * whole:+.1f} % slower (goal 2 %)")
    return whole <= GOAL


def _project(case: Case, epochs: int) -> RunFolder:
    recipe = case.project.recipe.with_values(epochs=epochs, steps_per_epoch=STEPS)
    return create_run(replace(case.project, recipe=recipe))


def _bare(case: Case) -> float:
    run = _project(case, EPOCHS)
    command = [sys.executable, "-m", "tests.benchmarks._bare_loop", str(run.path)]
    environment = trainer_environment(case.project, {})  # with its large pages
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )
    if result.returncode:
        raise SystemExit(f"{command} failed:\n{result.stderr[-2000:]}")
    return statistics.median(float(line) for line in result.stdout.split())


def _logged(case: Case) -> float:
    run = _project(case, EPOCHS)
    start_trainer(run)
    wait_for(run, timeout_s=900)
    events = _events(run)
    images = STEPS * case.project.recipe.batch_size
    seconds = [event.seconds for event in events if isinstance(event, EpochFinished)]
    spent = [event for event in events if isinstance(event, TimeSpent)]
    if spent:
        last = spent[-1]
        share = (last.host_s + last.saving_s) / max(last.compute_s + last.input_s, 1e-9)
        print(f"  between the calls and copying for checkpoints: {100 * share:.2f} %", flush=True)
    return statistics.median(images / value for value in seconds[1:])


def _watched_slowdown(case: Case, pairs: int) -> float:
    """Median over pairs of neighbouring spans, unwatched and watched, of one single run."""
    run = _project(case, 100_000)
    start_trainer(run)
    _wait_for_steps(run)
    losses, shares = [], []
    for _ in range(pairs):
        alone = _span(run)
        window = _open_window(run)
        watched = _span(run)
        losses.append(1 - watched / alone)
        shares.append(_processor_s(window.pid) / _SPAN_S / (os.cpu_count() or 1))
        _close(window)
    request_stop(run)
    wait_for(run, timeout_s=120)
    slower = statistics.median(losses)
    print(
        f"live window: {100 * slower:+.1f} % slower (median of {pairs} pairs of spans of one run); "
        f"window, its start and the X server took {100 * statistics.median(shares):.1f} % of the "
        "processor time",
        flush=True,
    )
    return slower


def _open_window(run: RunFolder) -> subprocess.Popen[bytes]:
    command = [*virtual_screen(), sys.executable]
    command += ["-m", "tests.benchmarks._watch", str(run.path)]
    environment = {**os.environ, "QT_QPA_PLATFORM": "xcb"}
    return subprocess.Popen(command, env=environment, cwd=ROOT, start_new_session=True)


def _processor_s(session: int) -> float:
    """Processor time of all running processes of a session, in seconds."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(fields[3]) == session:
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _close(window: subprocess.Popen[bytes]) -> None:
    os.killpg(window.pid, 15)
    window.wait()


def _wait_for_steps(run: RunFolder) -> None:
    end = time.monotonic() + 300
    while not any(isinstance(event, Batch) and event.step > 20 for event in _events(run)):
        if time.monotonic() > end:
            raise SystemExit(f"The run in {run.path} did not start: see {run.log_path}")
        time.sleep(0.5)


def _span(run: RunFolder) -> float:
    """Steps a second from now on, without the first seconds."""
    began = time.time() + _WARM_UP_S
    time.sleep(_SPAN_S)
    batches = [e for e in _events(run) if isinstance(e, Batch) and e.time >= began]
    steps = batches[-1].step - batches[0].step
    return steps / (batches[-1].time - batches[0].time)


def _events(run: RunFolder) -> list[object]:
    return list(EventReader(run.events_path).read_new(max_events=1_000_000))
