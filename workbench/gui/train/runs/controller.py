"""What can be done with runs of the list: rename, resume, train longer, compare, export, delete."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QWidget,
)

from workbench.client.background import Background
from workbench.core.format import count, plural
from workbench.core.params import IntParam
from workbench.core.projects.project import HERE, Project
from workbench.core.training.learning_rates import LongerTraining
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.errors import ParamError, WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.common.run_text import elide_mode, may_end, quoted
from workbench.gui.forms.number_field import NumberField
from workbench.gui.kit.dialogs import ask_save_path, ask_text, make_box, open_folder, show_notice
from workbench.gui.kit.labels import ElidedLabel, plain_label, restyle
from workbench.gui.kit.layout import STRETCH, Gap, add_to, column, row
from workbench.gui.kit.theme import ui_font
from workbench.gui.train.exporting.dialog import ExportAction, ReportAction
from workbench.gui.train.runs.compare_dialog import CompareManyRuns, CompareRuns
from workbench.runs.export.tables import export_curves
from workbench.runs.folder import RunFolder, RunRequest
from workbench.runs.library.projects import project_key
from workbench.runs.library.summary import RunSummary
from workbench.runs.state.preparing import longer_training
from workbench.runs.store.notes import (
    CARD_FIELDS,
    MAX_CARD_TEXT,
    MAX_TEXT,
    MAX_TITLE,
    CardText,
    RunNotes,
    read_notes,
    tidy,
)

# card dialog ---------------------------------------------------------------------------------
# What only people know of a model: the texts of the model card in its report.


class ModelCardDialog(QDialog):
    """Edits the texts; `card()` is what was written."""

    def __init__(self, name: str, card: CardText, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Model card — Workbench")
        self.setMinimumWidth(480)
        self.fields: dict[str, QPlainTextEdit] = {}
        form = column(parent=self, margins=(20, 16, 20, 16), spacing=6)
        words = f"For the report of {name}. Figures are filled in by themselves."
        add_to(form, plain_label(words, role="dim", wrap=True), Gap(6))
        for key, title, hint in CARD_FIELDS:
            field = self.fields[key] = QPlainTextEdit(getattr(card, key))
            field.setPlaceholderText(f"{hint[:1].upper()}{hint[1:]}")
            field.setTabChangesFocus(True)
            field.setMinimumHeight(84)
            field.setAccessibleName(title)
            label = plain_label(title)
            label.setBuddy(field)
            add_to(form, label, field, Gap(6))
        kinds = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(kinds.Save | kinds.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        form.addWidget(buttons)

    def card(self) -> CardText:
        """What was written."""
        texts = {key: field.toPlainText()[:MAX_CARD_TEXT] for key, field in self.fields.items()}
        return CardText(**texts)


# longer dialog -------------------------------------------------------------------------------
# Dialog for the epochs that a completed run is trained to, and what that means.

_WIDTH_PX = 460
_MARGIN_PX = 20
_MOST = max(p.maximum for p in RECIPE_PARAMS if p.key == "epochs" and isinstance(p, IntParam))


class TrainLongerDialog(QDialog):
    """Asks for the total number of epochs of a run with this name: `epochs` once accepted."""

    def __init__(self, label: str, longer: LongerTraining, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._longer = longer
        done = longer.epochs_done
        self.setWindowTitle("Train longer — Workbench")
        self.setFixedWidth(_WIDTH_PX)
        name = ElidedLabel()
        name.setFont(ui_font(weight=600))
        name.set_full_text(label, elide_mode(label))
        param = IntParam("epochs", min(2 * done, _MOST), "", minimum=done + 1, maximum=_MOST)
        self.number = NumberField(param)
        self.number.setAccessibleName("Epochs in total")
        self.words = plain_label(role="dim", wrap=True)
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel)
        self.buttons.button(kinds.Ok).setText("Train longer")
        restyle(self.buttons.button(kinds.Ok), role="primary")
        self.buttons.accepted.connect(self._on_accepted)
        self.buttons.rejected.connect(self.reject)
        self.number.entered.connect(self._on_entered)
        self._build(name, plain_label(f"{count(done)} done so far", role="dim"))
        self._on_entered(param.default)
        self.number.setFocus()

    def _build(self, name: QLabel, done: QLabel) -> None:
        title = plain_label("Epochs in total")
        title.setBuddy(self.number)
        line = row(title, self.number, done, STRETCH, spacing=12)
        parts = (name, Gap(4), line, Gap(4), self.words, Gap(8), self.buttons)
        column(*parts, parent=self, margins=(_MARGIN_PX, 16, _MARGIN_PX, 16), spacing=6)

    @property
    def epochs(self) -> int:
        """The total number of epochs."""
        return int(self.number.value())

    def _on_entered(self, value: object) -> bool:
        """Shows what a number means; False where it is not allowed."""
        if isinstance(value, int | float):
            self.number.set_value(value)
        try:
            epochs = self.number.checked()
        except ParamError as error:
            self._say(f"Expected: {error.expected}.")
            return False
        self._say("\n\n".join(self._longer.words(epochs)))
        return True

    def _say(self, words: str) -> None:
        """Shows some sentences; room that was taken once is kept, so that nothing moves."""
        self.words.setText(words)
        self.words.ensurePolished()
        height = self.words.heightForWidth(_WIDTH_PX - 2 * _MARGIN_PX)
        self.words.setMinimumHeight(max(self.words.minimumHeight(), height))
        self.adjustSize()

    def _on_accepted(self) -> None:
        if self._on_entered(None):
            self.accept()


# notes dialog --------------------------------------------------------------------------------
# A run's name, tags and note, in one small form.


class RunNotesDialog(QDialog):
    """Edits what people write about a run; `notes()` is what they wrote.

    `focus` is "rename", "tags" or "note": the field that is ready to be typed in.
    """

    def __init__(self, run: RunSummary, focus: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Name, tags and note — Workbench")
        self.setMinimumWidth(420)
        self.title = QLineEdit(run.own_title)
        self.title.setPlaceholderText(run.label)
        self.title.setMaxLength(MAX_TITLE)
        self.tags = QLineEdit(" ".join(run.tags))
        self.tags.setPlaceholderText("baseline paper")
        self.text = QPlainTextEdit(run.note)
        self.text.setPlaceholderText("What was tried, and the result")
        self.text.setTabChangesFocus(True)
        self.text.setMinimumHeight(120)
        form = column(parent=self, margins=(20, 16, 20, 16), spacing=6)
        for words, field in (("Name", self.title), ("Tags", self.tags), ("Note", self.text)):
            label = plain_label(words, role="dim")
            label.setBuddy(field)
            field.setAccessibleName(words)
            add_to(form, label, field)
            if field is self.tags:
                hint = "Separate tags with spaces. Filter runs with tag:baseline."
                form.addWidget(plain_label(hint, role="dim", wrap=True))
            add_to(form, Gap(6))
        kinds = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(kinds.Save | kinds.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        form.addWidget(buttons)
        wanted = {"tags": self.tags, "note": self.text}.get(focus, self.title)
        wanted.setFocus()
        if wanted is self.title:
            self.title.selectAll()

    def notes(self) -> RunNotes:
        """What was written, tidied."""
        tags = self.tags.text().replace(",", " ").split()
        text = self.text.toPlainText()[:MAX_TEXT]
        return tidy(RunNotes(title=self.title.text(), tags=tags, text=text))


# controller ----------------------------------------------------------------------------------

Runs = list[RunSummary]


class RunActions(QObject):
    """Does what the list of runs requests; `said` with what goes on or went wrong;
    `project_wanted` with the folder of a run whose project is to be opened; `help_asked` with the
    key of a page.
    """

    said = Signal(str)
    project_wanted = Signal(Path)
    help_asked = Signal(str)

    def __init__(self, context: WindowContext, window: QWidget) -> None:
        super().__init__(window)
        self._context = context
        self._library = context.library
        self._window = window
        self._background = Background(self, max_threads=1)
        self._export_action = ExportAction(context.theme, context.measurer, window)
        self._export_action.said.connect(self.said)
        self._export_action.help_asked.connect(self.help_asked)
        self._report_action = ReportAction(context.measurer, window)
        self._report_action.said.connect(self.said)
        library = context.library
        self._actions: dict[str, Callable[[Runs], None]] = {
            "pause": lambda runs: self.end(runs[0].path, is_pause=True),
            "stop": lambda runs: self.end(runs[0].path),
            "resume": lambda runs: library.resume(runs[0].path, wait=library.is_training),
            "train_longer": lambda runs: self.train_longer(runs[0].path),
            "attach": lambda runs: library.attach(runs[0].path),
            "go_on_here": lambda runs: library.go_on_with(runs[0].path, HERE),
            "start_now": lambda runs: library.start_now(runs[0].path),
            "earlier": lambda runs: library.move_in_queue(runs[0].path, -1),
            "later": lambda runs: library.move_in_queue(runs[0].path, 1),
            "cancel": self._on_cancel,
            "rename": partial(self._edit_notes, "rename"),
            "tags": self._on_tags,
            "note": partial(self._edit_notes, "note"),
            "card": self._on_card,
            "report": self._on_report,
            "show": partial(self._show, is_shown=True),
            "hide": partial(self._show, is_shown=False),
            "compare": self._on_compare,
            "folder": self._on_folder,
            "open_project": lambda runs: self.project_wanted.emit(runs[0].path),
            "delete": self._on_delete,
        }

    def close(self) -> None:
        """Waits for what is still written."""
        self._background.close()

    def do(self, asked: str, runs: Runs) -> None:
        """Does one thing with at least one run: a key such as "rename"; behind a colon the
        format of an export.
        """
        key, _, detail = asked.partition(":")
        if key == "export":
            self._export(runs[0], detail)
        elif key == "curves":
            self._export_curves(runs[0], detail)
        else:
            self._actions[key](runs)

    def end(self, path: Path, *, is_pause: bool = False) -> None:
        """Requests that a run stops, or pauses; asks first where it is another project's."""
        if may_end(self._library, path, self._window, is_pause=is_pause):
            (self._library.pause if is_pause else self._library.stop)(path)

    def retry(self, path: Path, changes: Mapping[str, object]) -> None:
        """Trains a run's project once more, as a new run, with other recipe values."""

        def work() -> tuple[Project, RunRequest]:
            request = RunFolder(path).request()
            project = request.to_project()
            return replace(project, recipe=project.recipe.with_values(**changes)), request

        def start(found: tuple[Project, RunRequest]) -> None:
            project, request = found
            title, path, wait = request.title, request.project_path, self._library.is_training
            self._library.start_run(project, title=title, project_path=path, wait=wait)

        self._background.run(work, start, self._on_failed)

    def train_longer(self, path: Path) -> None:
        """Asks how many epochs a completed run is to have, and lets it go on."""

        def ask(longer: LongerTraining) -> None:
            summary = self._library.summary(path)
            name = summary.label if summary is not None else path.name
            dialog = TrainLongerDialog(name, longer, self._window)
            if dialog.exec() == QDialog.DialogCode.Accepted:
                self._library.train_longer(path, dialog.epochs, wait=self._library.is_training)
            dialog.deleteLater()

        self._background.run(lambda: longer_training(RunFolder(path)), ask, self._on_failed)

    # words about runs --------------------------------------------------------------------

    def _edit_notes(self, focus: str, runs: Runs) -> None:
        run = runs[0]
        dialog = RunNotesDialog(run, focus, self._window)
        if dialog.exec() == QDialog.DialogCode.Accepted:
            self._library.set_notes(run.path, dialog.notes())
        dialog.deleteLater()

    def _on_card(self, runs: Runs) -> None:
        run = runs[0]

        def ask(notes: RunNotes) -> None:
            dialog = ModelCardDialog(run.label, notes.card, self._window)
            if dialog.exec() == QDialog.DialogCode.Accepted:
                self._library.set_card(run.path, dialog.card())
            dialog.deleteLater()

        self._background.run(lambda: read_notes(RunFolder(run.path)), ask, self._on_failed)

    def _on_tags(self, runs: Runs) -> None:
        if len(runs) == 1:
            self._edit_notes("tags", runs)
            return
        title = f"Add tags to {plural(len(runs), 'run')}"
        words = ask_text(self._window, title, "Tags, separated with spaces:") or ""
        for run in runs if words.split() else []:
            tags = [*run.tags, *words.split()]
            self._library.set_notes(
                run.path, RunNotes(title=run.own_title, tags=tags, text=run.note)
            )

    # looking -----------------------------------------------------------------------------

    def _show(self, runs: Runs, *, is_shown: bool) -> None:
        for run in runs:
            if (run.path in self._library.shown) != is_shown:
                self._library.toggle_shown(run.path)

    def _on_compare(self, runs: Runs) -> None:
        others = [run for run in self._library.runs if run.path != runs[0].path]
        if not others:
            show_notice(self._window, "There is no other run to compare with yet.")
            return
        if len(runs) > 2:
            CompareManyRuns(self._context.theme, runs, self._window).show()
            return
        # Of the same project where there is one: the newest of all may be of another.
        others.sort(key=lambda run: project_key(run) != project_key(runs[0]))
        left, right = (run.path for run in (*runs, *others)[:2])
        theme, all_runs = self._context.theme, self._library.runs
        CompareRuns(theme, all_runs, left, right, self._window).show()

    def _on_folder(self, runs: Runs) -> None:
        open_folder(self._window, runs[0].path, "The run folder")

    # writing and deleting ----------------------------------------------------------------

    def _export(self, run: RunSummary, key: str) -> None:
        self._export_action.ask(run.path, f"{run.project} {run.label}", key)

    def _on_report(self, runs: Runs) -> None:
        self._report_action.ask(runs[0].path, f"{runs[0].project} {runs[0].label}")

    def _export_curves(self, run: RunSummary, suffix: str) -> None:
        filters, name = f"{suffix.upper()} table (*.{suffix})", f"{run.label}.{suffix}"
        path, _ = ask_save_path(self._window, f"Export {run.label}", name, filters, kind="table")
        if path:
            export = partial(export_curves, RunFolder(run.path), Path(path))
            self._background.run(export, self._on_curves_written, self._on_failed)

    def _on_curves_written(self, files: tuple[Path, ...]) -> None:
        self.said.emit(f"Curves written to {' and '.join(f.name for f in files)}.")

    def _on_failed(self, error: WorkbenchError) -> None:
        self.said.emit(str(error))

    def _on_cancel(self, runs: Runs) -> None:
        for run in runs:
            self._library.stop(run.path)

    def _on_delete(self, runs: Runs) -> None:
        what = f"Move the run {quoted(runs[0].label)} to the trash?"
        if len(runs) > 1:
            what = f"Move {plural(len(runs), 'run')} to the trash?"
        more = "Curves and weights are moved too."
        box = make_box(self._window, QMessageBox.Icon.Question, what, more)
        buttons = QMessageBox.StandardButton
        box.setStandardButtons(buttons.Yes | buttons.Cancel)
        box.button(buttons.Yes).setText("Move to trash")
        if box.exec() == buttons.Yes:
            for run in runs:
                self._library.delete(run.path)
