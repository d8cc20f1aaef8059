"""Both plots of the learning-rate finder, one above the other, with the same rates."""

from __future__ import annotations

import math

from PySide6.QtWidgets import QWidget

from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import column
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.sweep_plot import LearningRatePlot
from workbench.gui.plots.trial_plot import TrialPlot, TrialPoint
from workbench.protocol.find import LearningRateFound, LearningRateTrial, LearningRateTried


class RatePlots(QWidget):
    """Loss while the rate rises, and accuracy after short trainings.

    Args:
        theme: Colors.
        lowest, highest: Ends of both axes.
    """

    def __init__(self, theme: Theme, lowest: float, highest: float) -> None:
        super().__init__()
        self._rates: list[float] = []
        self._losses: list[float | None] = []
        self._points: list[TrialPoint] = []
        self.sweep = LearningRatePlot(theme, lowest, highest)
        self.trials = TrialPlot(theme)
        self.trials.set_x_range((math.log10(lowest), math.log10(highest)))
        above = plain_label("Loss while the learning rate rises", role="dim")
        self.lengths = plain_label("", role="dim")
        column(above, (self.sweep, 1), self.lengths, (self.trials, 1), parent=self, spacing=4)
        self.clear()

    def clear(self) -> None:
        """Empties both plots: nothing is tried yet."""
        self._rates, self._losses, self._points = [], [], []
        self.sweep.set_result([], [], None)
        self.sweep.show_empty("First losses once the model is built")
        self.trials.set_points([])
        self.trials.show_empty("First accuracy once the loss has risen")
        self.lengths.setText("Accuracy after short trainings")

    def take_tried(self, answer: LearningRateTried) -> None:
        """Adds steps of the rising rate to the sweep's plot."""
        self.sweep.show_empty("")
        self._rates += answer.rates
        self._losses += answer.losses
        self.sweep.set_result(self._rates, self._losses, None)

    def take_trial(self, answer: LearningRateTrial) -> None:
        """Adds one learning-rate trial to the scatter plot."""
        self._points.append(TrialPoint(answer.rate, answer.steps, answer.accuracy))
        self.trials.show_empty("")
        self.trials.set_points(self._points)
        steps = sorted({point.steps for point in self._points})
        lines = zip(steps, ("gray", "blue"), strict=False)
        names = [f"{length:,} steps ({color})" for length, color in lines]
        self.lengths.setText("Accuracy after " + " and ".join(names))

    def take_found(self, answer: LearningRateFound) -> None:
        """Marks the suggested rate at the end."""
        self.sweep.set_result(self._rates, self._losses, answer.suggested)
        self.trials.set_points(self._points, answer.suggested, answer.good)
