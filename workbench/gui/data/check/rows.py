"""The list of findings: a model of rows, and how a row is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from workbench.core.data_check.findings import KEEP, Action, Finding, FoundImage, State
from workbench.core.format import count, plural
from workbench.gui.data.check.findings import Findings, RuleFindings
from workbench.gui.data.check.thumbnails import FoundPictures
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.theme import Theme

Index = QModelIndex | QPersistentModelIndex

ROW_PX = 64
_THUMB_PX = 52
_GAP_PX = 6
_MOST_THUMBS = 3
_MARGIN_PX = 10
_STATE_PX = 64

ROW_ROLE = int(Qt.ItemDataRole.UserRole)

STATE_WORDS: dict[State, str] = {"open": "", "fixed": "fixed", "kept": "kept"}


@dataclass(frozen=True)
class Row:
    """A heading, or a finding below it.

    Attributes:
        rule: Findings of a rule, whose heading this is; or the rule of the finding.
        number: Number of the finding; -1 for a heading.
    """

    rule: RuleFindings
    number: int = -1


class FindingRows(QAbstractListModel):
    """The findings of some states under the headings of their rules."""

    def __init__(self, findings: Findings, parent: QObject) -> None:
        super().__init__(parent)
        self._findings = findings
        self._rows: list[Row] = []
        self._states: tuple[State, ...] = ("open",)

    def show_states(self, *states: State) -> None:
        """Lists the findings of these states."""
        self._states = states
        self.refresh()

    @property
    def states_key(self) -> str:
        """What is listed: "open" or "settled"."""
        return "open" if "open" in self._states else "settled"

    def refresh(self) -> None:
        """Lists what there is now."""
        rows = [
            row
            for rule in self._findings.rules(self._states)
            for row in (Row(rule), *(Row(rule, number) for number in rule.numbers))
        ]
        if rows == self._rows:
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def row(self, index: Index) -> Row | None:
        """What an index shows; None where it shows nothing."""
        return self._rows[index.row()] if index.isValid() else None

    def place_of(self, number: int) -> int:
        """The row of a finding; -1 where it is not listed."""
        return next((at for at, row in enumerate(self._rows) if row.number == number), -1)

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.row(index)
        if row is None:
            return None
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row_title(row, self._findings)
        if role == Qt.ItemDataRole.ToolTipRole and row.number >= 0:
            return plain_tip(self._findings.found[row.number].message)
        return None


def row_title(row: Row, findings: Findings) -> str:
    """The first line of a row."""
    return findings.found[row.number].title if row.number >= 0 else row.rule.title


def rule_words(rule: RuleFindings) -> str:
    """How many findings a rule has; where only some are listed, how many more there are."""
    listed, more = len(rule.numbers), rule.total - len(rule.numbers)
    return f"{plural(listed, 'finding')}, {count(more)} more" if more else plural(listed, "finding")


def settle_words(actions: Sequence[Action]) -> str:
    """What an action of each of several findings does together; "" where nothing is to be done, or
    another reading of the data is chosen, which is decided one at a time.
    """
    number, kinds = len(actions), {action.key.partition("_")[0] for action in actions}
    titles = {action.title for action in actions}
    if not actions or any(action.key == KEEP or action.dataset for action in actions):
        return ""
    if kinds == {"keep"} and number > 1:
        return f"Use one of each ({count(number)})"
    if all(action.left_out and not action.labels for action in actions):
        return f"Leave out all {count(number)}" if number > 1 else "Leave out"
    if kinds == {"relabel"} and len(titles) > 1:
        return f"Relabel all {count(number)} as suggested"
    if len(titles) == 1:
        return titles.pop() + (f" ({count(number)})" if number > 1 else "")
    return f"Settle all {count(number)} as suggested"


def images_words(finding: Finding) -> str:
    """The images of a finding in a line: their files and classes."""
    names = [f"{image_name(image)} ({image.label})" for image in finding.images[:_MOST_THUMBS]]
    more = finding.num_images - len(names)
    return ", ".join([*names, f"{count(more)} more"] if more > 0 else names)


def image_name(image: FoundImage) -> str:
    """The name of an image's file, or its number."""
    return PurePath(image.file).name if image.file else f"image {count(image.index + 1)}"


def draw_picture(painter: QPainter, picture: QPixmap | None, place: QRectF, color: str) -> None:
    """Draws a small image whole in a place; a plain field while it is not there."""
    if picture is None or picture.isNull():
        painter.fillRect(place, QColor(color))
        return
    scale = min(place.width() / picture.width(), place.height() / picture.height())
    target = QRectF(0, 0, picture.width() * scale, picture.height() * scale)
    target.moveCenter(QPointF(place.center()))
    painter.drawPixmap(target, picture, picture.rect().toRectF())


class FindingDelegate(QStyledItemDelegate):
    """Draws a row; the images of a finding side by side."""

    def __init__(
        self, findings: Findings, pictures: FoundPictures, theme: Theme, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._findings, self._pictures, self._theme = findings, pictures, theme

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(200, ROW_PX)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        colors, rect = self._theme.colors, QRectF(option.rect)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, QColor(colors.accent_soft))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, QColor(colors.hover))
        if row.number < 0:
            view = option.widget
            beside = view.indexWidget(index) if isinstance(view, QAbstractItemView) else None
            taken = beside.sizeHint().width() if beside is not None else 0
            self._draw_heading(painter, rect.adjusted(0, 0, -taken, 0), row.rule)
        else:
            self._draw_finding(painter, rect, row.number)
        painter.setPen(QColor(colors.line))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.restore()

    def _draw_heading(self, painter: QPainter, rect: QRectF, rule: RuleFindings) -> None:
        inner = rect.adjusted(_MARGIN_PX, 10, -_MARGIN_PX, -8)
        self._draw_lines(painter, inner, rule.title, rule_words(rule), size=15)

    def _draw_finding(self, painter: QPainter, rect: QRectF, number: int) -> None:
        finding, state = self._findings.found[number], self._findings.states[number]
        x = rect.left() + _MARGIN_PX
        y = rect.top() + (ROW_PX - _THUMB_PX) / 2
        for image in finding.images[:_MOST_THUMBS]:
            place = QRectF(x, y, _THUMB_PX, _THUMB_PX)
            field = self._theme.colors.field
            draw_picture(painter, self._pictures.pixmap(image), place, field)
            x += _THUMB_PX + _GAP_PX
        right = -_STATE_PX if STATE_WORDS[state] else -_MARGIN_PX
        inner = QRectF(
            x + _GAP_PX, rect.top() + 10, rect.right() - x - _GAP_PX + right, ROW_PX - 18
        )
        self._draw_lines(painter, inner, finding.title, images_words(finding), size=13)
        if STATE_WORDS[state]:
            painter.setPen(QColor(self._theme.colors.good))
            place = QRectF(rect.right() - _STATE_PX, rect.top(), _STATE_PX - _MARGIN_PX, ROW_PX)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, STATE_WORDS[state])

    def _draw_lines(
        self, painter: QPainter, rect: QRectF, title: str, words: str, *, size: int
    ) -> None:
        """Two lines of text, each shortened to its room."""
        half, left = rect.height() / 2, Qt.AlignmentFlag.AlignVCenter
        colors = self._theme.colors
        lines = (
            (title, self._theme.font(size, weight=600), colors.text, 0.0),
            (words, self._theme.font(12), colors.dim, half),
        )
        for text, font, color, offset in lines:
            painter.setFont(font)
            painter.setPen(QColor(color))
            shown = painter.fontMetrics().elidedText(
                text, Qt.TextElideMode.ElideRight, int(rect.width())
            )
            painter.drawText(
                QRectF(rect.left(), rect.top() + offset, rect.width(), half), left, shown
            )
