"""Do two places train alike? The first steps on both, their losses, and a verdict in words."""

from __future__ import annotations

import time

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from workbench.checkup.parity import ParityReport, agreement_of, history_of, train_pair
from workbench.core.params import IntParam
from workbench.core.projects.project import Choice, Project
from workbench.errors import ParamError, WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.forms.number_field import NumberField
from workbench.gui.kit.buttons import ElidedComboBox, button
from workbench.gui.kit.dialogs import DialogHead, WorkingDialog
from workbench.gui.kit.labels import Role, plain_label, set_role
from workbench.gui.kit.layout import STRETCH, row
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.axes import PlotAxes
from workbench.remote.ssh.saved_hosts import label_of, target_choices
from workbench.runs.environment import refuse_unready
from workbench.runs.folder import RunFolder
from workbench.runs.log.event_log import EventReader
from workbench.runs.log.history import MetricHistory

MAX_STEPS = 10_000
_STEPS = IntParam("steps", 50, "Steps to train on each.", maximum=MAX_STEPS, unit="steps")
_POLL_S = 0.1
_NOTHING_YET = "The loss curves of both targets appear here."
_EXPLANATION = (
    "Trains the same first steps on both targets, with the same initial weights and "
    "images. Differences appear here before a long training."
)
_ROLES: dict[str, Role] = {"agree": "good", "explained": "warning", "differ": "bad"}

Curves = tuple[np.ndarray, np.ndarray]
"""The losses of both, a step each."""


class LossPair(PlotAxes):
    """The loss of two runs by step."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.setAccessibleName("Loss by step on both targets")
        self.setMinimumSize(240, 160)
        self._lines = [pg.PlotCurveItem(antialias=True, connect="finite") for _ in range(2)]
        for item in self._lines:
            item.setZValue(10)
            self.plot_item.addItem(item, ignoreBounds=True)
        self.set_x_kind("step", "step", is_log=False)
        self.box.setMouseEnabled(x=False, y=False)
        self._losses: Curves = (np.empty(0), np.empty(0))
        theme.changed.connect(self._draw)
        self._draw()

    def set_losses(self, losses: Curves) -> None:
        """Shows the losses of both from step 1 on."""
        self._losses = losses
        self._draw()

    def _draw(self) -> None:
        colors = self._theme.colors
        styles = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine)
        for item, losses, color, style in zip(
            self._lines, self._losses, (colors.train, colors.validation), styles, strict=True
        ):
            item.setPen(pg.mkPen(QColor(color), width=2.0, style=style))
            item.setData(np.arange(1, len(losses) + 1, dtype=np.float64), losses)
        together = np.concatenate(self._losses)
        finite = together[np.isfinite(together)]
        self.show_empty("" if len(finite) else _NOTHING_YET)
        if len(finite):
            low, high = float(finite.min()), float(finite.max())
            self.set_x_range((1.0, float(max(2, *(len(losses) for losses in self._losses)))))
            self.set_y_range((low, max(high, low + 1e-6)))


class LossWatch:
    """The losses of two runs while they are trained, one after another."""

    def __init__(self) -> None:
        self._histories: list[MetricHistory] = []
        self._reader: EventReader | None = None

    def follow(self, run: RunFolder) -> None:
        """Follows the next run, which begins."""
        self.read_new()  # the last steps of the one before
        self._histories.append(MetricHistory())
        self._reader = EventReader(run.events_path)

    def read_new(self) -> Curves | None:
        """The losses so far; None when nothing was logged since the last call."""
        events = self._reader.read_new() if self._reader is not None else []
        if not events:
            return None
        self._histories[-1].add_all(events)
        first, second = [*(np.array(h.losses) for h in self._histories), np.empty(0)][:2]
        return first, second


class ParityDialog(WorkingDialog):
    """Two places, a number of steps, and the answer.

    Signals:
        losses_grew: Curves, while the two are trained; comes from another thread.
    """

    losses_grew = Signal(object)

    def __init__(self, context: WindowContext, parent: QWidget | None = None) -> None:
        super().__init__("Compare two targets", QSize(680, 620), parent)
        self._context = context
        self.left, self.right = ElidedComboBox(), ElidedComboBox()
        self.left.setAccessibleName("First target")
        self.right.setAccessibleName("Second target")
        self.steps = NumberField(_STEPS)
        self.steps.setAccessibleName("Steps to train")
        self.plot = LossPair(context.theme)
        self.legend = plain_label(role="dim")
        self.words = plain_label(role="strong", wrap=True)
        self.start = button("Compare", role="primary")
        self._fill()
        self.head = DialogHead("Do both targets train identically?", _EXPLANATION, "tpu")
        self._build()
        self.start.clicked.connect(self._on_start)
        self.losses_grew.connect(self.plot.set_losses)

    def _fill(self) -> None:
        project = self._context.document.project
        groups = target_choices(self._context.targets, project.target)
        choices = [choice for group in groups for choice, _words in group]
        for combo in (self.left, self.right):
            for choice in choices:
                combo.addItem(label_of(choice), choice)
        own = next((i for i, c in enumerate(choices) if c.key == project.target.key), 0)
        self.right.setCurrentIndex(own or min(1, len(choices) - 1))

    def _build(self) -> None:
        both = plain_label("and", role="dim")
        self.lay_out(
            self.head,
            row((self.left, 1), both, (self.right, 1), self.steps, spacing=8),
            (self.plot, 1),
            self.legend,
            self.words,
            self.status,
            row(STRETCH, self.start, self.stop, spacing=8),
        )
        self.start.setFocus()

    def refresh(self) -> None:
        super().refresh()
        for part in (self.left, self.right, self.steps, self.start):
            part.setEnabled(not self._background.is_busy)

    # the comparison ------------------------------------------------------------------

    def _on_start(self) -> None:
        try:
            steps = self.steps.checked()
        except ParamError as error:
            self.status.say(f"Steps: enter {error.expected}.", is_bad=True)
            return
        project = self._context.document.project
        targets = (self.left.currentData(), self.right.currentData())
        self.words.setText("")
        self.plot.set_losses((np.empty(0), np.empty(0)))
        names = (self.left.currentText(), self.right.currentText())
        self.legend.setText(f"solid: {names[0]} · dashed: {names[1]}")
        self.run(lambda: self._compare(project, targets, steps), self._show, "Starting")

    def _compare(
        self, project: Project, targets: tuple[Choice, Choice], steps: int
    ) -> tuple[ParityReport, Curves]:
        for target in targets:
            refuse_unready(target)
        watch = LossWatch()
        pair = train_pair(
            project,
            targets,
            steps,
            on_progress=self.progressed.emit,
            on_run=watch.follow,
            wait=lambda: self._wait(watch),
        )
        return agreement_of(pair), (history_of(pair[0]).losses, history_of(pair[1]).losses)

    def _wait(self, watch: LossWatch) -> None:
        self.check()
        losses = watch.read_new()
        if losses is not None:
            self.losses_grew.emit(losses)
        time.sleep(_POLL_S)

    def _show(self, found: tuple[ParityReport, Curves]) -> None:
        agreement, losses = found
        self.plot.set_losses(losses)
        self.words.setText(agreement.words)
        set_role(self.words, _ROLES[agreement.verdict])

    def show_failure(self, error: WorkbenchError) -> None:
        self.status.say("")
        self.words.setText(str(error))
        set_role(self.words, "bad")
