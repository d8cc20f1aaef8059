"""Processor time of the window while it follows a training run.

`python -m tests.benchmarks.watching [SECONDS]`: a written run logs ten times a second, as a
trainer does, and the real window shows its curves (offscreen, or where QT_QPA_PLATFORM says).
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.benchmarks._window import shown_window

GOAL_PERCENT = 2.0
SETTLE_S = 6.0
EVENTS_PER_S = 10
BATCHES_PER_EVENT = 5
EVENTS_PER_EPOCH = 60


def write() -> None:
    """Logs like a trainer until its input ends; prints the run's path first."""
    from tests.written_runs import WrittenRun
    from workbench.protocol.events import Heartbeat

    run = WrittenRun("watched", epochs=5_000).begin()
    print(run.path, flush=True)
    rng = np.random.default_rng(0)
    parent = os.getppid()
    number = 0
    while os.getppid() == parent:
        number += 1
        losses = 2 * np.exp(-number / 2000) + 0.3 + rng.normal(size=BATCHES_PER_EVENT) * 0.1
        run.batches(losses.tolist(), rng.random(BATCHES_PER_EVENT).tolist())
        if number % (2 * EVENTS_PER_S) == 0:
            run._writer.write(Heartbeat(memory_bytes=10**9))
        if number % EVENTS_PER_EPOCH == 0:
            run.epoch(number // EVENTS_PER_EPOCH)
        time.sleep(1 / EVENTS_PER_S)


def watch(seconds: float) -> None:
    """Shows the run and prints what it cost."""
    from PySide6.QtCore import QTimer

    from workbench.gui.train.plots.run_plots import RunPlots
    from workbench.runs.home import data_home

    app, context, window = shown_window()
    command = [sys.executable, "-m", "tests.benchmarks.watching", "--write"]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    path = Path(writer.stdout.readline().strip())
    context.library.open()
    window.show_view("train")
    context.library.select(path)
    plots = window.findChild(RunPlots)
    redraw, costs = plots.redraw, []

    def counted() -> None:
        started = time.thread_time()
        redraw()
        costs.append(1000 * (time.thread_time() - started))

    plots.redraw = counted
    marks = []

    def mark() -> None:
        marks.append((time.perf_counter(), time.process_time(), len(costs)))
        if len(marks) == 2:
            app.exit()

    QTimer.singleShot(int(1000 * SETTLE_S), mark)
    QTimer.singleShot(int(1000 * (SETTLE_S + seconds)), mark)
    app.exec()
    writer.kill()
    writer.wait()
    (start_s, start_cpu_s, first), (end_s, end_cpu_s, last) = marks
    percent = 100 * (end_cpu_s - start_cpu_s) / (end_s - start_s)
    drawn = costs[first:last] or [0.0]
    print(f"window that follows a run  {percent:6.2f} % of one core (goal {GOAL_PERCENT})")
    print(f"drawings                   {(last - first) / (end_s - start_s):6.2f} a second")
    print(f"one without its painting   {statistics.median(drawn):6.2f} ms", flush=True)
    shutil.rmtree(data_home(), ignore_errors=True)
    # The run still trains as far as the window shows: closing it would prompt.
    os._exit(0)


def main() -> None:
    """Measures for a minute, or for as many seconds as are given."""
    if "--write" in sys.argv:
        write()
        return
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    os.environ["WORKBENCH_HOME"] = tempfile.mkdtemp(prefix="workbench-bench-")
    watch(seconds)


if __name__ == "__main__":
    main()
