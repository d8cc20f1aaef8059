"""The runs that are drawn beside the selected one, each in a color of its own."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from workbench.client.run_library import RunLibrary
from workbench.gui.train.plots.overlay import Overlay, overlay_color


class RunOverlays(QObject):
    """Gives each shown run of a library a color, which it keeps while it is shown.

    `changed` when another run is shown, or more of one was read.
    """

    changed = Signal()

    def __init__(self, library: RunLibrary, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self._numbers: dict[Path, int] = {}
        self._titles: dict[Path, str] = {}
        library.shown_changed.connect(self._on_shown_changed)
        library.current_changed.connect(self.changed)
        library.runs_changed.connect(self._on_runs_changed)
        self._on_shown_changed()

    @property
    def colors(self) -> Mapping[Path, str]:
        """Color of each shown run."""
        return {path: overlay_color(number) for path, number in self._numbers.items()}

    def overlays(self) -> list[Overlay]:
        """The shown runs that were read, without the selected one: that is drawn anyway."""
        current = self._library.current
        histories = self._library.shown_histories()
        return [
            Overlay(self._title(path), overlay_color(number), histories[path])
            for path, number in sorted(self._numbers.items(), key=lambda item: item[1])
            if path in histories and (current is None or path != current.run.path)
        ]

    def _title(self, path: Path) -> str:
        summary = self._library.summary(path)
        return summary.label if summary is not None else path.name

    def _on_runs_changed(self) -> None:
        """A new run is called by its folder until the list is read; people rename runs."""
        titles = {path: self._title(path) for path in self._numbers}
        if titles != self._titles:
            self._titles = titles
            self.changed.emit()

    def _on_shown_changed(self) -> None:
        shown = self._library.shown
        self._numbers = {path: n for path, n in self._numbers.items() if path in shown}
        for path in sorted(shown - self._numbers.keys()):
            taken = set(self._numbers.values())
            self._numbers[path] = next(number for number in count() if number not in taken)
        self._titles = {path: self._title(path) for path in self._numbers}
        self.changed.emit()
