"""The page the window starts with: networks that work, in one click."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QWidget,
)

from workbench.core.checks.shapes import Propagation
from workbench.core.format import count
from workbench.core.params import defaults
from workbench.core.projects.texts import source_choice
from workbench.core.specs import Shape
from workbench.datasets.folder import SPEC as FOLDER
from workbench.gui.common.drops import file_patterns, file_source
from workbench.gui.common.view_spec import WindowServices
from workbench.gui.files.opening import KIND as DATA
from workbench.gui.files.welcome_cards import NetworkSketch, RecentRuns
from workbench.gui.kit.buttons import TextButton, button
from workbench.gui.kit.dialogs import ask_file, ask_folder, show_notice
from workbench.gui.kit.labels import ElidedLabel, plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, Gap, add_to, column, row
from workbench.gui.kit.theme import CATEGORY_COLORS, ui_font
from workbench.gui.kit.widgets import Card, WaitLabel
from workbench.remote.ssh.saved_hosts import saved_hosts
from workbench.runs.library.projects import full_name
from workbench.templates import Template, list_templates

_NUM_LARGE = 4
_MAX_RECENT_SHOWN = 6
_MAX_COMPUTERS_SHOWN = 4
_PAGE_PX = 1200
_MARK_PX = 12
_COMPUTER_PX = 180
_THREE_CARDS_PX, _FOUR_BLOCKS_PX = 860, 1180
"""Widths of the page from which on so many are side by side."""
_LONGEST_NAME = 40
_MARGIN_PX, _BLOCK_GAP_PX = 48, 40
_HERE, _ELSEWHERE = "●", "○"
"""Marks of a place that is there, and of the way to another."""

_TINTS = ("convolution", "pooling", "preprocessing", "regularization")
_OWN_SHAPES = ((96, 96, 3), (96, 96, 24), (48, 48, 48), (24, 24, 64), (12, 12, 96), (96,), (5,))
_PAGES = (
    ("Getting started", "getting_started"),
    ("Choosing layers", "layers_overview"),
    ("Training on a TPU", "tpu"),
)


class WelcomeView(QScrollArea):
    """Recent projects and runs, where there are any; cards for the templates, own images and an
    empty canvas; help.
    """

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._context = services.context
        self._cards: list[Card] = []
        self._notes: list[tuple[QLabel, Template, Callable[[Template], str]]] = []
        self._templates = list_templates()
        self.wait = WaitLabel()
        self.cancel = button("Cancel")
        self.cancel.clicked.connect(lambda _=False: services.cancel_start())
        self.cancel.hide()
        self.back = button("", icon="revert", theme=self._context.theme)
        self.back.clicked.connect(lambda _=False: services.leave_start())
        services.counting.connect(self.show_wait)
        self.setWidgetResizable(True)
        page, body = QWidget(), QWidget()
        self.setWidget(page)
        body.setMaximumWidth(_PAGE_PX)
        middle = row(STRETCH, (body, 1000), STRETCH)
        column(middle, STRETCH, parent=page, margins=(_MARGIN_PX, 40, _MARGIN_PX, 32), spacing=20)
        title = plain_label("Build it. Train it. Show it a picture.", role="title")
        title.setFont(ui_font(28, weight=600))
        words = plain_label("Start from a working network.", role="dim")
        words.setFont(ui_font(15))
        self._grid = QGridLayout()
        self._grid.setSpacing(18)
        self._make_cards()
        self._place_cards(3)
        self._make_recent()
        self._below = self._footer()
        self._place_footer(4)
        head = self._head = row(column(title, words, spacing=6), STRETCH)
        head.addWidget(self.back, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        waiting = row((self.wait, 1), self.cancel, spacing=12)
        parts = (head, waiting, self.recent, self._grid, Gap(22), self._below)
        column(*parts, parent=body, spacing=6)

    def cards(self) -> list[Card]:
        """The cards, in their order."""
        return list(self._cards)

    def show_wait(self, words: str) -> None:
        """Says what is being done; "" when it is over."""
        (self.wait.wait_for if words else self.wait.say)(words)
        self.cancel.setVisible(bool(words))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        name = self._services.project_name()
        self.back.setText(f"Back to {_shortened(name)}".replace("&", "&&"))
        self.back.setToolTip(plain_tip(name))
        self.back.setVisible(bool(name))
        self._refresh_saved()
        self._refresh_notes()
        self._place_footer(self._num_blocks_beside(self.viewport().width()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        width = self.viewport().width()
        self._place_cards(3 if width >= _THREE_CARDS_PX else 2)
        ways = QBoxLayout.Direction
        beside = width >= _THREE_CARDS_PX
        for line in (self._head, self._recent_row):
            line.setDirection(ways.LeftToRight if beside else ways.TopToBottom)
        self._place_footer(self._num_blocks_beside(width))

    # cards -------------------------------------------------------------------------

    def _make_cards(self) -> None:
        for tint, template in zip(_TINTS, self._templates[:_NUM_LARGE], strict=True):
            words = (template.summary, _notes(template))
            follow = partial(self._services.new_project, template.project)
            shapes = self._shapes(template)
            card, note = self._card(template.title, *words, tint, shapes, follow=follow)
            card.setToolTip(plain_tip(template.differs_note))
            described = (card.accessibleDescription(), template.differs_note)
            card.setAccessibleDescription(". ".join(filter(None, described)))
            self._notes.append((note, template, _notes))
        needs = _sentence(FOLDER.availability({}))
        words = ("A folder with one folder per class", f"A network that fits your data\n{needs}")
        own, _ = self._card("Your own pictures", *words, "core", _OWN_SHAPES)
        own.clicked.connect(self._ask_folder)
        self.choose_file = self._link("Choose a ZIP, TAR or CSV file…", self._ask_file)
        own.body.addLayout(row(Gap(15), self.choose_file, STRETCH))
        own.body.addSpacing(10)
        words = ("Build your own, layer by layer", "")
        follow = partial(self._services.new_project, None)
        self._card("Blank canvas", *words, "input", (), follow=follow)

    def _card(
        self,
        title: str,
        summary: str,
        note: str,
        tint: str,
        shapes: Sequence[Shape],
        *,
        follow: Callable[[], object] | None = None,
    ) -> tuple[Card, QLabel]:
        """The card and the label of its note; a click on it opens what `follow` does."""
        card = Card(title)
        card.setAccessibleDescription(". ".join(filter(None, (summary, *note.splitlines()))))
        sketch = NetworkSketch(self._context.theme, CATEGORY_COLORS[tint], shapes)
        heading = plain_label(title, role="strong")
        heading.setFont(ui_font(14, weight=600))
        small = plain_label(note, role="dim", wrap=True)
        small.setFont(ui_font(12, tabular=True))
        parts = (heading, plain_label(summary, role="dim", wrap=True), small, STRETCH)
        add_to(card.body, sketch, (column(*parts, margins=(16, 12, 16, 14), spacing=4), 1))
        self._cards.append(card)
        if follow is not None:
            card.clicked.connect(lambda: _opening(heading, f"Opening {title}…", follow))
        return card, small

    def _refresh_notes(self) -> None:
        """What was downloaded since is there now."""
        for label, template, words in self._notes:
            label.setText(words(template))

    def _place_cards(self, columns: int) -> None:
        if self._grid.property("columns") == columns:
            return
        self._grid.setProperty("columns", columns)
        for index, card in enumerate(self._cards):
            self._grid.addWidget(card, index // columns, index % columns)
        for place in range(3):
            self._grid.setColumnStretch(place, 1 if place < columns else 0)

    def _shapes(self, template: Template) -> tuple[Shape, ...]:
        graph = template.project.graph
        shapes = Propagation(graph, self._context.layers).shapes
        return tuple(shapes[node] for node in graph.order if node in shapes)

    def _ask_folder(self) -> None:
        folder = ask_folder(self, "Choose a folder with one folder per class", kind=DATA)
        if folder:
            self._services.start_from_data(source_choice(FOLDER, folder))

    def _ask_file(self) -> None:
        patterns = " ".join(file_patterns())
        filters = f"Images with labels ({patterns});;All files (*)"
        path = ask_file(self, "Choose a file with images of each class", filters, kind=DATA)
        spec = file_source(Path(path).name) if path else None
        if spec is not None:
            self._services.start_from_data(source_choice(spec, path))
        elif path:
            show_notice(self, "This file does not have images of classes.", f"Expected: {patterns}")

    # below the cards ---------------------------------------------------------------

    def _make_recent(self) -> None:
        """For who returns: above all else. Nothing for who is here for the first time."""
        self.recent = QWidget()
        self._recent = column(spacing=2)
        self._recent_heading = plain_label("Recent projects", role="heading")
        self.recent_runs = RecentRuns(self._context.library)
        self.recent_runs.chosen.connect(self._services.open_run)
        self.recent_runs.listed.connect(self._show_recent)
        projects = column(self._recent_heading, self._recent, STRETCH, spacing=6)
        runs = column(self.recent_runs, STRETCH)
        self._recent_row = row(projects, runs, STRETCH, spacing=_BLOCK_GAP_PX)
        column(self._recent_row, parent=self.recent, margins=(0, 0, 0, 14))
        self._refresh_recent()
        self._services.state.recent_changed.connect(self._refresh_recent)

    def _show_recent(self) -> None:
        has_projects = self._recent.count() > 0
        self._recent_heading.setVisible(has_projects)
        self.recent.setVisible(has_projects or bool(self.recent_runs.shown))

    def _footer(self) -> QGridLayout:
        self._targets, self._elsewhere = column(spacing=2), column(spacing=2)
        self.saved = QWidget()
        self._saved = column(parent=self.saved, spacing=2)
        networks = column(*map(self._network, self._templates[_NUM_LARGE:]), spacing=2)
        help_page = self._services.show_help
        pages = [self._link(title, partial(help_page, page)) for title, page in _PAGES]
        shortcuts = self._link("Keyboard shortcuts", self._services.show_shortcuts)
        columns = {
            "More networks": networks,
            "Targets": column(self._targets, self.saved, self._elsewhere, spacing=2),
            "Learn": column(*pages, shortcuts, spacing=2),
        }
        self._services.hosts_changed.connect(self._refresh_saved)
        # Asking what the machine has may take a moment: the page is shown first.
        QTimer.singleShot(0, self, self._fill_targets)
        self._blocks = []
        for heading, below in columns.items():
            block = QWidget()
            column(plain_label(heading, role="heading"), below, STRETCH, parent=block, spacing=8)
            self._blocks.append(block)
        grid = QGridLayout()
        grid.setHorizontalSpacing(_BLOCK_GAP_PX)
        grid.setVerticalSpacing(22)
        return grid

    def _num_blocks_beside(self, width: int) -> int:
        """In how many columns the blocks below the cards fit: 4, 2 or 1."""
        if width >= _FOUR_BLOCKS_PX:
            return len(self._blocks)
        wide = [block.sizeHint().width() for block in self._blocks]
        pairs = max(wide[::2]) + max(wide[1::2]) + _BLOCK_GAP_PX
        return 2 if pairs <= width - 2 * _MARGIN_PX else 1

    def _place_footer(self, columns: int) -> None:
        if self._below.property("columns") == columns:
            return
        self._below.setProperty("columns", columns)
        for index, block in enumerate(self._blocks):
            self._below.addWidget(block, index // columns, index % columns)
        self._below.setColumnStretch(len(self._blocks), 1)

    def _network(self, template: Template) -> QHBoxLayout:
        open_it = partial(self._services.new_project, template.project)
        link = self._link(template.title, open_it, is_opening=True)
        lines = (template.summary, _notes(template), template.differs_note)
        link.setToolTip(plain_tip("\n".join(filter(None, lines))))
        note = plain_label(template.data_note, role="dim")
        self._notes.append((note, template, lambda each: each.data_note))
        return row(link, note, STRETCH, spacing=8)

    def _refresh_recent(self) -> None:
        while (item := self._recent.takeAt(0)) is not None:
            if widget := item.widget():
                widget.hide()
                widget.deleteLater()
        paths = self._services.state.recent()[:_MAX_RECENT_SHOWN]
        for path in paths:
            open_it = partial(self._services.open_project, path)
            link = self._link(_shortened(Path(path).name), open_it, is_opening=True)
            is_there = Path(path).is_file()
            link.setEnabled(is_there)
            link.setToolTip(plain_tip(path if is_there else f"{path} no longer exists"))
            self._recent.addWidget(link)
        self._show_recent()

    def _fill_targets(self) -> None:
        for spec in self._context.targets.values():
            if not spec.is_offered() or spec.presets[0]:
                continue  # not here, or a way to use what is listed already
            what = plain_label(spec.describe(defaults(spec.params)), role="dim")
            title = plain_label(spec.title, role="strong")
            self._targets.addLayout(_marked(_HERE, title, what))
        connect = self._link("Connect a TPU…", partial(self._services.ask_target, "connect"))
        self._running = self._link("", self._watch)
        add_to(self._elsewhere, _marked(_ELSEWHERE, connect), self._running)
        self._context.library.runs_changed.connect(self._show_running)
        self._show_running()

    def _refresh_saved(self) -> None:
        """Lists the computers that were connected before; nothing is connected for it."""
        while (item := self._saved.takeAt(0)) is not None:
            if widget := item.widget():
                widget.hide()
                widget.deleteLater()
        known = saved_hosts()[:_MAX_COMPUTERS_SHOWN]
        for host in known:
            line = QWidget()
            words = " · ".join(filter(None, (host.label, host.words)))
            text = ElidedLabel(words, mode=Qt.TextElideMode.ElideRight)
            tip = " · ".join(filter(None, (host.name, host.address, host.words)))
            text.setToolTip(plain_tip(tip))
            text.setMinimumWidth(_COMPUTER_PX)
            row(_sign(_ELSEWHERE), (text, 1), parent=line, spacing=6)
            self._saved.addWidget(line)
        self.saved.setVisible(bool(known))

    def _show_running(self) -> None:
        """A training goes on without the window: who opens it again finds it here."""
        runs = self._context.library.runs
        running = [run for run in runs if run.outcome in ("running", "silent")]
        self._running_path = str(running[0].path) if running else ""
        self._running.setText(
            f"{full_name(running[0])} is training".replace("&", "&&") if running else ""
        )
        self._running.setVisible(bool(running))

    def _watch(self) -> None:
        self._services.open_run(Path(self._running_path))

    def _link(
        self, text: str, follow: Callable[[], object], *, is_opening: bool = False
    ) -> TextButton:
        link = button(text.replace("&", "&&"), role="link")
        if is_opening:
            link.clicked.connect(lambda _=False: _opening(link, "Opening…", follow))
        else:
            link.clicked.connect(lambda _=False: follow())
        return link


def _opening(sign: QLabel | QPushButton, words: str, follow: Callable[[], object]) -> None:
    """Does what may take seconds, such as loading the code of a view: the words of what was
    clicked are there before it begins.
    """
    before = sign.text()
    sign.setText(words)
    sign.repaint()
    follow()
    sign.setText(before)


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _notes(template: Template) -> str:
    """What is worth knowing of a network before it is chosen, in lines. Looks at the disk."""
    size = f"{count(template.parameters)} parameters · {template.note}"
    lines = (size, _sentence(template.data_note))
    return "\n".join(filter(None, lines))


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"


def _marked(mark: str, *parts: QWidget) -> QHBoxLayout:
    """A place to train behind its mark."""
    return row(_sign(mark), *parts, STRETCH, spacing=6)


def _sign(mark: str) -> QWidget:
    sign = plain_label(mark, role="text" if mark == _HERE else "dim")
    sign.setFixedWidth(_MARK_PX)
    return sign
