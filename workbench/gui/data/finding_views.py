"""Views of the data check's findings: their list, one in detail, and its images."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Literal

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLayout,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from workbench.client.service_process import Handlers, Question
from workbench.core.data_check.findings import KEEP, Action, Finding, FoundImage, State
from workbench.core.format import count, image_size_text, plural
from workbench.errors import WorkbenchError
from workbench.gui.data.findings import Findings, RuleFindings
from workbench.gui.data.state import DataState
from workbench.gui.kit.buttons import WrappedButton
from workbench.gui.kit.labels import ElidedLabel, plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme
from workbench.protocol.data_check import FoundThumbnails, ShowFound

# thumbnails ----------------------------------------------------------------------------------
# Small images of findings, fetched when they are first to be drawn.

SIZE_PX = 192
"""Longer side: they are drawn large beside the list, at a half of it in the list."""

_AT_ONCE = 16
_KEPT = 600
"""Pixmaps in memory: 80 MB at most."""

_DELAY_MS = 30
"""While a list is scrolled, what has passed is not fetched."""


class FoundPictures(QObject):
    """A cache of small images by content; what is missing is fetched, the newest wishes first.

    Signals:
        arrived(): Some more are there.
    """

    arrived = Signal()

    def __init__(self, state: DataState) -> None:
        super().__init__(state)
        self._document = state.context.document
        self._question = Question(state.context.measurer)
        self._known: OrderedDict[str, QPixmap] = OrderedDict()
        self._wanted: OrderedDict[str, FoundImage] = OrderedDict()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY_MS)
        self._timer.timeout.connect(self._fetch)

    def pixmap(self, image: FoundImage) -> QPixmap | None:
        """The image, null where it cannot be read; None while it is not there."""
        if (found := self._known.get(image.content)) is not None:
            self._known.move_to_end(image.content)
            return found
        self._wanted[image.content] = image
        self._wanted.move_to_end(image.content)
        while len(self._wanted) > 4 * _AT_ONCE:
            self._wanted.popitem(last=False)  # scrolled past
        if not self._timer.isActive() and not self._question.is_open:
            self._timer.start()
        return None

    def clear(self) -> None:
        """Forgets all, with other findings."""
        self._question.drop()
        self._known.clear()
        self._wanted.clear()

    def _fetch(self) -> None:
        if self._question.is_open or not self._wanted:
            return
        images = [self._wanted.popitem()[1] for _ in range(min(_AT_ONCE, len(self._wanted)))]
        choice = self._document.project.dataset

        def take(answer: FoundThumbnails) -> None:
            self._take(images, answer.paths)

        def fail(_error: WorkbenchError) -> None:
            self._take(images, [""] * len(images))

        request = ShowFound(
            id=0, source=choice.key, params=dict(choice.params), images=images, size=SIZE_PX
        )
        self._question.ask(request, Handlers(on_done=take, on_failed=fail))

    def _take(self, images: list[FoundImage], paths: list[str]) -> None:
        for image, path in zip(images, paths, strict=True):
            self._known[image.content] = QPixmap(path) if path else QPixmap()
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        self.arrived.emit()
        self._fetch()


# rows ----------------------------------------------------------------------------------------
# The list of findings: a model of rows, and how a row is drawn.

Index = QModelIndex | QPersistentModelIndex

ROW_PX = 64
_THUMB_PX = 52
_GAP_PX_ROWS = 6
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
            x += _THUMB_PX + _GAP_PX_ROWS
        right = -_STATE_PX if STATE_WORDS[state] else -_MARGIN_PX
        inner = QRectF(
            x + _GAP_PX_ROWS, rect.top() + 10, rect.right() - x - _GAP_PX_ROWS + right, ROW_PX - 18
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


# detail --------------------------------------------------------------------------------------
# One finding: its images side by side, the reason, and a button for each action.

_PICTURES_PX, _LOW_PX = 190, 110
_NEAREST_PX = 110
_LEAST_PX = 80
_LABEL_PX = 18
_MOST_PICTURES = 4
_GAP_PX = 8
_MOST_FILES = 8

Room = Literal["none", "low", "full"]

_PART_WORDS = {"train": "training", "validation": "validation", "test": "test"}


class PictureRow(QWidget):
    """A row of images side by side, each as large as there is room."""

    def __init__(self, pictures: FoundPictures, theme: Theme, full_px: int = _PICTURES_PX) -> None:
        super().__init__()
        self._pictures, self._theme = pictures, theme
        self._full_px, self._has_labels = full_px, False
        self._images: Sequence[FoundImage] = ()
        self._is_hidden = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(full_px)
        pictures.arrived.connect(self.update)
        theme.changed.connect(self.update)

    def set_room(self, room: Room) -> None:
        """Takes as much height as there is room for; "none" leaves it to the list's images."""
        self._is_hidden = room == "none"
        self.setFixedHeight(self._full_px if room == "full" else _LOW_PX)
        self.setVisible(bool(self._images) and not self._is_hidden)

    def show_images(self, images: Sequence[FoundImage], *, with_labels: bool = False) -> None:
        """Shows the first few of some images, with their classes below where that is wanted."""
        self._has_labels = with_labels
        self._images = images[:_MOST_PICTURES]
        self.setVisible(bool(images) and not self._is_hidden)
        names = (f"{image_name(image)} in {image.label}" for image in self._images)
        self.setAccessibleName("Images: " + ", ".join(names))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(2 * _PICTURES_PX, self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(_LEAST_PX, self.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        number = len(self._images)
        width = (self.width() - _GAP_PX * (number - 1)) / max(number, 1)
        for at, image in enumerate(self._images):
            place = QRectF(at * (width + _GAP_PX), 0, width, self.height())
            if self._has_labels:
                self._draw_label(painter, place, image.label)
                place.adjust(0, 0, 0, -_LABEL_PX)
            painter.fillRect(place, QColor(self._theme.colors.field))
            picture = self._pictures.pixmap(image)
            if picture is not None and picture.isNull():
                painter.setPen(QColor(self._theme.colors.dim))
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter, "cannot be read")
                continue
            draw_picture(painter, picture, place, self._theme.colors.field)
        painter.end()

    def _draw_label(self, painter: QPainter, place: QRectF, label: str) -> None:
        painter.setPen(QColor(self._theme.colors.text))
        words = painter.fontMetrics().elidedText(
            label, Qt.TextElideMode.ElideRight, int(place.width())
        )
        below = QRectF(place.left(), place.bottom() - _LABEL_PX, place.width(), _LABEL_PX)
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, words)


class FindingDetail(QScrollArea):
    """What is chosen in the list: a finding, or all of a rule.

    Signals:
        settled(): An action was chosen; the next finding may be shown.
    """

    settled = Signal()

    def __init__(self, findings: Findings, pictures: FoundPictures, theme: Theme) -> None:
        super().__init__()
        self._findings = findings
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumSize(220, 150)
        self.setStyleSheet("QScrollArea, #finding { background: transparent; }")
        self.pictures = PictureRow(pictures, theme)
        self.title = plain_label(role="strong", wrap=True)
        self.message = plain_label(role="text", wrap=True)
        self.buttons: list[WrappedButton] = []
        self.nearest = PictureRow(pictures, theme, _NEAREST_PX)
        self.near_title = plain_label("Most similar images", role="strong")
        self._files = column(spacing=2)
        self._actions = column(spacing=6)
        page = QWidget()
        page.setObjectName("finding")
        near = column(self.near_title, self.nearest, spacing=4)
        parts = (self.pictures, self.title, self.message, self._actions, near, self._files, STRETCH)
        column(*parts, parent=page, margins=(12, 0, 8, 0), spacing=8)
        self.setWidget(page)
        self.show_nothing()

    def show_nothing(self) -> None:
        """Shows that no finding is chosen."""
        self._show("", "")

    def show_finding(self, number: int) -> None:
        """Shows a finding."""
        finding, state = self._findings.found[number], self._findings.states[number]
        near = finding.evidence.nearest if finding.evidence else ()
        self._show(finding.title, finding.message, finding.images, near)
        self._list_files(finding)
        for action in finding.actions:
            if state == "open" or action.key != KEEP:
                self._add_button(action.title, partial(self._findings.apply, number, action))
        if state != "open":
            self._add_button(_reopen_words(state), partial(self._findings.reopen, number))

    def show_rule(self, rule: RuleFindings) -> None:
        """Shows what can be done about all findings below a heading."""
        self._show(rule.title, f"{rule_words(rule)}.")
        self._add_common(rule.numbers)

    def show_several(self, numbers: Sequence[int]) -> None:
        """Shows what can be done about the chosen findings: alike ones have an action in common."""
        rules = {self._findings.found[number].rule for number in numbers}
        alike = "" if len(rules) == 1 else " They are of several kinds: choose those of one kind."
        images = [self._findings.found[number].images[0] for number in numbers[:_MOST_PICTURES]
                  if self._findings.found[number].images]  # fmt: skip
        self._show(f"{plural(len(numbers), 'finding')} chosen", alike.strip(), images)
        if len(rules) == 1:
            self._add_common(numbers)

    def _add_common(self, numbers: Sequence[int]) -> None:
        """A button for the first action of all that are open, and one for each that all have."""
        found = [self._findings.found[n] for n in numbers if self._findings.states[n] == "open"]
        if not found:
            return
        firsts = [finding.actions[0] for finding in found]
        offers = {settle_words(firsts): ""}
        for key in (action.key for action in found[0].actions):
            actions = [action for finding in found if (action := finding.action(key)) is not None]
            if len(actions) == len(found) and actions != firsts:
                words = _keep_words(len(found)) if key == KEEP else settle_words(actions)
                offers.setdefault(words, key)
        for words, key in offers.items():
            if words:
                settle = partial(self._findings.apply_to_all, tuple(numbers), key)
                self._add_button(words, settle)

    def _show(
        self,
        title: str,
        words: str,
        images: Sequence[FoundImage] = (),
        near: Sequence[FoundImage] = (),
    ) -> None:
        for layout in (self._files, self._actions):
            _clear(layout)
        self.buttons = []
        self.title.setText(title)
        self.title.setVisible(bool(title))
        self.message.setText(words)
        self.pictures.show_images(images)
        self.nearest.show_images(near, with_labels=True)
        self.near_title.setVisible(bool(near))
        self.verticalScrollBar().setValue(0)

    def _list_files(self, finding: Finding) -> None:
        for image in finding.images[:_MOST_FILES]:
            label = ElidedLabel(_image_line(image), mode=Qt.TextElideMode.ElideRight)
            label.setAccessibleDescription(image.file)
            label.setProperty("role", "dim")
            self._files.addWidget(label)
        if (more := finding.num_images - _MOST_FILES) > 0:
            self._files.addWidget(plain_label(f"… and {count(more)} more", role="dim"))

    def _add_button(self, words: str, act: partial[None]) -> None:
        button = WrappedButton(words)
        button.clicked.connect(lambda: self._act(act))
        self._actions.addLayout(row(button, STRETCH))
        self.buttons.append(button)

    def _act(self, act: partial[None]) -> None:
        act()
        self.settled.emit()


def _image_line(image: FoundImage) -> str:
    size = f", {image_size_text((image.height, image.width))}" if image.width else ""
    return f"{image.label}, {_PART_WORDS[image.part]}{size}: {image_name(image)}"


def _reopen_words(state: State) -> str:
    return "Undo what was done" if state == "fixed" else "Show again"


def _keep_words(number: int) -> str:
    return f"Keep all {count(number)} as they are" if number > 1 else "Keep as it is"


def _clear(layout: QLayout) -> None:
    while (item := layout.takeAt(0)) is not None:
        if (inner := item.layout()) is not None:
            _clear(inner)
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
