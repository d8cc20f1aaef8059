"""One finding: its images side by side, the reason, and a button for each action."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QLayout, QScrollArea, QSizePolicy, QWidget

from workbench.core.data_check.findings import KEEP, Finding, FoundImage, State
from workbench.core.format import count, image_size_text, plural
from workbench.gui.data.check.findings import Findings, RuleFindings
from workbench.gui.data.check.rows import draw_picture, image_name, rule_words, settle_words
from workbench.gui.data.check.thumbnails import FoundPictures
from workbench.gui.kit.buttons import WrappedButton
from workbench.gui.kit.labels import ElidedLabel, plain_label
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme

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
