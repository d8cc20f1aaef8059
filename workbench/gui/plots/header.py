"""The line above a plot: title, legend, log axis, and a menu."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from workbench.gui.kit.buttons import IconButton
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, add_to, row
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.curve_button import CurveButton, only

_SPACING_PX = 4


class Swatch(QWidget):
    """A short line in the color of a curve."""

    def __init__(self, color: str) -> None:
        super().__init__()
        self._color = color
        self.setFixedSize(12, 12)

    def set_color(self, color: str) -> None:
        """Shows another color."""
        self._color = color
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QPen(QColor(self._color), 2.0))
        painter.drawLine(0, 6, 12, 6)
        painter.end()


def _toggle(text: str, tip: str) -> QToolButton:
    result = QToolButton()
    result.setText(text)
    result.setToolTip(plain_tip(tip))
    result.setAccessibleName(tip)
    result.setCheckable(True)
    result.setProperty("role", "toggle")
    return result


class PlotHeader(QWidget):
    """The controls of one plot. The menu is filled by the plot.

    Args:
        theme: Colors and icons.
        title: What is plotted.
        is_plain: For a single line: without legend and points by epoch.
        has_validation: Whether the legend names a second line.
        can_ignore: Whether values far from the rest can be left out of sight.

    Attributes:
        keys: The legend's buttons by the name of their line, "train" and "validation".

    `lines_changed` when another line is hidden or shown.
    """

    lines_changed = Signal()

    def __init__(
        self,
        theme: Theme,
        title: str,
        *,
        is_plain: bool = False,
        has_validation: bool = True,
        can_ignore: bool = True,
    ) -> None:
        super().__init__()
        self._is_plain = is_plain
        self._theme = theme
        self._hidden: set[str] = set()
        self.title = plain_label(title, role="strong")
        names = ("train", "validation") if has_validation else ("train",)
        self.keys = {} if is_plain else {name: CurveButton(f" {name}") for name in names}
        self.log = _toggle("Log", f"Logarithmic {title.lower()} axis")
        self.menu_button = IconButton(theme, "more", f"Options of the {title.lower()} plot")
        self.menu = QMenu(self)
        self.by_epoch = self.menu.addAction("Epoch averages")
        self.by_epoch.setCheckable(True)
        self.ignore_outliers = self.menu.addAction("Ignore outliers")
        self.ignore_outliers.setCheckable(True)
        self.ignore_outliers.setChecked(True)
        self.ignore_outliers.setVisible(can_ignore)
        self.menu_button.setMenu(self.menu)
        self.menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._build()

    def is_line_shown(self, name: str) -> bool:
        """Whether a line of the legend is to be seen; any that it does not name is."""
        return name not in self._hidden

    def color_keys(self) -> None:
        """Draws the legend as the lines are drawn, in the colors of the theme."""
        colors = self._theme.colors
        for name, key in self.keys.items():
            is_train = name == "train"
            color = colors.train if is_train else colors.validation
            key.set_line(color, colors.faint, has_dot=not is_train)

    def _hide(self, hidden: set[str]) -> None:
        self._hidden = hidden
        for name, key in self.keys.items():
            key.setChecked(name not in hidden)
        self.lines_changed.emit()

    def _on_shown(self, name: str, is_shown: bool) -> None:  # noqa: FBT001 - Qt's signal
        self._hide(self._hidden - {name} if is_shown else self._hidden | {name})

    def _on_only(self, name: str) -> None:
        self._hide(only(name, self.keys, self._hidden))

    def show_controls(self, *, is_shown: bool) -> None:
        """Hides what makes no sense in an image, or shows it again."""
        for part in (self.log, self.menu_button):
            part.setVisible(is_shown)

    def _build(self) -> None:
        line = row(self.title, STRETCH, parent=self, spacing=_SPACING_PX)
        for name, key in self.keys.items():
            key.setProperty("role", "key")
            key.setAccessibleName(f"{name} curve of the {self.title.text().lower()} plot")
            key.shown.connect(partial(self._on_shown, name))
            key.only_asked.connect(partial(self._on_only, name))
            add_to(line, key)
        self.color_keys()
        add_to(line, self.log, self.menu_button)
        self.by_epoch.setVisible(not self._is_plain)
