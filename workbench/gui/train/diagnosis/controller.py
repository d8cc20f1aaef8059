"""Brings the findings on the run that is shown to their strip, and applies what they suggest."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from workbench.client.diagnosis import RunDiagnosis
from workbench.client.run_follower import RunFollower
from workbench.core.coach.advice import Advice, Evidence, change_words, holds
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.train.diagnosis.strip import DiagnosisStrip
from workbench.gui.train.run_pages import RunPages
from workbench.protocol.events import RunEvent
from workbench.runs.log.coaching import watched_words

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
