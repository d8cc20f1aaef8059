"""The page the window starts with: networks that work, in one click."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from workbench.core.checks.shapes import propagate
from workbench.core.format import count
from workbench.core.params import defaults
from workbench.core.specs import Shape
from workbench.gui.common.context import WindowContext
from workbench.gui.common.window_state import WindowState
from workbench.gui.files.network_sketch import NetworkSketch
from workbench.gui.kit.buttons import TextButton, button
from workbench.gui.kit.cards import Card
from workbench.gui.kit.colors import CATEGORY_COLORS
from workbench.gui.kit.fonts import ui_font
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.wait_label import WaitLabel
from workbench.templates import Template, list_templates

_NUM_LARGE = 4
_MAX_RECENT_SHOWN = 6
_PAGE_PX = 1200
_MARK_PX = 12
_HERE, _ELSEWHERE = "●", "○"
"""Marks of a place that is there, and of the way to another."""

_TINTS = ("convolution", "pooling", "preprocessing", "regularisation", "core", "input")


class WelcomeView(QScrollArea):
    """Cards for the templates, own pictures and an empty canvas; recent projects; help.

    Choosing anything only tells: the window opens it.
    """

    template_chosen = Signal(str)
    empty_chosen = Signal()
    folder_chosen = Signal(str)
    file_chosen = Signal(str)
    help_asked = Signal(str)
    run_asked = Signal(str)
    connect_asked = Signal()

    def __init__(self, context: WindowContext, state: WindowState) -> None:
        super().__init__()
        self._context = context
        self._state = state
        self._cards: list[Card] = []
        self._templates = list_templates()
        self.wait = WaitLabel()
        self.setWidgetResizable(True)
        page = QWidget()
        self.setWidget(page)
        column = QVBoxLayout(page)
        column.setContentsMargins(48, 40, 48, 32)
        column.setSpacing(20)
        body = QWidget()
        body.setMaximumWidth(_PAGE_PX)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(body, 1000)
        row.addStretch(1)
        column.addLayout(row)
        column.addStretch(1)
        self._fill(body)

    def _fill(self, body: QWidget) -> None:
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        title = plain_label("Build it. Train it. Show it a picture.", role="title")
        title.setFont(ui_font(28, weight=600))
        column.addWidget(title)
        words = plain_label("Start from a working network.")
        words.setProperty("role", "dim")
        words.setFont(ui_font(15))
        column.addWidget(words)
        column.addWidget(self.wait)
        column.addSpacing(8)
        self._grid = QGridLayout()
        self._grid.setSpacing(18)
        column.addLayout(self._grid)
        column.addSpacing(22)
        self._make_cards()
        self._place_cards(3)
        column.addLayout(self._footer())

    def cards(self) -> list[Card]:
        """The cards, in their order."""
        return list(self._cards)

    def show_wait(self, words: str) -> None:
        """Says what is being done; "" when it is over."""
        if words:
            self.wait.wait_for(words)
        else:
            self.wait.say("")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_cards(3 if self.viewport().width() >= 860 else 2)

    # cards -------------------------------------------------------------------------

    def _make_cards(self) -> None:
        for index, template in enumerate(self._templates[:_NUM_LARGE]):
            card = self._card(
                template.title,
                template.summary,
                f"{count(template.parameters)} parameters · {template.note}".rstrip(" ·"),
                self._sketch(_TINTS[index], self._shapes(template)),
            )
            key = template.key
            card.clicked.connect(lambda key=key: self.template_chosen.emit(key))
        own = self._card(
            "Your own pictures",
            "A folder with one folder per class",
            "A network that fits your data",
            self._sketch(_TINTS[4], _own_shapes()),
        )
        own.clicked.connect(self._ask_folder)
        empty = self._card(
            "Blank canvas",
            "Build your own, layer by layer",
            "",
            self._sketch(_TINTS[5], ()),
        )
        empty.clicked.connect(self.empty_chosen)

    def _card(self, title: str, summary: str, note: str, sketch: QWidget) -> Card:
        card = Card(title)
        card.setAccessibleDescription(f"{summary}. {note}".strip(". "))
        card.body.addWidget(sketch)
        text = QVBoxLayout()
        text.setContentsMargins(16, 12, 16, 14)
        text.setSpacing(4)
        heading = plain_label(title, role="strong")
        heading.setFont(ui_font(14, weight=600))
        text.addWidget(heading)
        text.addWidget(plain_label(summary, role="dim", wrap=True))
        small = plain_label(note, role="dim", wrap=True)
        small.setFont(ui_font(12, tabular=True))
        text.addWidget(small)
        text.addStretch(1)
        card.body.addLayout(text, 1)
        self._cards.append(card)
        return card

    def _place_cards(self, columns: int) -> None:
        if self._grid.property("columns") == columns:
            return
        self._grid.setProperty("columns", columns)
        for index, card in enumerate(self._cards):
            self._grid.addWidget(card, index // columns, index % columns)
        for column in range(3):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def _sketch(self, tint: str, shapes: tuple[Shape, ...]) -> NetworkSketch:
        return NetworkSketch(self._context.theme, CATEGORY_COLORS[tint], shapes)

    def _shapes(self, template: Template) -> tuple[Shape, ...]:
        graph = template.project.graph
        shapes = propagate(graph, self._context.layers).shapes
        return tuple(shapes[node] for node in graph.order if node in shapes)

    def _ask_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(
            self, "Choose a folder with one folder per class", str(Path.home())
        )
        if folder:
            self.folder_chosen.emit(folder)

    # below the cards ---------------------------------------------------------------

    def _footer(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(40)
        self._recent = QVBoxLayout()
        self._targets = QVBoxLayout()
        for heading, column in (
            ("Recent", self._recent),
            ("More networks", self._more_networks()),
            ("Targets", self._targets),
            ("Learn", self._learn()),
        ):
            frame = QVBoxLayout()
            frame.setSpacing(8)
            frame.addWidget(plain_label(heading, role="heading"))
            column.setSpacing(2)
            frame.addLayout(column)
            frame.addStretch(1)
            row.addLayout(frame)
        row.addStretch(1)
        self._refresh_recent()
        self._state.recent_changed.connect(self._refresh_recent)
        # Asking what the machine has may take a moment: the page is shown first.
        QTimer.singleShot(0, self, self._fill_targets)
        return row

    def _more_networks(self) -> QVBoxLayout:
        column = QVBoxLayout()
        for template in self._templates[_NUM_LARGE:]:
            link = self._link(template.title)
            link.setToolTip(
                plain_tip(f"{template.summary}\n{count(template.parameters)} parameters")
            )
            key = template.key
            link.clicked.connect(lambda _=False, key=key: self.template_chosen.emit(key))
            column.addWidget(link)
        return column

    def _learn(self) -> QVBoxLayout:
        column = QVBoxLayout()
        pages = (
            ("Getting started", "getting_started"),
            ("Choosing layers", "layers_overview"),
            ("Training on a TPU", "tpu"),
            ("Keyboard shortcuts", "shortcuts"),
        )
        for title, page in pages:
            link = self._link(title)
            link.clicked.connect(lambda _=False, page=page: self.help_asked.emit(page))
            column.addWidget(link)
        return column

    def _refresh_recent(self) -> None:
        while (item := self._recent.takeAt(0)) is not None:
            if widget := item.widget():
                widget.deleteLater()
        paths = self._state.recent()[:_MAX_RECENT_SHOWN]
        if not paths:
            self._recent.addWidget(plain_label("Projects you open appear here.", role="dim"))
        for path in paths:
            link = self._link(Path(path).name)
            is_there = Path(path).is_file()
            link.setEnabled(is_there)
            link.setToolTip(plain_tip(path if is_there else f"{path} no longer exists"))
            link.clicked.connect(lambda _=False, path=path: self.file_chosen.emit(path))
            self._recent.addWidget(link)

    def _fill_targets(self) -> None:
        for spec in self._context.targets.values():
            if not spec.is_offered() or spec.presets[0]:
                continue  # not here, or a way to use what is told already
            what = plain_label(spec.describe(defaults(spec.params)), role="dim")
            title = plain_label(spec.title, role="strong")
            self._targets.addLayout(_marked(_HERE, title, what))
        connect = self._link("Connect a TPU…")
        connect.clicked.connect(self.connect_asked)
        self._targets.addLayout(_marked(_ELSEWHERE, connect))
        self._running = self._link("")
        self._running.clicked.connect(lambda: self.run_asked.emit(self._running_path))
        self._targets.addWidget(self._running)
        self._context.library.runs_changed.connect(self._show_running)
        self._show_running()

    def _show_running(self) -> None:
        """A training goes on without the window: who opens it again finds it here."""
        runs = self._context.library.runs
        living = [run for run in runs if run.outcome in ("running", "silent")]
        self._running_path = str(living[0].path) if living else ""
        self._running.setText(f"{living[0].title} is training".replace("&", "&&") if living else "")
        self._running.setVisible(bool(living))

    def _link(self, text: str) -> TextButton:
        return button(text.replace("&", "&&"), role="link")


def _marked(mark: str, *parts: QWidget) -> QHBoxLayout:
    """A place to train behind its mark."""
    row = QHBoxLayout()
    row.setSpacing(6)
    sign = plain_label(mark, role="text" if mark == _HERE else "dim")
    sign.setFixedWidth(_MARK_PX)
    row.addWidget(sign)
    for part in parts:
        row.addWidget(part)
    row.addStretch(1)
    return row


def _own_shapes() -> tuple[Shape, ...]:
    return ((96, 96, 3), (96, 96, 24), (48, 48, 48), (24, 24, 64), (12, 12, 96), (96,), (5,))
