"""The names of the runs in the plots; a click hides one or shows it again."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from workbench.gui.common.run_text import elide_mode
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import FlowLayout
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.curve_button import HOW, CurveButton, only


@dataclass(frozen=True)
class LegendEntry:
    """A run of the legend; `key` comes back when it is clicked."""

    key: Hashable
    title: str
    color: str
    is_main: bool = False


class Legend(QWidget):
    """One button a run; `hidden_changed` with the keys of the runs that are hidden now."""

    hidden_changed = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._hidden: set[Hashable] = set()
        self.buttons: dict[Hashable, CurveButton] = {}
        self._flow = FlowLayout(self, spacing=4)
        self._hint = plain_label("dashed: validation of overlaid runs", role="dim")
        self.setAccessibleName("Runs in the plots")

    def set_entries(self, entries: Sequence[LegendEntry], hidden: set[Hashable]) -> None:
        """Shows these runs; those in `hidden` are switched off."""
        while (item := self._flow.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None and widget is not self._hint:
                widget.hide()  # it is deleted later, and has no place until then
                widget.deleteLater()
        self.buttons = {}
        self._hidden = set(hidden)
        for entry in entries:
            button = self._make_button(entry)
            button.setChecked(entry.key not in hidden)
            button.shown.connect(partial(self._on_shown, entry.key))
            button.only_asked.connect(partial(self._on_only, entry.key))
            self.buttons[entry.key] = button
            self._flow.addWidget(button)
        self._hint.setMinimumHeight(max(b.sizeHint().height() for b in self.buttons.values()))
        self._flow.addWidget(self._hint)
        self._hint.show()

    def _hide(self, hidden: set[Hashable]) -> None:
        self._hidden = hidden
        for key, button in self.buttons.items():
            button.setChecked(key not in hidden)
        self.hidden_changed.emit(set(hidden))

    def _on_shown(self, key: Hashable, is_shown: bool) -> None:  # noqa: FBT001 - Qt's signal
        self._hide(self._hidden - {key} if is_shown else self._hidden | {key})

    def _on_only(self, key: Hashable) -> None:
        self._hide(only(key, self.buttons, self._hidden))

    def _make_button(self, entry: LegendEntry) -> CurveButton:
        title = " ".join(entry.title.split())
        button = CurveButton("")
        button.setParent(self)
        button.setProperty("role", "toggle")
        width = 3.0 if entry.is_main else 2.0
        button.set_line(entry.color, self._theme.colors.faint, width=width)
        button.setFont(self._theme.font(12, weight=600 if entry.is_main else 400))
        button.setText(" " + short_title(button, title, 180).replace("&", "&&"))
        button.setToolTip(plain_tip(f"{title}. {HOW}"))
        button.setAccessibleName(f"Curves of {title}")
        button.show()
        return button


def short_title(place: QWidget, title: str, room_px: int) -> str:
    """A run's name in one line, as far as it fits, in the font of the widget that shows it."""
    text = " ".join(title.split())
    return place.fontMetrics().elidedText(text, elide_mode(text), room_px)
