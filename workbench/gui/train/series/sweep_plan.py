"""What a sweep compares, as it is chosen: settings, their values, how often, and where."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QFrame, QMenu, QWidget

from workbench.checkup.analysed import CheckedSweep, check_sweep
from workbench.client.background import Background
from workbench.core.format import plural
from workbench.core.params import IntParam, check_all
from workbench.core.projects.project import Choice
from workbench.core.projects.texts import target_text
from workbench.core.registry import Registry
from workbench.core.specs import TargetSpec
from workbench.errors import ParamError, RunError, UsageError, WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.forms.number_field import NumberField
from workbench.gui.kit.buttons import ElidedButton, SegmentedSwitch, button
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, column, row, scroll_area
from workbench.gui.kit.widgets import WaitLabel
from workbench.gui.train.series.sweep_settings import AxisRow, SettingTree
from workbench.remote.ssh.saved_hosts import choice_line, label_of, target_choices
from workbench.runs.library.series import MAX_RUNS
from workbench.runs.library.sweep import Sweepable, SweepPlan, sweepable

# target button -------------------------------------------------------------------------------
# Where the runs of a sweep are trained: a button with a menu of targets, one or several.

_TEXT_PX = 460
_TIP = "With several targets the runs take turns on them; each computer has a queue of its own."


class TargetButton(ElidedButton):
    """Names the chosen targets; its menu has a check mark for each.

    Signals:
        changed: Other targets are chosen.
    """

    changed = Signal()

    def __init__(self, targets: Registry[TargetSpec]) -> None:
        super().__init__("")
        self._targets = targets
        self._own = Choice("")
        self._chosen: dict[str, Choice] = {}
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self._fill)
        self.setMenu(self._menu)
        self.setToolTip(plain_tip(_TIP))

    def set_own(self, own: Choice) -> None:
        """Sets the project's own target: the one that is used where none is chosen."""
        self._own = own
        self._show()

    def chosen(self) -> tuple[Choice, ...]:
        """The targets that take turns; () for the project's own alone."""
        return tuple(self._chosen.values())

    def _fill(self) -> None:
        self._menu.clear()
        for group in target_choices(self._targets, self._own):
            for choice, words in group:
                self._add(choice, words)
            self._menu.addSeparator()

    def _add(self, choice: Choice, words: str) -> None:
        line, text = choice_line(choice, words), target_text(choice, self._targets)
        side = Qt.TextElideMode.ElideRight
        shown = self._menu.fontMetrics().elidedText(line, side, _TEXT_PX)
        action = self._menu.addAction(shown.replace("&", "&&"))
        spec = self._targets[choice.key]
        action.setToolTip(plain_tip(spec.describe(check_all(spec.params, choice.params)[0])))
        action.setCheckable(True)
        own = target_text(self._own, self._targets)
        action.setChecked(text in self._chosen or (not self._chosen and text == own))
        action.toggled.connect(lambda on, text=text, choice=choice: self._set(text, choice, on))

    def _set(self, text: str, choice: Choice, is_on: bool) -> None:  # noqa: FBT001 - of a signal
        own = target_text(self._own, self._targets)
        if not self._chosen:
            self._chosen[own] = self._own
        if is_on:
            self._chosen[text] = choice
        else:
            self._chosen.pop(text, None)
        if list(self._chosen) == [own]:
            self._chosen.clear()
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        names = [label_of(each) for each in self._chosen.values()] or [label_of(self._own)]
        self.setText(names[0] if len(names) == 1 else plural(len(names), "target"))
        self.setAccessibleName(f"Targets: {', '.join(names)}")


# sweep plan ----------------------------------------------------------------------------------

_NUM_RANDOM = IntParam("combinations", 12, "", minimum=2, maximum=MAX_RUNS)
_DRAW_SEED = IntParam("draw seed", 0, "", minimum=0, maximum=2**31 - 1)
_SEEDS = IntParam("seeds", 1, "", minimum=1, maximum=20)
_CHECK_MS = 400
_FIELD_PX = 76
_EMPTY = "Check the settings to compare on the left: learning rate, widths, dropout…"
_STOPPING_TIP = (
    "Ends a run whose best validation accuracy is below the median of the completed runs, after a "
    "quarter of the epochs. It keeps its weights and can be resumed."
)


class SweepPlanPage(QWidget):
    """Settings on the left, their values on the right, and below what is to be done with them.

    Signals:
        start_asked(SweepPlan): The runs shall be queued.

    Attributes:
        settings: The settings of the project.
        rows: The values of those that are compared, by key.
        words: What will be trained, or why it cannot be.
        footer: The button, for the last line of the dialog.
    """

    start_asked = Signal(object)

    def __init__(self, context: WindowContext, background: Background) -> None:
        super().__init__()
        self._context = context
        self._document = context.document
        self._background = background
        self._settings: dict[str, Sweepable] = {}
        self._checked: CheckedSweep | None = None
        self._asked = 0
        self.rows: dict[str, AxisRow] = {}
        self.settings = SettingTree()
        self.order = SegmentedSwitch([("grid", "Grid"), ("random", "Random")])
        self._is_random = False
        self.num_random, self.draw_seed = NumberField(_NUM_RANDOM), NumberField(_DRAW_SEED)
        self.seeds = NumberField(_SEEDS)
        self.stopping = QCheckBox("Stop poor runs early (median stopping)")
        self.skip = QCheckBox()
        self.targets = TargetButton(context.targets)
        self.words = WaitLabel()
        self.start = button("Start", role="primary")
        self.footer = QWidget()
        self._empty = plain_label(_EMPTY, role="dim", wrap=True)
        self._timer = QTimer(self, singleShot=True, interval=_CHECK_MS)
        self._build()
        self._connect()
        self.refresh()

    def _build(self) -> None:
        self.order.set_current("grid")
        self.order.set_tip("grid", "All combinations of the values")
        self.order.set_tip("random", "Some combinations, drawn from the values and ranges")
        self.stopping.setChecked(True)
        self.stopping.setToolTip(plain_tip(_STOPPING_TIP))
        self.skip.hide()
        drawn, by, seeds = map(plain_label, ("combinations", "Draw seed", "Seeds"))
        self._of_random = (self.num_random, drawn, by, self.draw_seed)
        fields = ((drawn, self.num_random), (by, self.draw_seed), (seeds, self.seeds))
        for label, field in fields:
            label.setBuddy(field)
            field.setFixedWidth(_FIELD_PX)
            field.setAccessibleName(label.text().capitalize())
        inner = QFrame()
        self._rows = column(self._empty, STRETCH, parent=inner, spacing=8)
        above = row(self.settings, (scroll_area(inner), 1), spacing=14)
        order = row(self.order, *self._of_random, STRETCH, seeds, self.seeds, plain_label("on"),
                    self.targets, spacing=8)  # fmt: skip
        row(self.stopping, self.skip, STRETCH, self.start, parent=self.footer, spacing=14)
        parts = ((above, 1), order, self.words)
        column(*parts, parent=self, spacing=12)

    def _connect(self) -> None:
        self.settings.toggled.connect(self._on_toggled)
        self.order.chosen.connect(self._on_order)
        self.start.clicked.connect(self._on_start)
        self.stopping.toggled.connect(self.check_soon)
        self.skip.toggled.connect(self._show_checked)
        self.targets.changed.connect(self.check_soon)
        self._timer.timeout.connect(self._check)
        self._document.edited.connect(self.refresh)
        self._document.project_replaced.connect(self.refresh)
        for field in (self.num_random, self.draw_seed, self.seeds):
            field.entered.connect(lambda value, field=field: self._on_entered(field, value))

    def refresh(self) -> None:
        """The project has changed: its settings are listed again, what still is there is kept."""
        project = self._document.project
        self.targets.set_own(project.target)
        self._background.run(lambda: sweepable(project), self._show_settings)

    def _show_settings(self, settings: Sequence[Sweepable]) -> None:
        self._settings = {each.key: each for each in settings}
        for key in [key for key in self.rows if key not in self._settings]:
            self._remove(key)
        self.settings.set_settings(settings, self.rows)
        self._on_order("random" if self._is_random else "grid")

    def _on_toggled(self, key: str, is_on: bool) -> None:  # noqa: FBT001 - of a signal
        if not is_on:
            self._remove(key)
        elif key not in self.rows:
            added = self.rows[key] = AxisRow(self._context.theme, self._settings[key])
            added.set_random(is_random=self._is_random)
            added.changed.connect(self.check_soon)
            added.removed.connect(self._on_removed)
            self._rows.insertWidget(self._rows.count() - 1, added)
        self.check_soon()

    def _on_removed(self, key: str) -> None:
        self.settings.set_checked(key, is_checked=False)
        self._remove(key)
        self.check_soon()

    def _remove(self, key: str) -> None:
        gone = self.rows.pop(key, None)
        if gone is not None:
            self._rows.removeWidget(gone)
            gone.hide()
            gone.deleteLater()

    def _on_order(self, key: str) -> None:
        self._is_random = key == "random"
        self.order.set_current(key)
        for part in self._of_random:
            part.setVisible(self._is_random)
        for each in self.rows.values():
            each.set_random(is_random=self._is_random)
        self.check_soon()

    def _on_entered(self, field: NumberField, value: object) -> None:
        if isinstance(value, int | float):
            field.set_value(value)
        self.check_soon()

    # the plan ----------------------------------------------------------------------------

    def plan(self) -> SweepPlan:
        """The sweep that is chosen; raises ParamError, UsageError."""
        num_random = int(self.num_random.checked()) if self._is_random else 0
        return SweepPlan(
            self._document.project,
            tuple(each.axis() for each in self.rows.values()),
            num_random=num_random,
            draw_seed=int(self.draw_seed.checked()) if self._is_random else 0,
            seeds=int(self.seeds.checked()),
            targets=self.targets.chosen(),
            is_stopping=self.stopping.isChecked(),
        )

    def check_soon(self) -> None:
        """Checks the plan once no more is changed for a moment."""
        self._checked = None
        self._empty.setVisible(not self.rows)
        self.start.setEnabled(False)
        self._timer.start()

    def stop_checking(self) -> None:
        """Lets a check that is under way end; its result no longer counts."""
        self._timer.stop()
        self._asked += 1

    def set_queuing(self, *, is_queuing: bool) -> None:
        """Sets whether the runs are being queued: meanwhile the plan cannot be changed."""
        for part in (self, self.footer):
            part.setEnabled(not is_queuing)
        if is_queuing:
            self.words.wait_for("Queuing the runs")
        elif self._checked is None:
            self.check_soon()

    def _check(self) -> None:
        """Checks all combinations in another thread."""
        if not self.isEnabled():
            return
        self._asked += 1
        number = self._asked
        self.skip.hide()
        if not self.rows:
            self.words.say("")
            return
        try:
            plan = self.plan()
        except (ParamError, UsageError) as error:
            self.words.say(str(error), is_bad=True)
            return
        self.words.wait_for("Checking the combinations")

        def go_on() -> None:
            if number != self._asked:
                raise RunError("Canceled.")

        self._background.run(
            lambda: _checked(plan, go_on),
            lambda checked: self._on_checked(number, checked),
            lambda error: self._on_refused(number, error),
        )

    def _on_refused(self, number: int, error: WorkbenchError) -> None:
        if number == self._asked:
            self.words.say(str(error), is_bad=True)

    def _on_checked(self, number: int, checked: CheckedSweep) -> None:
        if number != self._asked or self._timer.isActive():
            return
        self._checked = checked
        self._show_checked()

    def _show_checked(self) -> None:
        checked = self._checked
        if checked is None:
            return
        num = len(checked.impossible)
        self.skip.setText(f"Leave out {plural(num, 'combination')} that cannot be trained")
        self.skip.setVisible(bool(num) and checked.has_runs)
        may_start = checked.has_runs and (not num or self.skip.isChecked())
        self.start.setEnabled(may_start)
        if may_start:
            self.words.say(f"{checked.words()}.")
        else:
            self.words.say(checked.impossible_words(), is_bad=True)

    def _on_start(self) -> None:
        if self._checked is not None:
            self.start_asked.emit(self._checked.possible)


def _checked(plan: SweepPlan, go_on: Callable[[], None]) -> CheckedSweep:
    """The check, with all that takes time: it is kept in the value."""
    checked = check_sweep(plan, go_on)
    if checked.has_runs:
        checked.words()
    return checked
