"""Widgets of any panel: cards, collapsible boxes, empty states, painted parts, waiting, docks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from time import monotonic

from PySide6.QtCore import QPointF, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QDockWidget,
    QFrame,
    QGridLayout,
    QHeaderView,
    QLabel,
    QProgressBar,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyleOptionHeader,
    QStyleOptionHeaderV2,
    QToolBar,
    QToolButton,
    QWidget,
)

from workbench.core.format import clock
from workbench.gui.kit.buttons import IconButton, button
from workbench.gui.kit.labels import plain_label, plain_tip, set_role, window_words
from workbench.gui.kit.layout import STRETCH, Gap, Stretch, column, row
from workbench.gui.kit.theme import Theme, ui_font

# cards ---------------------------------------------------------------------------------------
# Framed boxes: cards that can be clicked, hints, problems; and facts in figures and rows.


class Card(QFrame):
    """A framed box that acts as one large button: mouse, Enter or Space."""

    clicked = Signal()

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.setProperty("clickable", True)
        self.setAccessibleName(title)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.body = column(parent=self, margins=1, spacing=0)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        is_inside = self.rect().contains(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and is_inside:
            self.clicked.emit()
            event.accept()
            return
        super().mouseReleaseEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space}:
            self.clicked.emit()
            return
        super().keyPressEvent(event)


class Box(QFrame):
    """A framed box with a column of widgets; roles: card, hint, problem, notice."""

    def __init__(self, role: str = "card", margin_px: int = 12, spacing_px: int = 4) -> None:
        super().__init__()
        self.setProperty("role", role)
        margins = (margin_px, margin_px - 2, margin_px, margin_px - 2)
        self.column = column(parent=self, margins=margins, spacing=spacing_px)


class TitledBox(Box):
    """A card with a heading: a panel of a view."""

    def __init__(self, title: str) -> None:
        super().__init__("card", 16, 8)
        self.column.setContentsMargins(16, 12, 16, 12)
        self.column.addWidget(plain_label(title, role="heading"))


class TextBox(Box):
    """A box with a bold first line and a text below it."""

    def __init__(self, role: str = "hint", title: str = "", text: str = "") -> None:
        super().__init__(role)
        self.title = plain_label(title, role="strong", wrap=True)
        self.text = plain_label(text, role="dim" if role == "hint" else "text", wrap=True)
        self.column.addWidget(self.title)
        self.column.addWidget(self.text)
        self.title.setVisible(bool(title))  # in its place: else it is a window of its own


class Figure(QWidget):
    """A small heading over a number that changes."""

    def __init__(self, heading: str, width_px: int = 0) -> None:
        super().__init__()
        self.setMinimumWidth(width_px)
        self.value = plain_label("–", role="value")
        self.value.setFont(ui_font(17, weight=600, tabular=True))
        self.heading = plain_label(heading, role="heading")
        column(self.heading, self.value, STRETCH, parent=self, spacing=2)

    def keep_room_for(self, text: str) -> None:
        """Reserves the width of this value."""
        self.value.setMinimumWidth(self.value.fontMetrics().horizontalAdvance(text))


class FactRows(QWidget):
    """Rows of a dim name at the left and a bold value at the right."""

    def __init__(self, facts: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[QLabel, QLabel]] = []
        self.set_facts(facts)

    def set_facts(self, facts: Iterable[tuple[str, str]]) -> None:
        """Shows these (name, value) pairs; rows are kept and reused."""
        shown = list(facts)
        while len(self._rows) < len(shown):
            self._add_row()
        for entry, fact in zip_longest(self._rows, shown):
            for label, text in zip(entry, fact or ("", ""), strict=True):
                label.setVisible(fact is not None)
                label.setText(text)

    def facts(self) -> dict[str, str]:
        """What is shown, by name."""
        return {name.text(): value.text() for name, value in self._rows if not name.isHidden()}

    def _add_row(self) -> None:
        name = plain_label(role="dim", parent=self)
        value = plain_label(role="value", parent=self)
        value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        value.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        row = len(self._rows)
        self._grid.addWidget(name, row, 0)
        self._grid.addWidget(value, row, 1)
        self._rows.append((name, value))


# collapsible ---------------------------------------------------------------------------------
# A part of a form that opens and closes under its heading.


class CollapsibleSection(QWidget):
    """A heading with an arrow, and the body below it while it is open.

    Signals:
        opening: It opens; what is put into the body now is seen at once.

    Attributes:
        head: The heading; its text stays, `open_title` replaces it while open.
        body: Column for the widgets inside.
    """

    opening = Signal()

    def __init__(self, title: str, *, open_title: str = "", is_open: bool = False) -> None:
        super().__init__()
        self._titles = (title, open_title or title)
        self.head = QToolButton()
        self.head.setProperty("role", "fold")
        self.head.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.head.setCheckable(True)
        self.head.setAccessibleName(title)
        self._note = plain_label(role="dim")
        self._inner = QWidget()
        self.body = column(parent=self._inner, margins=(0, 2, 0, 6), spacing=8)
        column(row(self.head, STRETCH, self._note), self._inner, parent=self, spacing=2)
        self.head.setChecked(is_open)
        self._show(is_open)
        self.head.toggled.connect(self._on_toggled)

    @property
    def is_open(self) -> bool:
        """Whether the body shows."""
        return self.head.isChecked()

    def set_note(self, text: str) -> None:
        """Shows what the body holds in a word, beside the heading."""
        self._note.setText(text)
        self.head.setAccessibleDescription(text)

    def note(self) -> str:
        """The word beside the heading."""
        return self._note.text()

    def _on_toggled(self, is_open: bool) -> None:  # noqa: FBT001 - Qt's signal
        if is_open:
            self.opening.emit()
        self._show(is_open)

    def _show(self, is_open: bool) -> None:  # noqa: FBT001
        self._inner.setVisible(is_open)
        arrow = Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow
        self.head.setArrowType(arrow)
        self.head.setText(self._titles[is_open])


# empty ---------------------------------------------------------------------------------------
# A page with nothing on it yet: explains what can go there and how, with a button.

ICON_PX = 40
TEXT_WIDTH_PX = 420


class EmptyPage(QWidget):
    """An icon, a title, a sentence and a button (none where its text is empty).

    Signals:
        pressed: The button was pressed.
        second_pressed: The second, plainer button was pressed.
    """

    pressed = Signal()
    second_pressed = Signal()

    def __init__(
        self, theme: Theme, icon: str, title: str, text: str, *, action: str = "", second: str = ""
    ) -> None:
        super().__init__()
        self._theme = theme
        self._icon_name = icon
        self._icon = QLabel()
        self._icon.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.title = plain_label(title, role="title")
        self.title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.text = plain_label(text, role="dim", wrap=True)
        self.text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.text.setFixedWidth(TEXT_WIDTH_PX)
        self.action, self.second = button(action, role="primary"), button(second)
        self.action.clicked.connect(self.pressed)
        self.second.clicked.connect(self.second_pressed)
        self._build()
        for each in (self.action, self.second):  # in their place: else it is a window of its own
            each.setVisible(bool(each.text()))
        self._refresh()
        theme.changed.connect(self._refresh)

    def _build(self) -> None:
        # Stretches, not an alignment: an aligned label is measured at the whole width.
        middle = row(STRETCH, self.text, STRETCH)
        buttons = row(STRETCH, self.action, self.second, STRETCH, spacing=8)
        parts = (self._icon, self.title, middle, Gap(6), buttons)
        column(Stretch(2), *parts, Stretch(3), parent=self, margins=None, spacing=10)

    def _refresh(self) -> None:
        icon = self._theme.icon(self._icon_name, self._theme.colors.faint)
        self._icon.setPixmap(icon.pixmap(QSize(ICON_PX, ICON_PX)))


# painted -------------------------------------------------------------------------------------
# Widgets that draw themselves.

_ARROW_PX = (8, 4)
_ARROW_GAP_PX = 5


class PaintedWidget(QWidget):
    """Draws itself in `paint`, again when the theme changes; only its width can grow.

    Args:
        theme: Colors and fonts.
        hint: Its usual size.
        least_px: Its smallest width.
    """

    def __init__(self, theme: Theme, hint: QSize, least_px: int) -> None:
        super().__init__()
        self._theme = theme
        self._hint = hint
        self._least_px = least_px
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return self._hint

    def minimumSizeHint(self) -> QSize:
        return QSize(self._least_px, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.paint(painter)
        painter.end()

    def paint(self, painter: QPainter) -> None:
        """Draws the widget; edges are smoothed."""
        raise NotImplementedError


class SortHeader(QHeaderView):
    """Headings that sort; the arrow has a place of its own beside the words, up when ascending.

    Qt's own is drawn over the end of words that are aligned to the right.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._theme = theme
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        theme.changed.connect(self.viewport().update)

    def initStyleOptionForIndex(self, option: QStyleOptionHeader, section: int) -> None:
        """Qt's own, without its arrow."""
        super().initStyleOptionForIndex(option, section)
        option.sortIndicator = QStyleOptionHeader.SortIndicator.None_

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        painter.save()
        super().paintSection(painter, rect, section)
        painter.restore()
        if self.isSortIndicatorShown() and section == self.sortIndicatorSection():
            self._paint_arrow(painter, self.arrow_rect(section))

    def words_rect(self, section: int) -> QRect:
        """Rectangle of a heading's words, in pixels of the viewport."""
        option = QStyleOptionHeaderV2()
        self.initStyleOption(option)
        self.initStyleOptionForIndex(option, section)
        option.rect = QRect(
            self.sectionViewportPosition(section), 0, self.sectionSize(section), self.height()
        )
        room = self.style().subElementRect(QStyle.SubElement.SE_HeaderLabel, option, self)
        size = self.fontMetrics().size(0, option.text)
        return QStyle.alignedRect(self.layoutDirection(), option.textAlignment, size, room)

    def arrow_rect(self, section: int) -> QRect:
        """Rectangle of a heading's arrow: left of words that end at the right, else after them."""
        words, (width, height) = self.words_rect(section), _ARROW_PX
        top = words.center().y() - height // 2
        ends_right = bool(self._alignment(section) & Qt.AlignmentFlag.AlignRight)
        left = words.left() - _ARROW_GAP_PX - width if ends_right else words.right() + _ARROW_GAP_PX
        return QRect(left, top, width, height)

    def _alignment(self, section: int) -> Qt.AlignmentFlag:
        option = QStyleOptionHeaderV2()
        self.initStyleOptionForIndex(option, section)
        return option.textAlignment

    def _paint_arrow(self, painter: QPainter, rect: QRect) -> None:
        ends, tip = (rect.bottom() + 1, rect.top())
        if self.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder:
            ends, tip = tip, ends
        middle = rect.left() + rect.width() / 2
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(self._theme.colors.dim), 1.5))
        painter.drawPolyline(
            [QPointF(rect.left(), ends), QPointF(middle, tip), QPointF(rect.right() + 1, ends)]
        )
        painter.restore()


# wait label ----------------------------------------------------------------------------------
# What is shown while something is done: words, after two seconds for how long, and a bar.

SAY_HOW_LONG_AFTER_S = 2.0
TICK_MS = 500


class WaitLabel(QLabel):
    """Plain words that keep their line when they are empty."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setProperty("role", "dim")
        self.setMinimumHeight(self.fontMetrics().lineSpacing())
        self._words = ""
        self._since = monotonic()
        self._tick = QTimer(self)
        self._tick.setInterval(TICK_MS)
        self._tick.timeout.connect(self._refresh)

    @property
    def is_waiting(self) -> bool:
        """Whether something is being done."""
        return self._tick.isActive()

    def wait_for(self, words: str) -> None:
        """Shows what is being done; the clock runs since the first such words."""
        if not self._tick.isActive():
            self._since = monotonic()
            set_role(self, "dim")
            self._tick.start()
        self._words = words.rstrip("…. ")
        self._refresh()

    def say(self, words: str, *, is_bad: bool = False) -> None:
        """Ends the wait and shows words, or nothing."""
        self._tick.stop()
        set_role(self, "bad" if is_bad else "dim")
        self.setText(window_words(words))

    def _refresh(self) -> None:
        waited_s = monotonic() - self._since
        is_long = waited_s >= SAY_HOW_LONG_AFTER_S
        self.setText(f"{self._words}, {clock(waited_s)}" if is_long else f"{self._words}…")


class SteadyBar(QProgressBar):
    """A bar without words that is painted together with all else that has changed. Qt's own paints
    itself at once, and with it all around it, be it laid out for what was shown before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setTextVisible(False)

    def setRange(self, minimum: int, maximum: int) -> None:
        """Qt's own; 0 to 0 is a bar that moves while nothing is known."""
        with self._painted_later():
            super().setRange(minimum, maximum)

    def setValue(self, value: int) -> None:
        """Sets the value as Qt does."""
        if value != self.value():
            with self._painted_later():
                super().setValue(value)

    @contextmanager
    def _painted_later(self) -> Iterator[None]:
        self.setUpdatesEnabled(False)
        try:
            yield
        finally:
            self.setUpdatesEnabled(True)


# docks ---------------------------------------------------------------------------------------
# Docks with a slim title: a side panel that can be moved, closed and brought back; and the rails
# that stand for panels where a window is too narrow for them.

RAIL_PX = 30
_AROUND_WORDS_PX = 28
"""Space at both ends of the words of a rail, together."""


def make_dock(theme: Theme, key: str, title: str, panel: QWidget) -> QDockWidget:
    """A dock around a panel; `key` is its object name, under which its place is stored."""
    dock = QDockWidget(title)
    dock.setObjectName(key)
    dock.setAllowedAreas(Qt.DockWidgetArea.AllDockWidgetAreas)
    on_panel(panel)
    dock.setWidget(panel)
    dock.setTitleBarWidget(_title_bar(theme, dock, title))
    return dock


def on_panel(widget: QWidget) -> None:
    """Gives a widget, and the page of a scroll area, the ground of a panel."""
    page = widget.widget() if isinstance(widget, QScrollArea) else None
    for ground in (widget, page):
        if ground is None:
            continue
        ground.setProperty("role", "panel")
        ground.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)


def _title_bar(theme: Theme, dock: QDockWidget, title: str) -> QWidget:
    bar = QWidget()
    on_panel(bar)
    close = IconButton(theme, "close", f"Close panel {title}", size_px=12)
    close.clicked.connect(dock.close)
    row((plain_label(title, role="heading"), 1), close, parent=bar, margins=(14, 8, 6, 0))
    return bar


class Rail(QToolBar):
    """A slim bar at a side of a view: a button for each panel that has no room there."""

    def __init__(self, theme: Theme, side: str) -> None:
        super().__init__("Folded panels")
        self.setObjectName(f"rail_{side}")
        self.setProperty("rail", side)
        self.setMovable(False)
        self.setFixedWidth(RAIL_PX)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.toggleViewAction().setVisible(False)  # it is there exactly while it is needed
        self._theme = theme
        self._shown: list[str] = []

    def show_panels(self, panels: Sequence[tuple[str, Callable[[], object]]]) -> None:
        """Shows these panels: the title of each, and what shows it. None hides the rail."""
        titles = [title for title, _ in panels]
        if titles != self._shown:
            self._shown = titles
            self.clear()
            for title, follow in panels:
                button = _RailButton(self._theme, title)
                button.clicked.connect(lambda _=False, follow=follow: follow())
                self.addWidget(button)
        self.setVisible(bool(panels))


class _RailButton(QAbstractButton):
    """The title of a panel, written upwards."""

    def __init__(self, theme: Theme, title: str) -> None:
        super().__init__()
        self._theme, self._words = theme, title.upper()
        self.setAccessibleName(f"Show panel {title}")
        self.setToolTip(plain_tip(f"Shows the panel {title}; another one gives way"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFont(theme.font(11, weight=600))
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Width of the rail, and the length of the words."""
        return QSize(RAIL_PX, self.fontMetrics().horizontalAdvance(self._words) + _AROUND_WORDS_PX)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Words that are read from the bottom, on the ground of a button that is pointed at."""
        colors = self._theme.colors
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self.underMouse() or self.hasFocus():
                painter.setPen(QColor(colors.accent if self.hasFocus() else colors.hover))
                painter.setBrush(QColor(colors.hover))
                painter.drawRoundedRect(self.rect().adjusted(3, 3, -4, -4), 5, 5)
            painter.setPen(QColor(colors.dim))
            painter.translate(0, self.height())
            painter.rotate(-90)
            center = int(Qt.AlignmentFlag.AlignCenter)
            painter.drawText(0, 0, self.height(), self.width(), center, self._words)
