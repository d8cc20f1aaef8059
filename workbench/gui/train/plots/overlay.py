"""Other runs in the same plots, each in a distinguishable color."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.runs.log.history import MetricHistory

OVERLAY_COLORS = (
    "#e0479e",
    "#9b5de5",
    "#0d9aa8",
    "#e5533d",
    "#8a7a12",
    "#64748b",
    "#b0652a",
    "#c026d3",
    "#16a34a",
    "#4d9422",
)
"""Each stands out from the panel of both themes (contrast 3:1 at least), and none is the
blue and amber of the current run. Greens are last: the dot of a completed run is green."""


def overlay_color(index: int) -> str:
    """The color "#rrggbb" of the overlay with this number, from 0; again after the last."""
    return OVERLAY_COLORS[index % len(OVERLAY_COLORS)]


@dataclass(frozen=True, eq=False)
class Overlay:
    """A run to be drawn beside the current one.

    Attributes:
        title: The run's name.
        color: As "#rrggbb", see `overlay_color`.
        history: Its events; it may still grow.
    """

    title: str
    color: str
    history: MetricHistory
