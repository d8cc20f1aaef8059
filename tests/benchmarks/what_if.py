"""What-if, warm: from the move of a slider to the bars in the window, through the real worker; and
how many positions are computed of a slider that moves all the time.
"""

from __future__ import annotations

import os
import shutil
import statistics
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from tests.benchmarks._runs import made_pictures, own_home, project_on, train
from tests.benchmarks.browsing import wait
from tests.benchmarks.classify import photo
from tests.window_parts import window_context
from workbench.gui.classify.state import ClassifyState
from workbench.gui.classify.what_if import WhatIfBench
from workbench.protocol.classify import AlteredScores
from workbench.runs.folder import RunFolder
from workbench.runs.home import data_home

ROUNDS = 40
GOAL_MS = 40
DRAG_STEPS, DRAG_S = 200, 0.004
"""Positions of a drag, and the time between two of them: as fast as a mouse reports."""


def main() -> None:
    """Prints the figures for the two published picture sizes."""
    home = own_home()
    runs = []
    for template, size, classes in (("cifar10_convnet", 32, 10), ("flowers_gap", 192, 5)):
        pictures = made_pictures(home / f"{size}.npz", size=size, num_classes=classes, count=100)
        project = project_on(template, pictures, epochs=1, batch_size=10, steps_per_epoch=1)
        runs.append((size, train(project)))
    app = QApplication([])
    with window_context(data_home()) as context:
        context.theme.apply(app)
        state = ClassifyState(context)
        bench = WhatIfBench(state)
        bench.resize(960, 240)
        bench.show()
        state.shown.connect(bench.set_entry)
        for size, run in runs:
            _measure(state, bench, run, photo(home), f"{size} x {size}")
        state.background.close()
        bench.close()
    shutil.rmtree(home, ignore_errors=True)


def _measure(
    state: ClassifyState, bench: WhatIfBench, run: RunFolder, picture: str, words: str
) -> None:
    answers: list[AlteredScores] = []
    seen: list[float] = []

    def paint(answer: AlteredScores) -> None:
        bench.bars.repaint()
        seen.append(time.perf_counter())
        answers.append(answer)

    bench.live.scored.connect(paint)
    bench.sliders.set_strengths({})
    state.set_run(run.path, words)
    state.classify([picture])
    wait(lambda: bench._entry is not None and answers)
    for key, slider in bench.sliders.sliders.items():
        times = [_moved(slider.setValue, at, seen) for at in _positions(slider)]
        median, slow = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        figures = f"median {median:.1f} ms, 95% within {slow:.1f} ms (goal {GOAL_MS} ms)"
        print(f"{words}, {key}: {figures}")
        bench.sliders.set_strengths({})
        _settle(seen)
    slider, before = bench.sliders.sliders["rotation"], len(seen)
    for step in range(1, DRAG_STEPS + 1):
        slider.setValue(step % 180)
        end = time.perf_counter() + DRAG_S
        while time.perf_counter() < end:
            QApplication.processEvents()
    _settle(seen)
    print(f"{words}, a drag of {DRAG_STEPS} positions: {len(seen) - before} computed")
    bench.live.scored.disconnect(paint)
    bench.live.forget()


def _positions(slider) -> list[int]:
    """From end to end."""
    span = slider.maximum() - slider.minimum()
    values = (slider.minimum() + round(span * part / ROUNDS) for part in range(ROUNDS + 1))
    return [value for value in dict.fromkeys(values) if value != slider.value()]


def _moved(move, value: int, seen: list[float]) -> float:
    """Milliseconds from a move to the painted bars."""
    before, began = len(seen), time.perf_counter()
    move(value)
    while len(seen) == before:
        QApplication.processEvents()
    return 1000 * (seen[before] - began)


def _settle(seen: list[float]) -> None:
    """Waits until no further answer comes."""
    count = -1
    while count != len(seen):
        count = len(seen)
        end = time.perf_counter() + 0.5
        while time.perf_counter() < end:
            QApplication.processEvents()


if __name__ == "__main__":
    main()
