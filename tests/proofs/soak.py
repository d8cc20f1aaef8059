"""The window follows a run of a million batch events: memory, frame gaps, files, points.

One process writes the log of a run as fast as it is set to, this one shows it in the real
window (offscreen, or on the display that QT_QPA_PLATFORM names) and watches itself.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.benchmarks._window import shown_window

GOAL_GROWTH_MIB = 50.0
GOAL_GAP_MS = 50.0
WARM_UP_EVENTS = 20_000
EVENTS_PER_EPOCH = 5_000
TICK_MS = 5
SAMPLE_MS = 250


def losses_of(steps: np.ndarray) -> np.ndarray:
    """The loss that is written at each step, in float32: each differs from the next."""
    steps = np.asarray(steps, np.float64)
    return (2.0 / np.sqrt(steps) + 0.1 * np.sin(steps)).astype(np.float32)


def write(num_events: int, per_second: float) -> None:
    """Writes a run into WORKBENCH_HOME; prints its path and waits for a line to begin."""
    from tests.written_runs import STEPS_PER_EPOCH, WrittenRun

    run = WrittenRun("soak", epochs=num_events // STEPS_PER_EPOCH + 1).begin()
    print(run.path, flush=True)
    sys.stdin.readline()
    started = time.monotonic()
    for first in range(1, num_events + 1, 100):
        for step in range(first, min(first + 100, num_events + 1)):
            loss = float(losses_of(step))
            run.batches([loss], [min(1.0, loss)])
            if step % EVENTS_PER_EPOCH == 0:
                run.epoch(step // EVENTS_PER_EPOCH)
        ahead_s = started + first / per_second - time.monotonic()
        if ahead_s > 0:
            time.sleep(ahead_s)
    run.finish()


def memory_mib() -> float:
    """Memory that this process holds, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Watch:
    """Measures the window: gaps between ticks, memory, open files.

    A gap is judged by the clock; how much of it this thread has computed is given beside it,
    since on a busy machine a window may have to wait for its turn.
    """

    def __init__(self, history, warm_up: int) -> None:
        from PySide6.QtCore import QTimer

        self._history = history
        self._warm_up = warm_up
        self._last = self._last_busy = 0.0
        self.gaps_ms = []
        self.busy_ms = []
        self.samples = []
        self._tick, self._sample = QTimer(), QTimer()
        self._tick.setTimerType(self._tick.timerType().PreciseTimer)
        self._tick.timeout.connect(self._on_tick)
        self._sample.timeout.connect(self.sample)
        self._tick.start(TICK_MS)
        self._sample.start(SAMPLE_MS)

    def _on_tick(self) -> None:
        now, busy = time.perf_counter(), time.thread_time()
        if self._last and len(self._history().steps) >= self._warm_up:
            self.gaps_ms.append(1000 * (now - self._last))
            self.busy_ms.append(1000 * (busy - self._last_busy))
        self._last, self._last_busy = now, busy

    def sample(self) -> None:
        count = len(self._history().steps)
        files = sum(1 for _ in Path("/proc/self/fd").iterdir())
        self.samples.append((count, memory_mib(), files))

    def stop(self) -> None:
        self._tick.stop()
        self._sample.stop()
        self.sample()

    def report(self) -> dict[str, float]:
        after = [sample for sample in self.samples if sample[0] >= self._warm_up]
        files = [sample[2] for sample in after]
        gaps = np.array(self.gaps_ms)
        busy = np.array(self.busy_ms)
        return {
            "memory_at_warm_up_mib": round(after[0][1], 1),
            "growth_mib": round(max(sample[1] for sample in after) - after[0][1], 1),
            "gap_p50_ms": round(float(np.percentile(gaps, 50)), 1),
            "gap_p99_ms": round(float(np.percentile(gaps, 99)), 1),
            "gap_max_ms": round(float(gaps.max()), 1),
            "computed_p99_ms": round(float(np.percentile(busy, 99)), 1),
            "computed_max_ms": round(float(busy.max()), 1),
            "open_files_min": min(files),
            "open_files_max": max(files),
        }


def follow(num_events: int, per_second: float, timeout_s: float) -> dict[str, float]:
    """Shows the run in the real window until it is over; what was seen."""
    from PySide6.QtCore import QTimer

    from workbench.app import close_context
    from workbench.gui.train.plots.run_plots import RunPlots

    app, context, window = shown_window()
    command = [sys.executable, "-m", "tests.proofs.soak", "--write"]
    command += ["--events", str(num_events), "--per-second", str(per_second)]
    writer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    path = Path(writer.stdout.readline().strip())
    context.library.open()
    window.show_view("train")
    context.library.select(path)
    current = context.library.current
    watch = Watch(lambda: current.history, min(WARM_UP_EVENTS, num_events // 4))
    plots = window.findChild(RunPlots)
    started = time.monotonic()

    def look() -> None:
        if not current.is_loaded:
            return
        if writer.stdin and not writer.stdin.closed:
            writer.stdin.write("go\n")
            writer.stdin.close()
        is_all_drawn = len(plots.by_key["loss"].series.steps) >= num_events
        if (current.is_over and is_all_drawn) or time.monotonic() - started > timeout_s:
            watch.stop()
            app.exit()

    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(200)
    app.exec()
    writer.kill()
    writer.wait()
    history = current.history
    steps = np.arange(1, num_events + 1)
    has_all = len(history.steps) == num_events
    result = watch.report()
    result["seconds"] = round(time.monotonic() - started, 1)
    result["points"] = len(history.steps)
    result["wrong_points"] = (
        int(np.count_nonzero(history.losses != losses_of(steps))) if has_all else num_events
    )
    window.hide()
    close_context(context)
    return result


def failures(result: dict[str, float], num_events: int, *, with_gaps: bool = True) -> list[str]:
    """Which goals were missed, in words."""
    missed = []
    if result["growth_mib"] > GOAL_GROWTH_MIB:
        missed.append(f"memory grew by {result['growth_mib']} MiB (goal {GOAL_GROWTH_MIB})")
    if with_gaps and result["gap_p99_ms"] > GOAL_GAP_MS:
        missed.append(f"the 99th percentile of gaps is {result['gap_p99_ms']} ms")
    if result["open_files_max"] - result["open_files_min"] > 4:
        missed.append("the number of open files is not constant")
    if result["points"] != num_events or result["wrong_points"]:
        missed.append(f"{result['points']:,} points, {result['wrong_points']:,} wrong")
    return missed


def main() -> int:
    """Prints what was seen as JSON; 1 when a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--per-second", type=float, default=10_000)
    parser.add_argument("--timeout", type=float, default=1800, help="seconds")
    parser.add_argument("--no-gaps", action="store_true", help="do not judge the frame gaps")
    parser.add_argument("--write", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.write:
        write(arguments.events, arguments.per_second)
        return 0
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="workbench-soak-") as home:
        os.environ["WORKBENCH_HOME"] = home
        result = follow(arguments.events, arguments.per_second, arguments.timeout)
    missed = failures(result, arguments.events, with_gaps=not arguments.no_gaps)
    print(json.dumps({"events": arguments.events, **result, "missed": missed}, indent=2))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
