"""Accuracy on slices of the evaluated images: a figure, a table, and the images of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from workbench.core.evaluation.significance import FEW, Slice
from workbench.core.format import count, plural, share
from workbench.gui.common.figure_saver import FigureSaver, SaveFigureButton, figure_file
from workbench.gui.evaluate.scored import Chosen, ImagesOfRun
from workbench.gui.evaluate.state import EvaluateState
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import PaintedWidget, TitledBox
from workbench.gui.tables import Cell, Column, NumberTable
from workbench.protocol.trained.evaluate import SliceBy
from workbench.runs.export.tables import slices_csv
from workbench.runs.log.texts import set_words
from workbench.runs.store.image_scores import SLICE_TITLES, slices_of, why_not

# slices plot ---------------------------------------------------------------------------------
# Accuracy of slices with their intervals, beside the accuracy of all images.

MOST_ROWS = 8
"""The worst ones: the table below has all."""

_ROW_PX, _TOP_PX, _BOTTOM_PX, _RIGHT_PX = 20, 26, 22, 22
_NAME_SHARE = 0.3  # of the width, at most
_NAME_GAP_PX = 10
_SLACK_PX = 6  # figures of one width are wider than they are measured
_DOT_PX = 3.5
_SHARES = (0.0, 0.5, 1.0)


class SlicesPlot(PaintedWidget):
    """A row for each slice: a dot at its accuracy, a line over its 95% interval; dashed, the
    accuracy of all images. Slices with few images are faint.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, QSize(360, _height(MOST_ROWS)), least_px=240)
        self._title = ""
        self._slices: list[Slice] = []
        self._overall: float | None = None

    def set_slices(self, title: str, slices: Sequence[Slice], overall: float | None) -> None:
        """Shows the first of these slices, under a title; the accuracy of all images, 0..1."""
        self._title, self._slices, self._overall = title, list(slices[:MOST_ROWS]), overall
        self._hint = QSize(360, _height(len(self._slices)))
        self.setAccessibleName(title)
        self.setAccessibleDescription(
            "; ".join(
                f"{each.name}: {share(each.accuracy)} of {plural(each.count, 'image')}"
                for each in self._slices
            )
        )
        self.updateGeometry()
        self.update()

    def paint(self, painter: QPainter) -> None:
        painter.setFont(self._theme.font(12, weight=600))
        painter.setPen(QColor(self._theme.colors.text))
        middle = Qt.AlignmentFlag.AlignVCenter
        title = self._elided(painter, self._title, self.width())
        painter.drawText(QRectF(0, 0, self.width(), 18), middle, title)
        painter.setFont(self._theme.font(11, tabular=True))
        widths = [painter.fontMetrics().horizontalAdvance(each.name) for each in self._slices]
        room = int(min(max(widths, default=0) + _SLACK_PX, _NAME_SHARE * self.width()))
        left = room + _NAME_GAP_PX
        area = QRectF(self.rect()).adjusted(left, _TOP_PX, -_RIGHT_PX, -_BOTTOM_PX)
        self._paint_axis(painter, area)
        for at, each in enumerate(self._slices):
            y = area.top() + (at + 0.5) * _ROW_PX
            painter.setPen(QColor(self._theme.colors.text))
            place = QRectF(0, y - _ROW_PX / 2, room, _ROW_PX)
            name = self._elided(painter, each.name, room)
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | middle, name)
            self._paint_slice(painter, area, y, each)

    def _elided(self, painter: QPainter, text: str, room_px: int) -> str:
        mode = Qt.TextElideMode.ElideMiddle
        return painter.fontMetrics().elidedText(text, mode, room_px)

    def _paint_axis(self, painter: QPainter, area: QRectF) -> None:
        colors = self._theme.colors
        for value in _SHARES:
            x = _x(area, value)
            painter.setPen(QPen(QColor(colors.line), 1))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            painter.setPen(QColor(colors.dim))
            place = QRectF(x - 30, area.bottom() + 4, 60, 16)
            painter.drawText(place, Qt.AlignmentFlag.AlignHCenter, share(value, 0))
        if self._overall is not None:
            x = _x(area, self._overall)
            painter.setPen(QPen(QColor(colors.dim), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))

    def _paint_slice(self, painter: QPainter, area: QRectF, y: float, each: Slice) -> None:
        colors = self._theme.colors
        color = QColor(colors.faint if each.has_few else colors.accent)
        low, high = each.interval
        painter.setPen(QPen(color, 2))
        painter.drawLine(QPointF(_x(area, low), y), QPointF(_x(area, high), y))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(QPointF(_x(area, each.accuracy), y), _DOT_PX, _DOT_PX)


def _height(rows: int) -> int:
    return _TOP_PX + rows * _ROW_PX + _BOTTOM_PX


def _x(area: QRectF, value: float) -> float:
    return area.left() + value * area.width()


# slices --------------------------------------------------------------------------------------

COLUMNS = (
    Column("Slice"),
    Column("Accuracy", 76, "Images of the slice that are classified right"),
    Column("95% interval", 116, "Of the accuracy, by Wilson: it is wide where images are few"),
    Column("Images", 78, f"Below {FEW} are marked as few"),
)
_HINT = "Click a row to see its images."
_NOT_KEPT = "Evaluate again to see the slices: no prediction was kept of the images."
_READING = "The images are being read."


class SlicesPanel(TitledBox):
    """The slices as `slices_of` sorts them; `by` chooses what the images of one have in common."""

    def __init__(self, state: EvaluateState) -> None:
        super().__init__("Slices")
        theme = state.context.theme
        self._state = state
        self._found: ImagesOfRun | None = None
        self._tags: Mapping[str, str] = {}
        self._asked: object = None
        self.slices: list[Slice] = []
        self.by = NoWheelComboBox()
        self.plot = SlicesPlot(theme)
        self.table = NumberTable(theme, "Accuracy by slice", COLUMNS)
        self.status = plain_label(_READING, role="dim", wrap=True)
        self.menu_button = SaveFigureButton(theme, "accuracy by slice")
        self._results = QWidget()
        self._results.hide()
        self._build()
        self._connect()

    def _build(self) -> None:
        for by, title in SLICE_TITLES.items():
            self.by.addItem(title, by)
        self.by.setAccessibleName("Slice by")
        self.by.setToolTip("What the images of a slice have in common")
        self.saver = FigureSaver(
            self, self._state.background, "slices", "accuracy by slice", self._writer
        )
        self.menu_button.set_saver(self.saver)
        column(self.plot, (self.table, 1), parent=self._results, spacing=6)
        self.column.addLayout(row(plain_label("By"), (self.by, 1), STRETCH, self.menu_button))
        self.column.addWidget(self._results, 1)
        self.column.addWidget(self.status)
        self.column.addStretch(0)  # without results their reason is at the top
        self.setMinimumWidth(430)

    def _connect(self) -> None:
        document = self._state.context.document
        self._state.images_read.connect(self._take_images)
        document.edits_changed.connect(self._on_edited)
        document.project_replaced.connect(self._on_edited)
        self.by.currentIndexChanged.connect(self._slice)
        self.table.chosen.connect(self._on_chosen)
        self.saver.said.connect(self._state.said)

    @property
    def chosen_by(self) -> SliceBy:
        """What the images of a slice have in common."""
        return cast("SliceBy", self.by.currentData())

    def _take_images(self, found: ImagesOfRun | None) -> None:
        self._found = found
        self._slice()

    def _on_edited(self) -> None:
        """Updates the slices where tags have changed; other edits change nothing here."""
        if self._state.context.document.project.edits.tags != self._tags:
            self._slice()

    def _slice(self) -> None:
        """Slices the images, in a thread."""
        found, by = self._found, self.chosen_by
        self._tags = tags = self._state.context.document.project.edits.tags
        images = found.images if found is not None else None
        self._asked = asked = object()
        if found is None or images is None:
            self._show([], _NOT_KEPT)
            return
        names = found.class_names
        self._state.background.run(
            lambda: (slices_of(images, by, names, tags), why_not(images, by, tags)),
            lambda made: self._show(*made) if asked is self._asked else None,
        )

    def _show(self, slices: list[Slice], reason: str) -> None:
        self.slices = slices
        kept = self._found.kept if self._found is not None else None
        overall = kept.result.accuracy if kept is not None else None
        self.plot.set_slices(f"{self._title()} · {self._words()}", slices, overall)
        self.table.set_rows(map(_row, slices))
        self._results.setVisible(bool(slices))
        self.menu_button.setEnabled(bool(slices))
        overall_words = f"All images: {share(overall)} (dashed). " if overall is not None else ""
        self.status.setText(reason or f"{overall_words}{_HINT}")

    def _words(self) -> str:
        """The evaluated images in words."""
        kept = self._found.kept if self._found is not None else None
        return set_words(kept.result, kept.source_words()) if kept is not None else ""

    def _title(self) -> str:
        return f"Accuracy by {SLICE_TITLES[self.chosen_by].lower()}"

    def _on_chosen(self, number: int) -> None:
        if number < len(self.slices):
            one = self.slices[number]
            name = f"{SLICE_TITLES[self.chosen_by]}: {one.name}"
            self._state.slice_wanted.emit(Chosen(name=name, only=one.numbers))

    def _writer(self, path: Path) -> Callable[[], None]:
        title, slices = SLICE_TITLES[self.chosen_by], self.slices
        words = f"{self._title()}: {self._words()}"
        return figure_file(path, self.plot, words, lambda: slices_csv(title, slices))


def _row(each: Slice) -> list[Cell]:
    low, high = each.interval
    few = " (few)" if each.has_few else ""
    return [
        Cell(each.name),
        Cell(share(each.accuracy), each.accuracy),
        Cell(f"{share(low)}–{share(high)}", low),
        Cell(f"{count(each.count)}{few}", each.count),
    ]
