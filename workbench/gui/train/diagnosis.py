"""The findings on the run that is shown, and what is done with them.

Applying a suggestion is an edit of the project; the run is not touched.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QToolButton, QWidget

from workbench.client.diagnosis import RunDiagnosis
from workbench.client.run_follower import RunFollower
from workbench.core.coach import Advice, Evidence, change_words, holds
from workbench.core.format import count
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.kit.buttons import IconButton, button
from workbench.gui.kit.labels import plain_label, plain_tip, set_role
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme, ui_font
from workbench.gui.train.run_pages import RunPages
from workbench.protocol.events import RunEvent
from workbench.runs.log.coaching import watched_words

# strip ---------------------------------------------------------------------------------------
# A finding on the run that is shown: two sentences, the figures behind it, and what to try.

_ICON_PX = 16
_FRAMED = (12, 6, 12, 8)
"""Margins within the border, in pixels; where nothing is found there is none."""
_ROOMY_PX = 760
"""A view that is lower than this shows the finding in one line, until it is opened."""

_HEALTHY = "Diagnosis: nothing to report"


class DiagnosisStrip(QFrame):
    """Hidden until a run was looked at; one line while nothing is found.

    Signals:
        epochs_wanted(object): Evidence whose epochs are to be marked in its curve; None for none.
        apply_wanted(object): The Advice whose change is to be applied.
        shown_changed: Another finding is shown, or none.

    Attributes:
        apply: The button that applies the change of the finding that is shown.
        mark: The button that marks its epochs in the curve, while it is down.
    """

    epochs_wanted = Signal(object)
    apply_wanted = Signal(object)
    shown_changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName("Diagnosis")
        self._theme = theme
        self._findings: tuple[Advice, ...] = ()
        self._rule = ""
        self._is_open: bool | None = None
        self._icon = QLabel()
        self.head = QToolButton()
        self.head.setProperty("role", "fold")
        self.head.setProperty("strong", True)
        self.head.setFont(ui_font(weight=600))
        self.head.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.healthy = plain_label(_HEALTHY, role="dim")
        self.place = plain_label(role="dim")
        self.previous = IconButton(theme, "left", "Previous finding", size_px=14)
        self.next = IconButton(theme, "right", "Next finding", size_px=14)
        self.words = plain_label(wrap=True)
        self.figures = plain_label(role="dim", wrap=True)
        self.mark = button("")
        self.mark.setCheckable(True)
        self.apply = button("")
        self.change = plain_label(role="dim", wrap=True)
        self._body = QWidget()
        self._build()
        theme.changed.connect(self._refresh_icon)
        self._refresh_icon()
        self.hide()

    def _build(self) -> None:
        self.words.setTextInteractionFlags(self.words.textInteractionFlags().TextSelectableByMouse)
        tried = row(self.mark, self.apply, STRETCH, spacing=8)
        column(self.words, self.figures, self.change, tried, parent=self._body, spacing=6)
        parts = (self._icon, self.head, self.healthy, STRETCH)
        head = row(*parts, self.place, self.previous, self.next, spacing=2)
        self._column = column(head, self._body, parent=self, spacing=4)
        self.head.clicked.connect(self._on_head)
        self.previous.clicked.connect(lambda: self._step(-1))
        self.next.clicked.connect(lambda: self._step(1))
        self.mark.toggled.connect(self._on_mark)
        self.apply.clicked.connect(lambda: self.apply_wanted.emit(self.shown))

    @property
    def shown(self) -> Advice | None:
        """The finding that is shown."""
        found = (each for each in self._findings if each.rule == self._rule)
        return next(found, self._findings[0] if self._findings else None)

    def show_findings(self, findings: Sequence[Advice], watched: str, *, epochs: int) -> None:
        """Shows what was found in so many epochs: the gravest, or the one that was chosen."""
        before, self._findings = self.shown, tuple(findings)
        after = self.shown
        if after is None or before is None or after.rule != before.rule:
            self.mark.setChecked(False)
        elif self.mark.isChecked() and after.evidence != before.evidence:
            self._on_mark(is_down=True)
        self.setVisible(bool(epochs))
        self.setToolTip("" if findings else plain_tip(watched))
        self._refresh()

    def show_change(
        self, words: str, button_text: str, *, reason: str = "", is_done: bool = False
    ) -> None:
        """Shows the change that the finding suggests.

        Args:
            words: The values in words; "" where there is no change.
            button_text: What the button does, or that it is done.
            reason: Why it cannot be applied; "" where it can.
            is_done: The project has these values.
        """
        self.apply.setText(button_text)
        self.apply.setVisible(bool(words))
        self.apply.setEnabled(bool(words) and not reason and not is_done)
        self.apply.setToolTip(plain_tip(reason or "Changes this project. Undo reverts this."))
        self.change.setText(". ".join(filter(None, (words, reason))))
        self.change.setVisible(bool(words))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """What is found opens where there is room."""
        super().resizeEvent(event)
        shown = self.shown
        if shown is not None and self._body.isHidden() == self.is_open:
            self._show_finding(shown)

    def _step(self, by: int) -> None:
        rules = [each.rule for each in self._findings]
        at = rules.index(self.shown.rule) if self.shown is not None else 0
        self._rule = rules[(at + by) % len(rules)]
        self.mark.setChecked(False)
        self._refresh()

    def _refresh(self) -> None:
        shown = self.shown
        has = shown is not None
        if shown is None or shown.rule != self._rule:
            self._rule = ""  # what was chosen is found no more
        set_role(self, "notice" if has else "")
        self._column.setContentsMargins(*(_FRAMED if has else (0, 0, 0, 0)))
        for part in (self._icon, self.head):
            part.setVisible(has)
        several = len(self._findings) > 1
        for part in (self.place, self.previous, self.next):
            part.setVisible(several)
        self.healthy.setVisible(not has)
        if shown is None:
            self._body.hide()
        else:
            at = [each.rule for each in self._findings].index(shown.rule) + 1
            self.place.setText(f"{count(at)} of {count(len(self._findings))}")
            self._show_finding(shown)
        self.shown_changed.emit()

    def _show_finding(self, shown: Advice) -> None:
        is_open = self.is_open
        self._body.setVisible(is_open)
        self.head.setText(shown.title)
        self.head.setAccessibleName(f"Diagnosis: {shown.title}")
        self.head.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
        self.head.setToolTip("" if is_open else plain_tip(shown.observation))
        self.words.setText(f"{shown.observation} {shown.recommendation}")
        figures = (f"{name}: {value}" for name, value in shown.evidence.figures)
        self.figures.setText("  ·  ".join(figures))
        self.mark.setVisible(bool(shown.evidence.last and shown.evidence.curve))
        self.mark.setText(f"Show {_epochs(shown.evidence)}")
        self.mark.setToolTip(f"Marks them in the {shown.evidence.curve} plot.")

    @property
    def is_open(self) -> bool:
        """Whether more than a line is shown: as last chosen, else where there is room."""
        return self._is_open if self._is_open is not None else self.window().height() >= _ROOMY_PX

    def _on_head(self) -> None:
        self._is_open = not self.is_open
        self._refresh()

    def _on_mark(self, is_down: bool) -> None:  # noqa: FBT001 - Qt's signal
        shown = self.shown
        if is_down and shown is not None:
            self._rule = shown.rule
        self.epochs_wanted.emit(shown.evidence if is_down and shown is not None else None)

    def _refresh_icon(self) -> None:
        icon = self._theme.icon("warning", self._theme.colors.warning)
        self._icon.setPixmap(icon.pixmap(_ICON_PX, _ICON_PX))


def _epochs(evidence: Evidence) -> str:
    """The epochs as a button names them."""
    first, last = count(max(1, evidence.first)), count(evidence.last)
    return f"epoch {last}" if first == last else f"epochs {first} to {last}"


# controller ----------------------------------------------------------------------------------
# Brings the findings on the run that is shown to their strip, and applies what they suggest.

_ELSEWHERE = "The run is of another project: open that to apply this"


class DiagnosisController(QObject):
    """Follows the run that the view shows; `said` what was changed, or why it was not."""

    said = Signal(str)

    def __init__(self, context: WindowContext, pages: RunPages, parent: QObject) -> None:
        super().__init__(parent)
        self._document = context.document
        self._pages = pages
        self.strip = DiagnosisStrip(context.theme)
        self.diagnosis = RunDiagnosis(context.library, self)
        self.diagnosis.changed.connect(self._show)
        self.strip.shown_changed.connect(self._show_change)
        self.strip.epochs_wanted.connect(self._mark)
        self.strip.apply_wanted.connect(self._apply)
        for changed in (context.document.edited, context.document.project_replaced):
            changed.connect(self._show_change)

    def set_follower(self, follower: RunFollower | None) -> None:
        """Shows what is found in another run."""
        self.diagnosis.set_follower(follower)

    def events_arrived(self, events: Sequence[RunEvent]) -> None:
        """The run has logged more."""
        self.diagnosis.events_arrived(events)

    def close(self) -> None:
        """Waits for a look that is under way."""
        self.diagnosis.close()

    def _show(self) -> None:
        found = self.diagnosis
        self.strip.show_findings(found.findings, watched_words(), epochs=found.epochs)

    def _show_change(self) -> None:
        shown, trained = self.strip.shown, self.diagnosis.project
        if shown is None or shown.change is None or trained is None:
            self.strip.show_change("", "")
            return
        change, is_own = shown.change, trained.id == self._document.project_id
        project = self._document.project if is_own else trained
        where = "training settings" if change.recipe else "network"
        if is_own and holds(project, change):
            # In the values of the run: it is against those that the project has changed.
            words = "; ".join(change_words(change, trained))
            self.strip.show_change(words, f"In the {where}", is_done=True)
        else:
            words, reason = "; ".join(change_words(change, project)), "" if is_own else _ELSEWHERE
            self.strip.show_change(words, f"Apply to the {where}", reason=reason)

    def _mark(self, evidence: Evidence | None) -> None:
        plots = self._pages.plots
        if evidence is None:
            plots.mark_epochs("", None)
            return
        self._pages.show_page("curves")
        plots.mark_epochs(evidence.curve, (max(1, evidence.first), evidence.last))

    def _apply(self, advice: Advice) -> None:
        if advice.change is None:
            return
        words = "; ".join(change_words(advice.change, self._document.project))
        try:
            self._document.apply_change(advice.change, f"Apply: {advice.title}")
        except WorkbenchError as error:
            self.said.emit(str(error))
        else:
            self.said.emit(f"{words}. Undo reverts this.")
