"""The bar below the menus: undo and redo, the switch of views, the target, Train."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QToolBar, QWidget

from workbench.core.format import plural, share
from workbench.core.params import check_all
from workbench.gui.common.context import WindowContext
from workbench.gui.common.run_text import quoted_name
from workbench.gui.kit.buttons import ElidedButton, IconButton, SegmentedSwitch, TextButton
from workbench.gui.kit.labels import action_tip, plain_tip, with_key
from workbench.gui.kit.layout import STRETCH, row
from workbench.gui.targets.controller import TargetMenu
from workbench.gui.views import project_views
from workbench.remote.ssh.saved_hosts import label_of
from workbench.runs.library.summary import RunSummary

_SIDE_PX, _NARROW_SIDE_PX = 12, 4
"""Margins of the bar; the narrow ones where its parts give way."""

_LEAST_PX = ElidedButton.least_words_px


class _Step(NamedTuple):
    """What is left of the bar: whether the chip has all its words, the button that queues has
    words, undo and redo are shown; and the least width of the words of the target, in pixels.
    """

    is_whole: bool
    has_words: bool
    has_history: bool
    least_px: int


_STEPS = (
    _Step(True, True, True, _LEAST_PX),
    _Step(False, True, True, _LEAST_PX),
    _Step(False, False, True, _LEAST_PX),
    _Step(False, False, True, 0),
    _Step(False, False, False, _LEAST_PX),
    _Step(False, False, False, 0),
)
"""Steps that are tried one after the other, until there is room."""


class TopBar(QToolBar):
    """Its parts emit what was clicked; the window does it.

    Signals:
        run_wanted: Folder of the run of another project that trains: it shall be shown.

    Attributes:
        is_running: Whether a run of the open project goes on.
        switch: Chooses a view.
        target: The place to train.
        targets: The menu of `target`.
        train: Train, or Stop while `is_running`.
        next: Train this project when what runs has ended.
        elsewhere: The run of another project that trains, and how far it is.
    """

    run_wanted = Signal(Path)

    def __init__(self, context: WindowContext, undo: QAction, redo: QAction) -> None:
        super().__init__("Tools")
        self.setObjectName("main_tools")
        self.setMovable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self._context = context
        self.is_running = False
        self._target_problem = ""
        self.switch = SegmentedSwitch([(spec.key, spec.title) for spec in project_views()])
        for spec in project_views():
            tip = with_key(spec.tip.rstrip("."), QKeySequence(spec.shortcut))
            self.switch.set_tip(spec.key, tip)
        self.target = ElidedButton("Target", icon="computer", theme=context.theme)
        self.target.setObjectName("target_chip")
        self.train = TextButton("Train", role="primary", icon="train", theme=context.theme)
        self.train.setObjectName("train_button")
        self.next = TextButton("Add to queue", role="", icon="clock", theme=context.theme)
        self.next.setObjectName("next_button")
        self.elsewhere = ElidedButton("", icon="chart", theme=context.theme)
        self.elsewhere.setObjectName("elsewhere_chip")
        self.elsewhere.setAccessibleName("Run of another project")
        self.elsewhere.clicked.connect(self._on_elsewhere)
        self._ahead: RunSummary | None = None
        document = context.document
        self.targets = TargetMenu(context.targets, lambda: document.project.target, parent=self)
        self.target.setMenu(self.targets)
        self._history = [self._follow(undo, "undo"), self._follow(redo, "redo")]
        self._next_words = self._train_words = ""
        self._chip_words = self._chip_share = ""
        self._build()
        document.target_changed.connect(self.refresh_target)
        document.project_replaced.connect(self.refresh_target)
        # Asking what the machine has may take a moment: the window is shown first.
        QTimer.singleShot(0, self, self.refresh_target)
        self.show_state(is_running=False, reason="")

    def changeEvent(self, event: QEvent) -> None:
        """Keeps the margins: Qt takes other ones before the style sheet applies than after."""
        super().changeEvent(event)
        layout = self.layout()
        if layout is not None and event.type() == QEvent.Type.StyleChange:
            layout.setContentsMargins(0, 0, 0, 0)

    def show_state(
        self,
        *,
        is_running: bool,
        is_stopping: bool = False,
        is_pausing: bool = False,
        leads_on: bool = False,
        reason: str,
        num_waiting: int = 0,
        running: RunSummary | None = None,
    ) -> None:
        """Makes the button Train, Stop where the project's own run goes on, or "Add to queue"
        where another project's does; while a run goes on another takes the next one.

        Args:
            is_running: A run of the open project goes on.
            is_stopping: Its stop was requested.
            is_pausing: Its pause was requested; it can still be stopped instead.
            leads_on: A run is to be resumed first: Train is no main button beside Resume.
            reason: Why training cannot start, "" when it can; shown as the tooltip. The
                button still takes clicks then, so that the reason can be looked at.
            num_waiting: Runs that wait for their turn.
            running: That run; None where it is not listed yet.
        """
        self.is_running = is_running
        self._show_next(reason, num_waiting)
        self.train.setProperty("blocked", bool(reason) and not is_running)
        if is_running:
            tip = f"Ends {quoted_name(running)} after this step (Shift+F5). The weights are saved."
            if is_pausing:
                tip = f"The run is being paused. Stop ends it instead:\n{tip}"
            words = "Stopping…" if is_stopping else "Stop"
            self.train.set_look(words, role="stop", icon="stop")
            self.train.setAccessibleName(words)
        else:
            tip = self._show_start(reason, num_waiting, "" if leads_on else "primary")
        self._give_room()
        self.train.setEnabled(not is_stopping)
        self.train.setToolTip(plain_tip(tip))

    def _show_start(self, reason: str, num_waiting: int, role: str) -> str:
        """Makes the button one that starts a run, or lets it wait; returns its tooltip."""
        ahead = self._ahead
        words, icon = ("Train", "train") if ahead is None else ("Add to queue", "clock")
        self.train.set_look(words, role=role, icon=icon)
        self.train.setAccessibleName(words)
        self._train_words = words
        if reason:
            return f"{reason}\nClick to see the problem."
        is_free = ahead is None
        return "Starts a run (F5)." if is_free else _queue_tip(quoted_name(ahead), num_waiting)

    def _show_next(self, reason: str, num_waiting: int) -> None:
        self.next.setVisible(self.is_running)
        self._next_words = f"Add to queue ({num_waiting})" if num_waiting else "Add to queue"
        self.next.setAccessibleName(self._next_words)
        tip = _queue_tip("the current run", num_waiting)
        self.next.setProperty("blocked", bool(reason))
        self.next.refresh_icon()
        self.next.setToolTip(plain_tip(f"{reason}\nClick to see the problem." if reason else tip))

    def show_elsewhere(self, run: RunSummary | None, words: str, part: float = 0) -> None:
        """Shows the run of another project that goes on, and how far it is; None for none. Called
        before `show_state`.

        Args:
            run: That run.
            words: Its project, and how far it is.
            part: How far, 0..1; 0 where it has not begun.
        """
        self._ahead = run
        self.elsewhere.setVisible(run is not None)
        if run is None:
            return
        self._chip_words, self._chip_share = words.replace("&", "&&"), share(part, 0)
        self.elsewhere.set_look(self._chip_words, role="", icon="chart")
        tip = f"{quoted_name(run)} is being trained. Click to open its project with this run."
        self.elsewhere.setToolTip(plain_tip(f"{words}\n{tip}"))
        self.elsewhere.setAccessibleName(words)

    def _on_elsewhere(self) -> None:
        if self._ahead is not None:
            self.run_wanted.emit(self._ahead.path)

    def _follow(self, action: QAction, icon: str) -> IconButton:
        result = IconButton(self._context.theme, icon, icon.title(), role="framed", size_px=16)

        def refresh() -> None:
            result.setEnabled(action.isEnabled())
            result.setToolTip(action_tip(action))

        action.changed.connect(refresh)
        result.clicked.connect(action.trigger)
        refresh()
        return result

    def _build(self) -> None:
        """Both ends share the room beside the switch alike, so that it is in the middle."""
        self._left = left = row(*self._history, STRETCH, spacing=8)
        parts = (self.elsewhere, self.target, self.next, self.train)
        self._right = right = row(STRETCH, *parts, spacing=8)
        bar = QWidget()
        self._parts = row((left, 1), self.switch, (right, 1), parent=bar)
        bar.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(bar)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._give_room()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._give_room()  # the start page has no bar

    def _give_room(self) -> None:
        """The words of the target get all that the others leave, before the switch is centered.

        Where even that is too little, the words of the chip are a percentage, then those of the
        button that queues give way, then undo and redo, which the menu has too: a target is known
        by its words alone. At last these give way to its icon, and sooner where a run of another
        project would move the switch: it is where the hand looks for it.
        """
        for chip in (self.target, self.elsewhere):
            chip.setMinimumWidth(0)
        is_ahead = self._ahead is not None
        for step in _STEPS:
            is_icon = step.least_px == 0
            if step.has_history and is_icon and not is_ahead:
                continue
            self._show_step(step)
            spare, beside = self._spare_px()
            cut = self.target.sizeHint().width() - self.target.minimumSizeHint().width()
            needed = cut if step.has_history and not is_icon and not step.has_words else 0
            # Words that would move the switch when a run starts give way first.
            keeps_switch = step.has_words or (is_ahead and step.has_history and not is_icon)
            if not self.isVisible() or (spare >= needed and (beside >= 0 or not keeps_switch)):
                break
        room = max(0, min(spare, beside) if beside >= 0 else spare)
        for chip in (self.elsewhere, self.target):
            if chip is self.elsewhere and self._ahead is None:
                continue
            least, whole = chip.minimumSizeHint().width(), chip.sizeHint().width()
            chip.setMinimumWidth(min(whole, least + room))
            room = max(0, room - (whole - least))

    def _show_step(self, step: _Step) -> None:
        self.elsewhere.setText(self._chip_words if step.is_whole else self._chip_share)
        self.next.setText(self._next_words if step.has_words else "")
        if self._ahead is not None and not self.is_running:
            self.train.setText(self._train_words if step.has_words else "")
        self.target.least_words_px = step.least_px
        side = _SIDE_PX if step.has_history else _NARROW_SIDE_PX
        self._parts.setContentsMargins(side, 6, side, 6)
        for part in self._history:
            part.setVisible(step.has_history)

    def _spare_px(self) -> tuple[int, int]:
        """What the least widths of all parts leave; and of the right ones, while the switch is in
        the middle.
        """
        for part in (self._left, self._right, self._parts):  # a row in a row remembers its size
            part.invalidate()
        margins = self._parts.contentsMargins()
        inner = self.width() - margins.left() - margins.right()
        beside = (inner - self.switch.sizeHint().width()) // 2 - self._parts.spacing()
        right = self._right.totalMinimumSize().width()
        return self.width() - self._parts.totalMinimumSize().width(), beside - right

    def show_target_problem(self, words: str) -> None:
        """Marks the place to train as not ready; "" where it is."""
        self._target_problem = words
        self.refresh_target()

    def refresh_target(self) -> None:
        """Shows the project's place to train as it is called now."""
        choice = self._context.document.project.target
        label = label_of(choice)
        words = self._target_problem
        self.target.setProperty("level", "warning" if words else None)
        icon = "warning" if words else "computer"
        self.target.set_look(" " + label.replace("&", "&&"), role="", icon=icon)
        self._give_room()
        spec = self._context.targets.get(choice.key)
        if spec is None:
            self.target.setToolTip(plain_tip("This version does not support this target."))
            return
        what = spec.describe(check_all(spec.params, choice.params)[0])
        tip = "\n".join(filter(None, (f"Target: {spec.title}. {what}", words)))
        self.target.setToolTip(plain_tip(tip))
        self.target.setAccessibleName(f"Target: {label}, {words or what}")


def _queue_tip(ahead: str, num_waiting: int) -> str:
    before = f" {plural(num_waiting, 'run', 'runs')} before it." if num_waiting else ""
    return f"Queues this project; it trains when {ahead} has ended (F5).{before}"
