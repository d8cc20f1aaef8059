"""Duration of a redraw of the live plots. `python -m tests.benchmarks.plots` prints it.

Times are those of this process's CPU: the machine may be shared with others. One redraw
adds new data, finds what the pixels can show, and paints. Beside each is the time with
pyqtgraph's own downsampling in the place of ours.
"""

from __future__ import annotations

import os
import statistics
import time

import numpy as np

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from tests.benchmarks._pyqtgraph_curve import PyqtgraphCurve
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.axes import PlotAxes
from workbench.gui.plots.curve import LiveCurve
from workbench.gui.train.plots import live_plot
from workbench.gui.train.plots.legend import Overlay, overlay_color
from workbench.gui.train.plots.run_plots import RunPlots
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


Line = type[LiveCurve] | type[PyqtgraphCurve]
LINES: tuple[Line, ...] = (LiveCurve, PyqtgraphCurve)


def curves(line: Line, theme: Theme, num_curves: int, num_points: int, width: float = 1.0) -> float:
    """Milliseconds to add points to all curves and repaint them."""
    axes = PlotAxes(theme)
    axes.resize(*SIZE_PX)
    axes.show()
    QApplication.processEvents()
    rng = np.random.default_rng(7)
    x = np.arange(num_points + REPEATS + 1)
    ys = [np.cumsum(rng.normal(size=len(x))) for _ in range(num_curves)]
    lines = [
        line(axes.plot_item, color=QColor.fromHsv(36 * i, 200, 200), width=width)
        for i in range(num_curves)
    ]
    count = num_points

    def work() -> None:
        nonlocal count
        count += 1
        span = (0.0, float(count))
        axes.set_x_range(span)
        bounds = []
        for each, y in zip(lines, ys, strict=True):
            each.set_data(x[:count], y[:count])
            bounds.append(each.draw(span, axes.columns()))
        axes.set_y_range((min(b[0] for b in bounds), max(b[1] for b in bounds)))
        axes.grab()

    work()
    taken = _median_ms(work)
    axes.close()
    return taken


def share_drawn(line: Line, theme: Theme) -> float:
    """How much of a curve of a million values is drawn, of which one in a thousand is NaN."""
    axes = PlotAxes(theme)
    axes.resize(*SIZE_PX)
    axes.show()
    QApplication.processEvents()
    values = np.random.default_rng(7).random(1_000_000)
    values[::1000] = np.nan
    axes.set_x_range((0.0, float(len(values))))
    drawn = line(axes.plot_item, color=QColor("red"))
    drawn.set_data(np.arange(len(values)), values)
    drawn.draw(axes.x_range(), axes.columns())
    _, y = drawn.item.getData()
    axes.close()
    return float(np.isfinite(y).mean())


def pair(
    line: Line, theme: Theme, num_batches: int, *, num_overlays: int = 0, x_axis: str = "step"
) -> float:
    """Milliseconds of one live redraw of both plots after one more batch.

    Args:
        line: What draws a line.
        theme: Colors.
        num_batches: Length of the run, and of each beside it.
        num_overlays: How many runs are drawn beside it.
        x_axis: What the x axis shows.
    """
    live_plot.LiveCurve = line
    rng = np.random.default_rng(7)
    history, *others = (_history(rng, num_batches) for _ in range(1 + num_overlays))
    plots = RunPlots(theme)
    plots.resize(1000, 420)
    plots.choices.axes[x_axis].trigger()
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
        time=1e9 + 0.01 * first,
    )


def main() -> None:
    """Prints one line a case."""
    app = QApplication.instance() or QApplication([])
    theme = Theme("dark")
    theme.apply(app)
    for words, work in (
        ("10 curves x 10,000 points (goal 8)", lambda line: curves(line, theme, 10, 10_000)),
        ("1 curve x 1,000,000 points (goal 12)", lambda line: curves(line, theme, 1, 1_000_000)),
        (
            "1 thick curve x 1,000,000 points",
            lambda line: curves(line, theme, 1, 1_000_000, 2.0),
        ),
        ("both live plots, 2,000 batches (goal 10)", lambda line: pair(line, theme, 2_000)),
        ("both live plots, 1,000,000 batches", lambda line: pair(line, theme, 1_000_000)),
        (
            "the same, by time trained",
            lambda line: pair(line, theme, 1_000_000, x_axis="time"),
        ),
        (
            "both live plots, 10 runs x 100,000",
            lambda line: pair(line, theme, 100_000, num_overlays=9),
        ),
    ):
        ours, theirs = (work(line) for line in LINES)
        print(f"{words:42}{ours:6.1f} ms, pyqtgraph's own {theirs:6.1f} ms")
    ours, theirs = (share_drawn(line, theme) for line in LINES)
    print(f"drawn, with a NaN in a thousand values   {ours:6.0%},    pyqtgraph's own {theirs:6.0%}")


if __name__ == "__main__":
    main()
