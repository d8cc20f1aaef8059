"""What the figures of a sweep share: trainings, their colors, and the one that is pointed at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.trials.scale import AccuracyScale, Scale

TEXT_PX = 11
NEAR_PX = 9.0
_EMPTY = "Accuracies appear here as runs are trained."


@dataclass(frozen=True)
class Trial:
    """A training of a sweep.

    Attributes:
        number: Number of its combination of values.
        values: As typed, one for each setting that differs.
        accuracy: On the validation images, 0..1.
        is_stopped: Whether it was stopped before its end.
        words: All of it in words.
    """

    number: int
    values: tuple[str, ...]
    accuracy: float
    is_stopped: bool
    words: str


class TrialFigure(QWidget):
    """Draws trainings; the one near the mouse is described in a tooltip.

    Signals:
        chosen(int): A training was clicked: the number of its combination.
    """

    chosen = Signal(int)

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme = theme
        self.titles: tuple[str, ...] = ()
        self.trials: tuple[Trial, ...] = ()
        self.scales: tuple[Scale, ...] = ()
        self.accuracies = AccuracyScale(0.0, 1.0)
        self._marked: int | None = None
        self._near: Trial | None = None
        self._corners: dict[int, list[QPointF]] = {}  # by trial, once they are looked for
        self.setMouseTracking(True)
        self.setAccessibleName(name)
        self.setMinimumSize(260, 140)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    def set_trials(self, titles: Sequence[str], trials: Sequence[Trial]) -> None:
        """Shows these trainings; the titles are those of the settings that differ."""
        self.titles, self.trials = tuple(titles), tuple(trials)
        columns = [[trial.values[place] for trial in trials] for place in range(len(titles))]
        self.scales = tuple(map(Scale.of, columns))
        self.accuracies = AccuracyScale.of([trial.accuracy for trial in trials])
        self._near = None
        self._corners.clear()
        self.setAccessibleDescription("; ".join(trial.words for trial in trials))
        self.update()

    def set_marked(self, number: int | None) -> None:
        """Stresses the trainings of one combination."""
        self._marked = number
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(560, 260)

    # what each figure is -----------------------------------------------------------------

    def lay_out(self) -> list[list[QPointF]]:
        """The corners of what is drawn for each training, in pixels of the widget."""
        raise NotImplementedError

    def distance_px(self, points: Sequence[QPointF], point: QPointF) -> float:
        """How far a point of the widget is from a training with these corners."""
        raise NotImplementedError

    def paint(self, painter: QPainter) -> None:
        """Draws axes and trainings."""
        raise NotImplementedError

    # drawing -----------------------------------------------------------------------------

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), QColor(self._theme.colors.panel))
        painter.setFont(self._theme.font(TEXT_PX, tabular=True))
        if self.trials:
            self.paint(painter)
        else:
            painter.setPen(QColor(self._theme.colors.dim))
            painter.setFont(self._theme.font())
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, _EMPTY)
        painter.end()

    def in_order(self) -> list[Trial]:
        """The trainings as they are drawn: the best above the others, what is stressed on top."""
        return sorted(self.trials, key=lambda trial: (self.is_stressed(trial), trial.accuracy))

    def is_stressed(self, trial: Trial) -> bool:
        """Whether a training is pointed at or chosen."""
        return trial is self._near or trial.number == self._marked

    def color(self, trial: Trial) -> QColor:
        """From pale for the lowest accuracy to the accent for the highest."""
        colors = self._theme.colors
        low, high = QColor(colors.dim), QColor(colors.accent)
        part = min(1.0, max(0.0, self.accuracies.place(trial.accuracy)))
        ends = (
            (low.red(), high.red()),
            (low.green(), high.green()),
            (low.blue(), high.blue()),
        )
        color = QColor(*(round(start + (end - start) * part) for start, end in ends))
        if not self.is_stressed(trial):
            color.setAlphaF(0.5 + 0.5 * part)
        return color

    def write(self, painter: QPainter, place: QRectF, side: Qt.AlignmentFlag, text: str) -> None:
        """Writes dim words, shortened to their place."""
        painter.setPen(QColor(self._theme.colors.dim))
        metrics = painter.fontMetrics()
        short = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, int(place.width()))
        painter.drawText(place, side | Qt.AlignmentFlag.AlignVCenter, short)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._corners.clear()

    def points(self, trial: Trial) -> list[QPointF]:
        """The corners of what is drawn for a training that is shown."""
        if not self._corners:
            found = zip(self.trials, self.lay_out(), strict=True)
            self._corners = {id(each): points for each, points in found}
        return self._corners[id(trial)]

    # the mouse ---------------------------------------------------------------------------

    def trial_at(self, point: QPointF) -> Trial | None:
        """The training near a point of the widget."""
        apart = [self.distance_px(self.points(trial), point) for trial in self.trials]
        nearest = min(range(len(apart)), key=apart.__getitem__, default=None)
        is_near = nearest is not None and apart[nearest] <= NEAR_PX
        return self.trials[nearest] if nearest is not None and is_near else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        near = self.trial_at(event.position())
        if near is not self._near:
            self._near = near
            self.update()
        words = plain_tip(near.words) if near is not None else ""
        QToolTip.showText(event.globalPosition().toPoint(), words, self)
        hand, arrow = Qt.CursorShape.PointingHandCursor, Qt.CursorShape.ArrowCursor
        self.setCursor(arrow if near is None else hand)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        near = self.trial_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and near is not None:
            self.chosen.emit(near.number)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._near = None
        self.update()
