"""The latest runs on the welcome page, and projects that were never saved but have runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from workbench.client.run_library import RunLibrary
from workbench.gui.common.run_text import state_words
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import column
from workbench.runs.library.places import file_of, read_places
from workbench.runs.library.projects import RunGroup, full_name, group_runs
from workbench.runs.library.summary import RunSummary

MAX_RUNS = 4
MAX_UNSAVED = 3
_LONGEST = 52
"""Characters of a link; the tooltip has all."""


class RecentRuns(QWidget):
    """Links to unsaved projects, then to runs; hidden while there is none. `chosen` with a run's
    folder: its project is to be opened.
    """

    chosen = Signal(Path)

    def __init__(self, library: RunLibrary) -> None:
        super().__init__()
        self._library = library
        self._links = column(parent=self, spacing=2)
        self.shown: list[str] = []
        library.runs_changed.connect(self.refresh)
        self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()  # a project may have been saved meanwhile

    def refresh(self) -> None:
        """Lists them again where they have changed."""
        runs = self._library.runs
        unsaved = unsaved_projects(runs, self._library.home)[:MAX_UNSAVED]
        links = [(f"Untitled ({group.title})", group.runs[0]) for group in unsaved]
        named = [(full_name(run), run) for run in runs[:MAX_RUNS]]
        words = [text for text, _ in [*links, *named]]
        self.setVisible(bool(words))
        if words == self.shown:
            return
        self.shown = words
        while (item := self._links.takeAt(0)) is not None:
            if widget := item.widget():
                widget.deleteLater()
        for text, run in links:
            self._links.addWidget(self._link(text, run))
        if named:
            self._links.addSpacing(10)
            self._links.addWidget(plain_label("Recent runs", role="heading"))
        for text, run in named:
            self._links.addWidget(self._link(text, run))

    def _link(self, text: str, run: RunSummary) -> QWidget:
        shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
        link = button(shown.replace("&", "&&"), role="link")
        link.setToolTip(plain_tip(f"{full_name(run)}\n{state_words(run)}"))
        link.clicked.connect(partial(self.chosen.emit, run.path))
        return link


def unsaved_projects(runs: Sequence[RunSummary], home: Path) -> list[RunGroup]:
    """The projects with an identity of which no file is there: their runs keep what they are."""
    groups = [group for group in group_runs(runs, None) if group.runs[0].project_id]
    places = read_places(home) if groups else {}
    return [each for each in groups if all(file_of(run, places) is None for run in each.runs)]
