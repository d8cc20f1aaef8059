"""A plot as a file: PNG and SVG as it looks, CSV with every value."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
from PySide6.QtCore import QBuffer, QIODevice, QPoint, QRect, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from workbench.core.save import save_bytes
from workbench.errors import SaveError
from workbench.gui.plots.series import Series

PNG_SCALE = 2.0
CSS_DPI = 96


def png_bytes(widget: QWidget, scale: float = PNG_SCALE) -> bytes:
    """The widget as a PNG picture, `scale` pixels for each of its own."""
    image = QImage(widget.size() * scale, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(scale)
    image.fill(widget.palette().window().color())
    widget.render(image)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, "PNG"):  # type: ignore[call-overload]  # the stub lacks QIODevice
        raise SaveError("The picture of the plot could not be made.", fix="Try a smaller window.")
    return bytes(buffer.data().data())


def svg_bytes(widget: QWidget, title: str) -> bytes:
    """The widget as an SVG drawing (pyqtgraph's own writer fails on Qt 6.11)."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QSvgGenerator()
    writer.setOutputDevice(buffer)
    writer.setSize(QSize(widget.size()))
    writer.setViewBox(QRect(0, 0, widget.width(), widget.height()))
    writer.setResolution(CSS_DPI)
    writer.setTitle(title)
    painter = QPainter(writer)
    widget.render(painter, QPoint())
    painter.end()
    return bytes(buffer.data().data())


def csv_text(name: str, series: Series) -> str:
    """Every batch and every epoch: step, epoch, train, epoch mean, validation.

    A row for each step; the last two columns are filled at the ends of epochs. Values that
    are not finite stay empty. Numbers are written so that they read back the same.
    """
    ends = {int(step): i for i, step in enumerate(series.epoch_steps)}
    epoch_of = np.searchsorted(series.epoch_steps, series.steps)
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["step", "epoch", f"train_{name}", f"train_{name}_mean", f"validation_{name}"])
    for step, value, index in zip(
        series.steps.tolist(), series.values.tolist(), epoch_of.tolist(), strict=True
    ):
        ended = ends.pop(int(step), None)
        rows.writerow([int(step), _epoch(series, index), _cell(value), *_means(series, ended)])
    for step, index in ends.items():
        rows.writerow([step, _epoch(series, index), "", *_means(series, index)])
    return out.getvalue()


def _epoch(series: Series, index: int) -> int:
    if index < len(series.epochs):
        return int(series.epochs[index])
    return int(series.epochs[-1]) + 1 if len(series.epochs) else 1


def _means(series: Series, index: int | None) -> tuple[str, str]:
    if index is None:
        return "", ""
    return _cell(float(series.epoch_train[index])), _cell(float(series.epoch_validation[index]))


def _cell(value: float) -> str:
    return repr(value) if np.isfinite(value) else ""


def save_plot(path: Path, widget: QWidget, title: str, series: Series) -> None:
    """Writes the format that the file's ending names.

    Raises:
        SaveError: the ending is none of .png, .svg, .csv, or the file cannot be written.
    """
    ending = path.suffix.lower()
    if ending == ".png":
        save_bytes(path, png_bytes(widget))
    elif ending == ".svg":
        save_bytes(path, svg_bytes(widget, title))
    elif ending == ".csv":
        save_bytes(path, csv_text(title.lower(), series).encode())
    else:
        raise SaveError(
            "A plot cannot be saved in this format.",
            where=str(path),
            received=ending or "no ending",
            expected=".png, .svg or .csv",
            fix="Give the file one of these endings.",
        )
