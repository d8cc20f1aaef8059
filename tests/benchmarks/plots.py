"""How long a redraw of the live plots takes. `python -m tests.benchmarks.plots` prints it.

Times are those of this process's CPU: the machine may be shared with others. One redraw
takes in new data, finds what the pixels can show, and paints.
"""

from __future__ import annotations

import os
import statistics
import time

import numpy as np

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from workbench.gui.kit.theme import Theme
from workbench.gui.plots.axes import PlotAxes
from workbench.gui.plots.curve import LiveCurve
from workbench.gui.train.plots.overlay import Overlay, overlay_color
from workbench.gui.train.plots.plot_pair import PlotPair
from workbench.protocol.events import Batch
from workbench.runs.log.history import MetricHistory

REPEATS = 40
SIZE_PX = (900, 500)


def _median_ms(work) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(1000 * (time.process_time() - start))
    return statistics.median(times)


def curves(theme: Theme, num_curves: int, num_points: int, width: float = 1.0) -> float:
    """Milliseconds to add points to all curves and repaint them."""
    axes = PlotAxes(theme)
    axes.resize(*SIZE_PX)
    axes.show()
    QApplication.processEvents()
    rng = np.random.default_rng(7)
    x = np.arange(num_points + REPEATS + 1)
    ys = [np.cumsum(rng.normal(size=len(x))) for _ in range(num_curves)]
    lines = [
        LiveCurve(axes.plot_item, color=QColor.fromHsv(36 * i, 200, 200), width=width)
        for i in range(num_curves)
    ]
    count = num_points

    def work() -> None:
        nonlocal count
        count += 1
        span = (0.0, float(count))
        axes.set_x_range(span)
        bounds = []
        for line, y in zip(lines, ys, strict=True):
            line.set_data(x[:count], y[:count])
            bounds.append(line.draw(span, axes.columns()))
        axes.set_y_range((min(b[0] for b in bounds), max(b[1] for b in bounds)))
        axes.grab()

    work()
    taken = _median_ms(work)
    axes.close()
    return taken


def pair(theme: Theme, num_batches: int, *, num_overlays: int = 0) -> float:
    """Milliseconds of one live redraw of both plots after one more batch.

    Args:
        theme: Colours.
        num_batches: Length of the run, and of each beside it.
        num_overlays: How many runs are drawn beside it.
    """
    rng = np.random.default_rng(7)
    history, *others = (_history(rng, num_batches) for _ in range(1 + num_overlays))
    plots = PlotPair(theme)
    plots.resize(1000, 420)
    plots.set_history(history)
    plots.set_overlays(
        [Overlay(f"run {i}", overlay_color(i), other) for i, other in enumerate(others)]
    )
    plots.show()
    QApplication.processEvents()
    plots.redraw()

    def work() -> None:
        history.add(_batch(len(history.steps) + 1, [0.5]))
        plots.redraw()
        QApplication.processEvents()

    work()
    taken = _median_ms(work)
    plots.close()
    return taken


def _history(rng: np.random.Generator, num_batches: int) -> MetricHistory:
    history = MetricHistory()
    values = rng.random(1000).tolist()
    history.add_all(_batch(first, values) for first in range(1, num_batches + 1, 1000))
    return history


def _batch(first: int, values: list[float]) -> Batch:
    return Batch(
        epoch=1,
        step=first + len(values) - 1,
        first_step=first,
        loss=values[-1],
        accuracy=values[-1],
        losses=values,
        accuracies=values,
        images_per_second=1.0,
    )


def main() -> None:
    """Prints one line a case."""
    app = QApplication.instance() or QApplication([])
    theme = Theme("dark")
    theme.apply(app)
    print(f"10 curves x 10,000 points        {curves(theme, 10, 10_000):6.1f} ms (goal 8)")
    print(f"1 curve x 1,000,000 points       {curves(theme, 1, 1_000_000):6.1f} ms (goal 12)")
    print(f"1 thick curve x 1,000,000 points {curves(theme, 1, 1_000_000, 2.0):6.1f} ms")
    print(f"both live plots, 2,000 batches     {pair(theme, 2_000):6.1f} ms (goal 10)")
    print(f"both live plots, 1,000,000 batches {pair(theme, 1_000_000):6.1f} ms")
    with_others = pair(theme, 100_000, num_overlays=9)
    print(f"both live plots, 10 runs x 100,000 {with_others:6.1f} ms")


if __name__ == "__main__":
    main()
