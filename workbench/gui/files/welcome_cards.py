"""Cards of the welcome page: the last runs, and a small drawing of a network."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QLinearGradient,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QShowEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.client.run_library import LIVE, RunLibrary
from workbench.core.specs import Shape
from workbench.gui.common.run_text import state_words
from workbench.gui.kit.buttons import TextButton, button
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme
from workbench.runs.library.projects import RunGroup, file_of, full_name, group_runs, read_places
from workbench.runs.library.summary import RunSummary

# welcome runs --------------------------------------------------------------------------------
# The latest runs on the welcome page, and projects that were never saved but have runs.

MAX_RUNS = 4
MAX_PAUSED = 2
MAX_UNSAVED = 3
_LONGEST = 52
"""Characters of a link; the tooltip has all."""


class RecentRuns(QWidget):
    """Links to unsaved projects, then to runs, those that go on or are paused first; hidden while
    there is none.

    Signals:
        chosen: Folder of a run: its project is to be opened.
        listed: What is shown has changed.
    """

    chosen = Signal(Path)
    listed = Signal()

    def __init__(self, library: RunLibrary) -> None:
        super().__init__()
        self._library = library
        self._links = column(parent=self, spacing=2)
        self.shown: list[str] = []
        self.lines: list[RunLine] = []
        for news in (library.runs_changed, library.failed):
            news.connect(lambda *_: self.refresh())
        self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()  # a project may have been saved meanwhile

    def refresh(self) -> None:
        """Lists them again where they have changed."""
        runs = self._library.runs
        unsaved = unsaved_projects(runs, self._library.home)[:MAX_UNSAVED]
        links = [(f"Untitled ({group.title})", group.runs[0]) for group in unsaved]
        named = [(full_name(run), run) for run in recent_runs(runs)]
        words = [text for text, _ in [*links, *named]]
        self.setVisible(bool(words))
        if words != self.shown:
            self.shown = words
            self._list(links, named)
            self.listed.emit()
        for line, (_, run) in zip(self.lines, named, strict=True):
            line.show_run(run)

    def _list(
        self, links: Sequence[tuple[str, RunSummary]], named: Sequence[tuple[str, RunSummary]]
    ) -> None:
        while (item := self._links.takeAt(0)) is not None:
            if widget := item.widget():
                widget.hide()
                widget.deleteLater()
        if links:
            self._links.addWidget(plain_label("Unsaved projects", role="heading"))
        for text, run in links:
            self._links.addWidget(self._link(text, run))
        if named:
            self._links.addSpacing(10 if links else 0)
            self._links.addWidget(plain_label("Recent runs", role="heading"))
        self.lines = [RunLine(self._link(text, run), self._resume) for text, run in named]
        for line in self.lines:
            self._links.addWidget(line)

    def _link(self, text: str, run: RunSummary) -> TextButton:
        shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
        link = button(shown.replace("&", "&&"), role="link")
        link.setToolTip(plain_tip(f"{full_name(run)}\n{state_words(run)}"))
        link.clicked.connect(partial(self.chosen.emit, run.path))
        return link

    def _resume(self, path: Path) -> None:
        self._library.resume(path, wait=self._library.is_training)


class RunLine(QWidget):
    """A run's link; below it how far it is, where it goes on or is paused.

    Args:
        link: Opens the run's project.
        resume: Called with the folder of a paused run.
    """

    def __init__(self, link: TextButton, resume: Callable[[Path], None]) -> None:
        super().__init__()
        self.link = link
        self.state = plain_label(role="dim")
        self.resume = button("Resume", role="link")
        self.resume.clicked.connect(lambda _=False: self._ask(resume))
        self._path: Path | None = None
        self._below = QWidget()
        row(self.state, self.resume, STRETCH, parent=self._below, spacing=8)
        column(self.link, self._below, parent=self, spacing=0)

    def show_run(self, run: RunSummary) -> None:
        """Shows how far a run is; nothing of one that is over."""
        self._path = run.path
        is_unfinished = not run.is_over or is_paused(run)
        words = state_words(run) if is_unfinished else ""
        self.link.setToolTip(plain_tip(f"{full_name(run)}\n{state_words(run)}"))
        self.state.setText(words)
        self.resume.setVisible(is_paused(run))
        self._below.setVisible(is_unfinished)

    def _ask(self, resume: Callable[[Path], None]) -> None:
        self.resume.hide()  # a second press would start nothing
        if self._path is not None:
            resume(self._path)


def is_paused(run: RunSummary) -> bool:
    """Whether a run was paused and can go on."""
    return run.outcome == "paused" and run.can_resume


def recent_runs(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """The newest runs; before them those that train and the last paused ones, however old."""
    live = [run for run in runs if run.outcome in LIVE]
    paused = [run for run in runs if is_paused(run)]
    first = [*live, *paused[:MAX_PAUSED]]
    return [*first, *(run for run in runs if run not in first)][:MAX_RUNS]


def unsaved_projects(runs: Sequence[RunSummary], home: Path) -> list[RunGroup]:
    """The projects with an identity of which no file is there: their runs keep what they are."""
    groups = [group for group in group_runs(runs, None) if group.runs[0].project_id]
    places = read_places(home) if groups else {}
    return [each for each in groups if all(file_of(run, places) is None for run in each.runs)]


# network sketch ------------------------------------------------------------------------------
# A small drawing of a network: a bar for each layer, as tall as its image is large and
# as wide as it has channels. Drawn from the real shapes, so that no two look alike by chance.

_HEIGHT_PX = 84
_PAD_PX = 18
_GAP_PX = 6
_FLAT_PX = 10


class NetworkSketch(QWidget):
    """The band at the top of a card."""

    def __init__(self, theme: Theme, color: str, shapes: Sequence[Shape] = ()) -> None:
        super().__init__()
        self._theme = theme
        self._color = QColor(color)
        self._bars = bar_sizes(shapes)
        self.setFixedHeight(_HEIGHT_PX)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(240, _HEIGHT_PX)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter)
        if self._bars:
            self._paint_bars(painter)
        else:
            self._paint_empty(painter)

    def _paint_ground(self, painter: QPainter) -> None:
        strong, weak = QColor(self._color), QColor(self._color)
        strong.setAlpha(64 if self._theme.is_dark else 52)
        weak.setAlpha(20 if self._theme.is_dark else 18)
        gradient = QLinearGradient(0, 0, self.width(), self.height())
        gradient.setColorAt(0, strong)
        gradient.setColorAt(1, weak)
        path = QPainterPath()
        path.addRoundedRect(QRectF(0, 0, self.width(), self.height() + 10), 9, 9)
        painter.setClipRect(self.rect())
        painter.fillPath(path, gradient)

    def _paint_bars(self, painter: QPainter) -> None:
        room = self.width() - 2 * _PAD_PX
        wanted = sum(width for width, _ in self._bars) + _GAP_PX * (len(self._bars) - 1)
        scale = min(1.0, room / wanted)
        x = float(_PAD_PX)
        painter.setPen(Qt.PenStyle.NoPen)
        for index, (width, height) in enumerate(self._bars):
            color = QColor(self._color)
            color.setAlphaF(1.0 - 0.6 * index / max(len(self._bars) - 1, 1))
            painter.setBrush(color)
            bar = QRectF(x, (self.height() - height) / 2, max(width * scale, 2.0), height)
            painter.drawRoundedRect(bar, 3, 3)
            x += (width + _GAP_PX) * scale

    def _paint_empty(self, painter: QPainter) -> None:
        pen = QPen(self._color, 1.5, Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for index in range(3):
            x = _PAD_PX + index * 52
            painter.drawRoundedRect(QRectF(x, self.height() / 2 - 18, 40, 36), 5, 5)


def bar_sizes(shapes: Sequence[Shape]) -> list[tuple[float, float]]:
    """(width, height) in pixels of a bar for each shape; equal neighbors are drawn once.

    Sizes are logarithmic: from 4 to 192 pixels a side, and 1 to 1,000 channels, all stay
    distinguishable.
    """
    bars: list[tuple[float, float]] = []
    previous: Shape | None = None
    for shape in shapes:
        if shape == previous:
            continue
        previous = shape
        if len(shape) >= 3:
            side = max(shape[0], shape[1], 1)
            height = 10 + 46 * min(math.log2(side + 1) / math.log2(193), 1.0) ** 2
            width = 4 + 1.6 * math.log2(max(shape[-1], 1) + 1)
        else:
            height = float(_FLAT_PX)
            width = 10 + 2.2 * math.log2(max(shape[-1] if shape else 1, 1) + 1)
        bars.append((width, height))
    return bars
