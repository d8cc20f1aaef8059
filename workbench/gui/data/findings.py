"""What the data check of the open project has found, and what was done about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from workbench.client.service_process import Handlers, Question
from workbench.core.data_check.findings import (
    KEEP,
    Action,
    Finding,
    State,
    Tally,
    reopened,
    state_of,
    with_actions,
)
from workbench.core.format import plural
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import project_text
from workbench.data_checks import all_data_checks
from workbench.errors import WorkbenchError
from workbench.gui.data.state import DataState
from workbench.protocol.data_check import CheckData, DataCheckReport, DataFindings
from workbench.protocol.describe_data import DataDescription

_Checked = tuple[Choice, Mapping[str, str]]
"""What was checked: a data set, with its classes as they are in the project."""


def _no_numbers() -> dict[str, dict[str, list[int]]]:
    """Rule -> group -> numbers of its findings, with every rule and no finding yet."""
    return {key: {} for key in all_data_checks()}


def _heading(rule: str, group: str) -> str:
    title = all_data_checks()[rule].title
    return f"{title}: {group}" if group else title


@dataclass(frozen=True)
class RuleFindings:
    """The findings below one heading: of one rule, or those of its groups that belong together.

    Attributes:
        rule: Key of the rule.
        title: The heading.
        numbers: Which findings.
        total: How many there are; only some are listed where there are very many.
    """

    rule: str
    title: str
    numbers: tuple[int, ...]
    total: int


class Findings(QObject):
    """Has the data checked by the worker for long work, and settles findings by edits of the
    document, so that undo is the document's.

    Signals:
        replaced(): There are other findings, or none any more.
        states_changed(): Something was done about a finding, or undone.
        busy_changed(bool): Whether the data is being checked.
        progressed(Progress): How far that is.
        failed(WorkbenchError): Why it cannot be checked.

    Attributes:
        found: The findings, the worst rules first.
        states: What was done about each.
        report: Counts of the last check; None before it, and once the next one has found something.
    """

    replaced = Signal()
    states_changed = Signal()
    busy_changed = Signal(bool)
    progressed = Signal(object)
    failed = Signal(object)

    def __init__(self, state: DataState) -> None:
        super().__init__(state)
        self._state = state
        self._document = state.context.document
        self._datasets = state.context.datasets
        self._question = Question(state.context.measurer)
        self.found: list[Finding] = []
        self.states: list[State] = []
        self.report: DataCheckReport | None = None
        self._is_stale = False
        self._checked: _Checked | None = None
        self._labels_of: Choice | None = None
        self._edits = DataEdits()
        self._of_content: dict[str, list[int]] = {}
        state.described.connect(self._on_described)
        for changed in (self._document.dataset_changed, self._document.project_replaced):
            changed.connect(self._on_replaced)
        self._document.edits_changed.connect(self._on_edits_changed)
        self._document.recipe_changed.connect(self._on_recipe_changed)
        for changed in (self.replaced, self.states_changed):
            changed.connect(lambda: state.context.findings.set_number(self.tally.open))

    # checking ----------------------------------------------------------------------------

    @property
    def is_busy(self) -> bool:
        """Whether the data is being checked."""
        return self._question.is_open

    @property
    def can_check(self) -> bool:
        """Whether there is data to check."""
        choice = self._document.project.dataset
        spec = self._datasets.get(choice.key)
        return spec is not None and not spec.unset(choice.params)

    def check(self, *, labels: bool = False) -> None:
        """Checks the data of the project; an earlier check is called off. What it found stays until
        there is something new.

        Args:
            labels: Also look for label errors.
        """
        self._question.drop()
        self._is_stale = True
        self._checked = self._present
        if labels:
            self._labels_of = self._document.project.dataset
        request = CheckData(id=0, project=project_text(self._document.project), labels=labels)
        handlers = Handlers(
            on_done=self._on_report,
            on_failed=self._on_failed,
            on_progress=self.progressed.emit,
            on_part=self._on_findings,
        )
        self._question.ask(request, handlers)
        self.busy_changed.emit(True)

    def cancel(self) -> None:
        """Ends the check; what was found until then stays."""
        self._question.cancel()

    def drop(self) -> None:
        """Forgets the findings, and calls a check off."""
        was_busy = self.is_busy
        self._question.drop()
        self._checked = None
        self._clear()
        self.replaced.emit()
        if was_busy:
            self.busy_changed.emit(False)

    @property
    def _present(self) -> _Checked:
        project = self._document.project
        return project.dataset, dict(project.edits.classes)

    def _on_described(self, description: DataDescription) -> None:
        """Own data is checked once it is described: published data is known."""
        if not description.is_complete:
            return
        if self._is_own and self._checked != self._present:
            # After an edit of the classes, too: what was asked for once is not taken away by it.
            self.check(labels=self._labels_of == self._document.project.dataset)

    @property
    def _is_own(self) -> bool:
        spec = self._datasets.get(self._document.project.dataset.key)
        return spec is not None and bool(spec.source_param)

    @property
    def is_awaited(self) -> bool:
        """Whether the check begins by itself once the images are read, which they are not yet."""
        description = self._state.description
        is_read = description is not None and description.is_complete
        return self._is_own and not is_read and self.report is None and not self.found

    def _on_replaced(self) -> None:
        if self._checked is not None and self._checked != self._present:
            self.drop()
        else:
            self._refresh(range(len(self.found)))

    def _clear(self) -> None:
        """Makes room for the findings of a new check."""
        self._is_stale, self.report = False, None
        self.found, self.states, self._of_content = [], [], {}

    def _on_findings(self, answer: DataFindings) -> None:
        if self._is_stale:
            self._clear()
        start = len(self.found)
        self.found += answer.findings
        project = self._document.project
        self._edits = project.edits
        self.states += [state_of(each, project) for each in answer.findings]
        for number, finding in enumerate(answer.findings, start):
            for image in finding.images:
                self._of_content.setdefault(image.content, []).append(number)
        self.replaced.emit()

    def _on_report(self, report: DataCheckReport) -> None:
        if self._is_stale:
            self._clear()
        self.report = report
        self.busy_changed.emit(False)
        self.replaced.emit()

    def _on_failed(self, error: WorkbenchError) -> None:
        self.busy_changed.emit(False)
        self.failed.emit(error)

    # what was done -----------------------------------------------------------------------

    @property
    def tally(self) -> Tally:
        """How many there are, by state."""
        return Tally(len(self.found), self.states.count("fixed"), self.states.count("kept"))

    def rules(self, states: Iterable[State]) -> list[RuleFindings]:
        """The findings that have one of some states, by rule; those without any are left out."""
        wanted, found = set(states), _no_numbers()
        for number, finding in enumerate(self.found):
            if self.states[number] in wanted and finding.rule in found:
                found[finding.rule].setdefault(finding.group, []).append(number)
        return [
            RuleFindings(
                key, _heading(key, group), tuple(numbers), self._total(key, group, numbers)
            )
            for key, groups in found.items()
            for group, numbers in groups.items()
        ]

    def _total(self, rule: str, group: str, numbers: Sequence[int]) -> int:
        """How many a rule has, with those that are not listed; a group has those that are."""
        counts = self.report.counts if self.report is not None and not group else []
        return len(numbers) + sum(each.total - each.listed for each in counts if each.rule == rule)

    def apply(self, number: int, action: Action) -> None:
        """Settles a finding: one undo step."""
        finding = self.found[number]
        self._settle([(finding, action)], f"{action.title}: {finding.title}")

    def apply_to_all(self, numbers: Sequence[int], key: str = "") -> None:
        """Settles those of some findings that are open: one undo step.

        Args:
            numbers: Which findings.
            key: Key of the action to take; findings without it are skipped. "" for the first action
                of each.
        """
        found = [self.found[number] for number in numbers if self.states[number] == "open"]
        chosen = [
            (finding, action)
            for finding in found
            if (action := finding.action(key) if key else finding.actions[0]) is not None
        ]
        done = "Keep" if key == KEEP else "Settle"
        self._settle(chosen, f"{done} {plural(len(chosen), 'finding')}")

    def _settle(self, chosen: Sequence[tuple[Finding, Action]], words: str) -> None:
        recipe = {key: value for _, action in chosen for key, value in action.recipe.items()}
        after = with_actions(self._document.project, chosen)
        self._push(after, words, recipe)
        if after.dataset != self._document.project.dataset:
            self._document.set_dataset(after.dataset)

    def reopen(self, number: int) -> None:
        """Undoes what was done about the images of a finding."""
        finding = self.found[number]
        self._push(reopened(self._document.project, finding), f"Reopen: {finding.title}", {})

    def _push(self, after: Project, words: str, recipe: Mapping[str, Any]) -> None:
        if after.edits != self._document.project.edits:
            self._document.set_edits(after.edits, words)
        if recipe:
            self._document.set_recipe(**recipe)

    def _on_edits_changed(self) -> None:
        """Only findings about images whose edits have changed are looked at."""
        before, after = self._edits, self._document.project.edits
        self._edits = after
        if before.classes != after.classes:
            self.drop()
            return
        changed = (before.left_out ^ after.left_out) | (before.once ^ after.once)
        changed |= {key for key, _ in before.labels.items() ^ after.labels.items()}
        changed |= {key for key, _ in before.parts.items() ^ after.parts.items()}
        numbers = {number for key in changed for number in self._of_content.get(key, ())}
        kept = before.kept ^ after.kept
        numbers.update(n for n, finding in enumerate(self.found) if finding.key in kept)
        self._refresh(numbers)

    def _on_recipe_changed(self) -> None:
        self._refresh(
            number
            for number, finding in enumerate(self.found)
            if any(action.recipe for action in finding.actions if action.key != KEEP)
        )

    def _refresh(self, numbers: Iterable[int]) -> None:
        project = self._document.project
        for number in numbers:
            self.states[number] = state_of(self.found[number], project)
        self.states_changed.emit()
