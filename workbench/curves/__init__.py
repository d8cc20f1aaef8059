"""The curves of a training, one file each: SPEC. Found by walking this folder. Qt-free.

A spec takes its values from the events of a run's log. Plots, columns of tables and TensorBoard's
tags follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from workbench.core.registry import Registry
from workbench.protocol.events import Batch, EpochFinished

OfEpoch = Callable[[EpochFinished], float | None]


@dataclass(frozen=True, kw_only=True)
class CurveSpec:
    """One value of a training over its steps: columns of tables, tags of TensorBoard, a plot.

    The functions take an event of the run's log; None is "not finite", and "not measured"
    where `is_optional`.

    Attributes:
        key: Name of the file and of the columns.
        title: Heading of the plot, e.g. "Learning rate".
        order: Lower comes first, in the plots and in tables.
        unit: Behind a value; "" for a plain number.
        text: A finite value in words, without the unit; None for four decimals.
        is_share: Values of 0..1, written as percentages on screen.
        steps: A value for each step of a Batch event, from `first_step` to `step`.
        batch: One value for all steps of a Batch event; where there is no `steps`.
        epoch: The value of an epoch on the training images.
        validation: The value of an epoch on the validation images.
        validation_key: Column of `validation`; "" for "val_" and the key.
        is_optional: Whether None is "not measured".
        place: Where its plot is: in the "row" of plots; "below" it, once chosen in the
            menu of a plot; or "nowhere".
        batch_tag: TensorBoard's tag of the value at a Batch event; "" writes none.
        epoch_tag: TensorBoard's tag of the values of an epoch; "" writes none.
    """

    key: str
    title: str
    order: int
    unit: str = ""
    text: Callable[[float], str] | None = None
    is_share: bool = False
    steps: Callable[[Batch], Sequence[float | None]] | None = None
    batch: Callable[[Batch], float | None] | None = None
    epoch: OfEpoch | None = None
    validation: OfEpoch | None = None
    validation_key: str = ""
    is_optional: bool = False
    place: Literal["row", "below", "nowhere"] = "below"
    batch_tag: str = ""
    epoch_tag: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether its plot is one line: neither smoothed nor by epoch."""
        return self.steps is None

    @property
    def validation_column(self) -> str:
        """The column of `validation` in a table of epochs."""
        return self.validation_key or f"val_{self.key}"


@cache
def all_curves() -> Registry[CurveSpec]:
    """Every curve by key, in the order of plots and tables."""
    return Registry.from_package("workbench.curves", CurveSpec)
