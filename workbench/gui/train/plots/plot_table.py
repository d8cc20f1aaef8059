"""The values of a plot as a CSV table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.core.outside_text import csv_cells
from workbench.curves import CurveSpec
from workbench.gui.plots.scaling import XScale
from workbench.runs.log.curve_columns import Column, Series, epoch_at


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
    key, is_plain = curve.key, curve.is_plain
    values = [key] if is_plain else [f"train_{key}", f"train_{key}_mean", f"validation_{key}"]
    names = ["run"] if len(runs) > 1 else []
    lines = [csv_cells([*names, "step", "epoch", "images", "seconds", *values])]
    for run in runs:
        start = [run.title] if names else []
        lines += [csv_cells([*start, *row]) for row in _rows(run, is_plain=is_plain)]
    return "".join(f"{line}\n" for line in lines)


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


def _means(series: Series, index: int | None) -> tuple[float | str, float | str]:
    if index is None:
        return "", ""
    return _cell(series.epoch_train[index]), _cell(series.epoch_validation[index])


def _cell(value: Any) -> float | str:
    """The number with the shortest text that reads back as this one of its own type; "" for none:
    a text with a minus would be taken for a formula.
    """
    return float(str(value)) if np.isfinite(value) else ""
