"""The classes of the project's data: shown, renamed, merged, left out.

Each change is a value of `DataEdits.classes`; names are compared as in
`workbench.core.outside_text`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QCheckBox, QLineEdit, QMenu, QSizePolicy, QWidget

from workbench.core.format import plural
from workbench.core.specs.dataset import edited_classes
from workbench.gui.data.state import DataState
from workbench.gui.kit.buttons import IconButton, button
from workbench.gui.kit.labels import ElidedLabel, plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import Box
from workbench.protocol.describe_data import ClassDescription, DataDescription, OwnClass

# name field ----------------------------------------------------------------------------------
# A field in which the name of a class is edited: Enter keeps it, Escape gives up.

_MOST_LETTERS = 200


class ClassNameField(QLineEdit):
    """Lies over the name. Leaving it keeps what was typed.

    Signals:
        named(str): The name that was typed, when it is another one.
    """

    named = Signal(str)

    def __init__(self, name: str, place: QRect, parent: QWidget) -> None:
        super().__init__(name, parent)
        self._name, self._owner = name, parent
        self._is_over = False
        self.setMaxLength(_MOST_LETTERS)
        self.setAccessibleName(f"New name of the class {name}")
        self.setGeometry(place)
        self.selectAll()
        self.returnPressed.connect(self._keep)
        self.show()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._close()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:  # its own menu
            self._keep()

    def _keep(self) -> None:
        name = " ".join(self.text().split())
        is_new = bool(name) and name != self._name and not self._is_over
        self._close()
        if is_new:
            self.named.emit(name)

    def _close(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._owner.setFocus(Qt.FocusReason.OtherFocusReason)
            self.deleteLater()


# class row -----------------------------------------------------------------------------------
# One class of a data set: its name, how many images, and some of them.

_HEIGHT_PX = 64
_NAME_PX = 132
_BAR_PX = 150
_COUNT_PX = 232
_THUMB_PX = 48
_GAP_PX = 6
_SHORT_BAR_PX = 24
_PAD_PX = 4
_FIELD_PX = 28
_SELECTED_ALPHA = 40
_NUM_THUMBS = 4
"""Images that are shown before the bar has its full length."""


class ClassRow(QWidget):
    """Painted as a whole: a hundred classes are a hundred widgets, not a thousand.

    With the keyboard: left and right go from image to image, Enter chooses one, F2 renames the
    class, Space selects it.

    Attributes:
        description: What it shows.
        is_selected: Whether the class is selected.

    Signals:
        chosen(int): An image was chosen, by its number in the class.
        pressed(Qt.KeyboardModifier): The class was pressed beside its images, with these keys held.
        renamed(str): The class got another name.
    """

    chosen = Signal(int)
    pressed = Signal(object)
    renamed = Signal(str)

    def __init__(
        self, theme: Theme, description: ClassDescription, largest: int, counts: str
    ) -> None:
        super().__init__()
        self._theme = theme
        self.description = description
        size = description.num_train + description.num_test + description.num_validation
        self._share = size / max(largest, 1)
        self._pictures = [QPixmap(each.path) for each in description.thumbnails]
        self._current = 0
        self._note = ""
        self.is_selected = False
        self._hovered: int | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(_HEIGHT_PX if self._pictures else 32)
        self.set_counts(counts)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleDescription("Press Enter to enlarge its images, F2 to rename it")
        self.setMouseTracking(True)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(_NAME_PX + _SHORT_BAR_PX + _COUNT_PX, self.height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def set_counts(self, words: str) -> None:
        """Shows how many images it has, in words, by what a run does with them."""
        self._counts = words
        self.setAccessibleName(f"{self.description.name}: {words}")
        self.update()

    def set_note(self, words: str) -> None:
        """Shows what the class is called in the data set, where that is something else."""
        self._note = words
        self.update()

    def set_selected(self, *, is_selected: bool) -> None:
        """Shows whether the class is selected."""
        self.is_selected = is_selected
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        colors = self._theme.colors
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        self._draw_selection(painter)
        self._draw_name(painter)
        self._draw_bar(painter)
        painter.setFont(self._theme.font(12, tabular=True))
        painter.setPen(QColor(colors.dim))
        place = QRectF(_NAME_PX + self._bar_px + 10, 0, _COUNT_PX, self.height())
        painter.drawText(place, middle, self._counts)
        self._draw_pictures(painter)

    def _draw_selection(self, painter: QPainter) -> None:
        if self.is_selected:
            fill = QColor(self._theme.colors.accent)
            fill.setAlpha(_SELECTED_ALPHA)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(fill)
            painter.drawRoundedRect(self.rect().toRectF(), 4, 4)

    def _draw_name(self, painter: QPainter) -> None:
        colors = self._theme.colors
        lines = [(self.description.name, self._theme.font(weight=600), colors.text)]
        if self._note:
            lines.append((self._note, self._theme.font(11), colors.dim))
        whole = QRectF(_PAD_PX, 0, _NAME_PX - _PAD_PX, self.height())
        for number, (words, font, color) in enumerate(lines):
            painter.setFont(font)
            painter.setPen(QColor(color))
            room = _NAME_PX - 10 - _PAD_PX
            metrics = painter.fontMetrics()
            shown = metrics.elidedText(words, Qt.TextElideMode.ElideMiddle, room)
            shift = (number - (len(lines) - 1) / 2) * metrics.lineSpacing() * 1.15
            flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
            painter.drawText(whole.translated(0, shift), flags, shown)

    @property
    def _bar_px(self) -> int:
        """The bar is short where the row is: the images have what it leaves."""
        wanted = _NUM_THUMBS * (_THUMB_PX + _GAP_PX)
        return max(_SHORT_BAR_PX, min(_BAR_PX, self.width() - _NAME_PX - _COUNT_PX - wanted))

    def _draw_bar(self, painter: QPainter) -> None:
        colors = self._theme.colors
        y = self.height() / 2 - 5
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.field))
        painter.drawRoundedRect(QRectF(_NAME_PX, y, self._bar_px, 10), 4, 4)
        painter.setBrush(QColor(colors.train))
        painter.drawRoundedRect(QRectF(_NAME_PX, y, max(self._bar_px * self._share, 3), 10), 4, 4)

    def picture_places(self) -> Iterator[tuple[int, QRectF]]:
        """The images that there is room for: number in the class, and where."""
        x = float(_NAME_PX + self._bar_px + _COUNT_PX + 10)
        for number, picture in enumerate(self._pictures):
            if picture.isNull() or x + _THUMB_PX > self.width():
                continue
            scale = _THUMB_PX / max(picture.width(), picture.height())
            place = QRectF(0, 0, picture.width() * scale, picture.height() * scale)
            place.moveCenter(QPointF(x + _THUMB_PX / 2, self.height() / 2))
            yield number, place
            x += _THUMB_PX + _GAP_PX

    def _draw_pictures(self, painter: QPainter) -> None:
        marked = self._current if self.hasFocus() else self._hovered
        for number, place in self.picture_places():
            picture = self._pictures[number]
            painter.drawPixmap(place, picture, picture.rect().toRectF())
            if number in (marked, self._hovered):
                painter.setPen(QPen(QColor(self._theme.colors.accent), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(place)

    # choosing an image --------------------------------------------------------------------

    def _picture_at(self, point: QPointF) -> int | None:
        return next((n for n, place in self.picture_places() if place.contains(point)), None)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self._picture_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(None)

    def _hover(self, number: int | None) -> None:
        if number == self._hovered:
            return
        self._hovered = number
        file = self.description.thumbnails[number].file if number is not None else ""
        words = "\n".join(filter(None, (Path(file).name, "Click to enlarge")))
        self.setToolTip(plain_tip(words) if number is not None else "")
        shape = Qt.CursorShape
        self.setCursor(shape.ArrowCursor if number is None else shape.PointingHandCursor)
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        number = self._picture_at(event.position())
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if number is not None:
            self._choose(number)
        else:
            self.pressed.emit(event.modifiers())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.position().x() < _NAME_PX:
            self.rename()
        else:
            super().mouseDoubleClickEvent(event)

    def rename(self) -> None:
        """Opens a field for another name."""
        place = QRect(0, (self.height() - _FIELD_PX) // 2, _NAME_PX, _FIELD_PX)
        field = ClassNameField(self.description.name, place, self)
        field.named.connect(self.renamed)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        shown = [number for number, _ in self.picture_places()]
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            if shown:
                self._choose(self._current)
        elif event.key() == Qt.Key.Key_F2:
            self.rename()
        elif event.key() == Qt.Key.Key_Space:
            self.pressed.emit(event.modifiers() | Qt.KeyboardModifier.ControlModifier)
        elif step and self._current + step in shown:
            self._current += step
            self.update()
        elif not step:
            super().keyPressEvent(event)

    def _choose(self, number: int) -> None:
        self._current = number
        self.update()
        self.chosen.emit(number)


# line ----------------------------------------------------------------------------------------
# One class with what can be done with it: left out, renamed, its images browsed.


class ClassLine(QWidget):
    """A class of the project.

    Signals:
        left_out: The class is to be left out.
        browsed: All its images are to be shown.
    """

    left_out = Signal()
    browsed = Signal()

    def __init__(self, theme: Theme, class_row: ClassRow) -> None:
        super().__init__()
        self.class_row = class_row
        name = class_row.description.name
        self.used = _check_box(name, is_used=True)
        self.used.clicked.connect(lambda _=False: self.left_out.emit())
        self.browse = IconButton(theme, "grid", f"Browse the images of {name}")
        self.browse.clicked.connect(lambda _=False: self.browsed.emit())
        row(self.used, (class_row, 1), self.browse, parent=self, spacing=6)


class LeftOutLine(QWidget):
    """A class of the data set that the project does not use.

    Signals:
        restored: The class is to be used again.
    """

    restored = Signal()

    def __init__(self, own: OwnClass) -> None:
        super().__init__()
        self.used = _check_box(own.name, is_used=False)
        self.used.clicked.connect(lambda _=False: self.restored.emit())
        words = ElidedLabel(f"{own.name}: left out, {plural(own.num_images, 'image')}")
        words.setProperty("role", "dim")
        self.setMinimumHeight(32)
        row(self.used, (words, 1), parent=self, spacing=6)


def _check_box(name: str, *, is_used: bool) -> QCheckBox:
    box = QCheckBox()
    box.setChecked(is_used)
    box.setAccessibleName(f"Use the class {name}")
    tip = "Leave the class out. Its files stay." if is_used else "Use the class again."
    box.setToolTip(plain_tip(tip))
    box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return box


# changes -------------------------------------------------------------------------------------
# Renaming, merging and leaving out classes, as values of `DataEdits.classes`. Qt-free.
#
# A class of the project is known by its name there; it has one class of the data set or more.

Classes = Mapping[str, str]
LEFT_OUT = ""


def renamed(own: Sequence[str], classes: Classes, names: Collection[str], name: str) -> Classes:
    """Changes in which classes of the project get one name: a single one is renamed, several are
    merged, and "" leaves them out.

    Args:
        own: The classes of the data set.
        classes: What was changed before.
        names: Classes of the project.
        name: Their new name; where another class has it already, they join that one.
    """
    wanted = {each: classes.get(each, each) for each in own}
    chosen = {each: name for each, now in wanted.items() if now in names and now}
    return _shortest({**wanted, **chosen}, classes)


def restored(own: Sequence[str], classes: Classes, name: str) -> Classes:
    """A class of the data set has its own name again."""
    return _shortest({**{each: classes.get(each, each) for each in own}, name: name}, classes)


def num_classes(own: Sequence[str], classes: Classes) -> int:
    """How many classes are left."""
    return len(edited_classes(own, classes).names)


def own_names(own: Sequence[str], classes: Classes, name: str) -> list[str]:
    """The classes of the data set that a class of the project has."""
    return [each for each in own if classes.get(each, each) == name]


def _shortest(wanted: Mapping[str, str], before: Classes) -> Classes:
    """Without names that stay; those of classes that are not there now are kept."""
    changed = {each: name for each, name in wanted.items() if each != name}
    return {**{each: before[each] for each in before if each not in wanted}, **changed}


# box -----------------------------------------------------------------------------------------
# The classes of the project's data, each a line; several can be selected and merged.

_HINT = "Double-click a name to rename it (F2). No file is changed."
_LEAST = 2


class ClassesBox(Box):
    """Renames, merges and leaves out classes; each is one step that can be undone.

    Attributes:
        rows: The classes of the project, in their order.
        merge: Merges those that are selected, into one of them.
        browse: Shows all images.
        reset: Takes the classes as the data set has them.
    """

    def __init__(self, state: DataState, description: DataDescription) -> None:
        super().__init__("card", 16, 2)
        self._state = state
        self._document = state.context.document
        self._own = [each.name for each in description.own_classes]
        self._last = 0
        self.merge = button("Merge…")
        self.merge.setMenu(self._merge_menu())
        self.reset = button("Reset classes", role="link")
        self.reset.clicked.connect(lambda _=False: self._change({}, "Reset classes"))
        self.hint = plain_label(_HINT, role="dim", wrap=True)
        self.browse = button("Browse images", icon="grid", theme=state.context.theme)
        self.browse.clicked.connect(lambda _=False: state.browse_wanted.emit(""))
        heading = plain_label("Classes", role="heading")
        buttons = (self.reset, self.merge, self.browse)
        self.column.addLayout(row(heading, STRETCH, *buttons, spacing=12))
        self.column.addWidget(self.hint)
        self.rows = self._add_rows(description)
        self._add_left_out(description)
        self._refresh()

    @property
    def _classes(self) -> Classes:
        return self._document.project.edits.classes

    def _add_rows(self, description: DataDescription) -> list[ClassRow]:
        state, theme = self._state, self._state.context.theme
        found = description.classes
        sizes = [each.num_train + each.num_test + each.num_validation for each in found]
        rows = []
        for number, each in enumerate(found):
            class_row = ClassRow(theme, each, max(sizes), "")
            own = own_names(self._own, self._classes, each.name)
            if own and own != [each.name]:
                class_row.set_note(", ".join(own))
            class_row.pressed.connect(partial(self._select, number))
            class_row.renamed.connect(partial(self._rename, each.name))
            line = ClassLine(theme, class_row)
            line.left_out.connect(partial(self._leave_out, each.name))
            line.browsed.connect(partial(state.browse_wanted.emit, each.name))
            self.column.addWidget(line)
            rows.append(class_row)
        return rows

    def _add_left_out(self, description: DataDescription) -> None:
        for own in description.own_classes:
            if self._classes.get(own.name) == LEFT_OUT:
                line = LeftOutLine(own)
                line.restored.connect(partial(self._restore, own.name))
                self.column.addWidget(line)

    # selecting -----------------------------------------------------------------------------

    def selected(self) -> list[str]:
        """Names of the selected classes."""
        return [each.description.name for each in self.rows if each.is_selected]

    def select(self, names: Collection[str]) -> None:
        """Selects the classes of these names."""
        for each in self.rows:
            each.set_selected(is_selected=each.description.name in names)
        self._refresh()

    def _select(self, number: int, modifiers: Qt.KeyboardModifier) -> None:
        is_several = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        first, last = sorted((self._last, number))
        is_range = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
        for place, each in enumerate(self.rows):
            inside = first <= place <= last if is_range else place == number
            if is_several and not is_range:
                inside = each.is_selected != inside
            each.set_selected(is_selected=inside)
        self._last = self._last if is_range else number
        self._refresh()

    def _refresh(self) -> None:
        self.merge.setEnabled(len(self.selected()) > 1)
        tip = "Makes one class of those that are selected: click, then Ctrl+click others."
        self.merge.setToolTip(tip)
        self.reset.setVisible(bool(self._classes))

    def _merge_menu(self) -> QMenu:
        menu = QMenu(self)

        def fill() -> None:
            menu.clear()
            for name in self.selected():
                words = f"Into “{name}”".replace("&", "&&")
                menu.addAction(words).triggered.connect(partial(self._merge, name))

        menu.aboutToShow.connect(fill)
        return menu

    # changing ------------------------------------------------------------------------------

    def _rename(self, name: str, new: str) -> None:
        there = {each.description.name for each in self.rows}
        text = f"Merge {name} into {new}" if new in there else f"Rename {name} to {new}"
        self._change(renamed(self._own, self._classes, [name], new), text)

    def _merge(self, name: str, *_: object) -> None:
        names = self.selected()
        text = f"Merge {plural(len(names), 'class', 'classes')} into {name}"
        self._change(renamed(self._own, self._classes, names, name), text)

    def _leave_out(self, name: str) -> None:
        self._change(renamed(self._own, self._classes, [name], LEFT_OUT), f"Leave out {name}")

    def _restore(self, name: str) -> None:
        self._change(restored(self._own, self._classes, name), f"Use {name} again")

    def _change(self, classes: Classes, text: str) -> None:
        counts = num_classes(self._own, self._classes), num_classes(self._own, classes)
        if counts[1] < _LEAST:
            self._say("At least two classes are needed.")
            self._check_boxes(self.rows)
            return
        self._document.set_classes(classes, text, counts=counts)

    def _say(self, words: str) -> None:
        self.hint.setText(words)

    def _check_boxes(self, rows: Sequence[ClassRow]) -> None:
        for each in rows:
            line = each.parentWidget()
            if isinstance(line, ClassLine):
                line.used.setChecked(True)
