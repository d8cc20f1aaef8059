"""A plot as a file: PNG and SVG as it looks, CSV with every value."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QBuffer, QIODevice, QPoint, QRect, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from workbench.core.storage.save import save_bytes
from workbench.curves import CurveSpec
from workbench.errors import SaveError
from workbench.gui.plots.x_scale import XScale
from workbench.runs.log.columns import Column
from workbench.runs.log.series import Series, epoch_at

PNG_SCALE = 2.0


def png_bytes(widget: QWidget) -> bytes:
    """The widget as a PNG image, two pixels for each of its own."""
    image = QImage(widget.size() * PNG_SCALE, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(PNG_SCALE)
    image.fill(widget.palette().window().color())
    widget.render(image)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, "PNG"):  # type: ignore[call-overload]  # the stub lacks QIODevice
        raise SaveError("The plot could not be drawn into the file.", fix="Try a smaller window.")
    return bytes(buffer.data().data())


def svg_bytes(widget: QWidget, title: str) -> bytes:
    """The widget as an SVG drawing (pyqtgraph's own writer fails on Qt 6.11)."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QSvgGenerator()
    writer.setOutputDevice(buffer)
    writer.setSize(QSize(widget.size()))
    writer.setViewBox(QRect(0, 0, widget.width(), widget.height()))
    writer.setResolution(96)  # of CSS, per inch
    writer.setTitle(title)
    painter = QPainter(writer)
    widget.render(painter, QPoint())
    painter.end()
    return bytes(buffer.data().data())


@dataclass(frozen=True)
class RunTable:
    """A run as it goes into a table.

    Attributes:
        title: Its name; written when there are several runs.
        series: The curve.
        scale: Has the images and the seconds of its steps.
    """

    title: str
    series: Series
    scale: XScale


def csv_text(curve: CurveSpec, runs: Sequence[RunTable]) -> str:
    """Every batch and every epoch of the runs, one after another.

    A row for each step; the values of epochs are at their last steps. Values that are not
    finite or not known stay empty. Numbers are written so that they read back the same.

    Args:
        curve: What is plotted; a plain one has no values of epochs.
        runs: What is shown. With more than one a first column names the run.
    """
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    key, is_plain = curve.key, curve.is_plain
    values = [key] if is_plain else [f"train_{key}", f"train_{key}_mean", f"validation_{key}"]
    names = ["run"] if len(runs) > 1 else []
    rows.writerow([*names, "step", "epoch", "images", "seconds", *values])
    for run in runs:
        start = [run.title] if names else []
        rows.writerows([*start, *row] for row in _rows(run, is_plain=is_plain))
    return out.getvalue()


def _rows(run: RunTable, *, is_plain: bool) -> Iterator[list[object]]:
    series = run.series
    ends = {} if is_plain else {int(step): i for i, step in enumerate(series.epoch_steps)}
    epochs = np.searchsorted(series.epoch_steps, series.steps).tolist()
    columns = (series.steps.tolist(), epochs, *_places(run, series.steps))
    for value, (step, index, images, seconds) in zip(
        series.values, zip(*columns, strict=True), strict=True
    ):
        start = [int(step), epoch_at(series, index), images, seconds, _cell(value)]
        yield start if is_plain else [*start, *_means(series, ends.pop(int(step), None))]
    images_of, seconds_of = _places(run, np.array(list(ends), dtype=np.int64))
    for (step, index), images, seconds in zip(ends.items(), images_of, seconds_of, strict=True):
        yield [step, epoch_at(series, index), images, seconds, "", *_means(series, index)]


def _places(run: RunTable, steps: Column) -> tuple[list[object], list[object]]:
    """Images seen and seconds trained at some steps; "" where they are not known."""
    images: list[object] = [""] * len(steps)
    seconds, scale = images, replace(run.scale, is_log=False)
    if scale.batch_size:
        images = [int(v) for v in replace(scale, kind="images").values(steps)]
    if len(scale.timed_steps):
        seconds = [round(float(v), 3) for v in replace(scale, kind="time").values(steps)]
    return images, seconds


def _means(series: Series, index: int | None) -> tuple[str, str]:
    if index is None:
        return "", ""
    return _cell(series.epoch_train[index]), _cell(series.epoch_validation[index])


def _cell(value: Any) -> str:
    """The shortest text that reads back as this number of its own type."""
    return str(value) if np.isfinite(value) else ""


def plot_file(
    path: Path, widget: QWidget, curve: CurveSpec, runs: Sequence[RunTable]
) -> Callable[[], None]:
    """Draws the plot now, in this thread; what is returned writes the file, in any thread.

    A table is made there too: a long run has millions of numbers. The file's ending names
    the format. The returned function raises SaveError when the file cannot be written.

    Raises:
        SaveError: the ending is none of .png, .svg, .csv, or the plot cannot be drawn.
    """
    ending = path.suffix.lower()
    if ending == ".png":
        picture = png_bytes(widget)
        return lambda: save_bytes(path, picture)
    if ending == ".svg":
        drawing = svg_bytes(widget, curve.title)
        return lambda: save_bytes(path, drawing)
    if ending == ".csv":
        return lambda: save_bytes(path, csv_text(curve, runs).encode())
    raise SaveError(
        "Unknown file extension for a plot.",
        where=str(path),
        received=ending or "no extension",
        expected=".png, .svg or .csv",
        fix="Use one of these extensions.",
    )
