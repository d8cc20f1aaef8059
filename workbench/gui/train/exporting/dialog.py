"""The dialog that exports a run's model: the formats, and how its exports compare with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QCheckBox, QDialog, QWidget

from workbench.client.background import Background
from workbench.client.service_process import Handlers, Question, ServiceProcess
from workbench.core.specs import ExportSpec
from workbench.errors import RunFolderError, WorkbenchError
from workbench.exports import missing_runtime, run_exports
from workbench.gui.kit.buttons import button
from workbench.gui.kit.dialogs import (
    DialogHead,
    InstallLink,
    ask_choice,
    ask_save_path,
    error_details,
    show_error,
    show_in_folder,
)
from workbench.gui.kit.labels import ElidedLabel, breakable, plain_label, set_role
from workbench.gui.kit.layout import STRETCH, column, row, within_screen
from workbench.gui.kit.theme import Theme, ui_font
from workbench.gui.kit.widgets import WaitLabel
from workbench.gui.train.exporting.formats import (
    FolderName,
    FormatList,
    ProofTable,
    ask_file,
    ask_new_folder,
    proposed_name,
)
from workbench.protocol.export import Export, ExportProof, MakeReport
from workbench.protocol.messages import Done
from workbench.runs.export.proof_table import read_exports
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import read_card
from workbench.runs.naming import SEPARATOR

# report --------------------------------------------------------------------------------------
# Writing the report of a run: the one way for the Run menu, the list of runs and its links.

_FILTERS = "Web page (*.html);;PDF (*.pdf)"


class ReportAction(QObject):
    """Asks where to write a run's report, and has it written.

    `said` with what is being done, and how it ended; "" after a failure.
    """

    said = Signal(str)

    def __init__(self, service: ServiceProcess, window: QWidget) -> None:
        super().__init__(window)
        self._service = service
        self._window = window

    def ask(self, run: Path, title: str) -> None:
        """Writes the report of a run, trained or not; the format is the file's ending."""
        name = title.replace(SEPARATOR, " ").replace("/", "-")
        path, _ = ask_save_path(
            self._window,
            f"Report of {title}",
            name,
            _FILTERS,
            kind="report",
            is_format_by_name=True,
        )
        if not path:
            return
        self.said.emit(f"Writing {Path(path).name}…")
        handlers = Handlers(
            on_done=lambda answer: self.said.emit(answer.text),
            on_failed=self._on_failed,
            on_progress=lambda progress: self.said.emit(progress.text),
        )
        self._service.send(MakeReport(id=0, run=str(run), path=path), handlers)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.said.emit("")
        show_error(self._window, error)


# dialog --------------------------------------------------------------------------------------

_SIZE_PX = QSize(1060, 652)
_LINE_PX = 400
_EXPLANATION = (
    "Each export is read back by the format's own runtime and compared with the model on test "
    "images. Only one that agrees is written."
)
_NOTHING = "Not exported yet. The comparison of each export with the model appears here."
_READY = "Ready folder: with class names, script, README and license"
_CANCELED = "Canceled. Nothing was written."
_TOO_LATE = "Finished before it could be canceled. "
_READY_TIP = "A folder that classifies images on a computer without Workbench"


@dataclass(frozen=True)
class _Kept:
    """What is known of a run's exports.

    Attributes:
        proofs: The proof of the latest export in each format, by the format's key.
        checksum: Checksum of the run's present weights.
    """

    proofs: dict[str, ExportProof]
    checksum: str


class ExportDialog(QDialog):
    """Exports the model of a run with a title, any number of times.

    Signals:
        said: What was exported.

    Attributes:
        run: The run folder.
        head: Title and help.
        formats: The formats; one is chosen.
        summary: What it is for, or what it lacks.
        install: Installs what it lacks, where that is a part of Workbench.
        ready: Whether a ready folder is written.
        name: Name of the ready folder, where one is written.
        table: The exports there are.
        status: What is being done, how it ended, or more about the chosen export.
        details: Shows all of an error.
        folder: Shows the chosen export in the file manager.
        export, stop: Begins; cancels, or closes.
    """

    said = Signal(str)

    def __init__(
        self,
        theme: Theme,
        worker: ServiceProcess,
        run: Path,
        title: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export — Workbench")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(within_screen(self, _SIZE_PX))
        self.run = run
        self._title = title
        self._specs = run_exports()
        self._lacking: dict[str, WorkbenchError] = {}
        self._error: WorkbenchError | None = None
        self._is_canceling = False
        self._is_leaving = False
        self._returns_to_export = False
        self._question = Question(worker)
        self._background = Background(self)
        self.head = DialogHead("Export a trained model", _EXPLANATION, "exporting")
        self.formats = FormatList(theme, self._specs)
        self.summary = plain_label(role="dim", wrap=True)
        self.install = InstallLink()
        self.ready = QCheckBox(_READY)
        self.name = FolderName()
        self.table = ProofTable(theme)
        self.nothing = plain_label(_NOTHING, role="dim", wrap=True)
        self.status = WaitLabel()
        self.details = button("Details…", role="link")
        self.folder = button("Show in folder")
        self.export = button("Export…", role="primary")
        self.stop = button("Close")
        self._build()
        self._connect()
        self._refresh()
        self._look_for_runtimes()
        self._look()

    def _build(self) -> None:
        name = ElidedLabel(self._title)
        name.setFont(ui_font(weight=600))
        self.summary.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.summary.setMinimumWidth(_LINE_PX)  # its lines at that width count for the least height
        self.ready.setToolTip(_READY_TIP)
        for each in (self.install, self.details, self.folder, self.stop):
            each.setAutoDefault(False)
        self.export.setDefault(True)
        parts = (
            self.head,
            name,
            (self.formats, 3),
            row((self.summary, 1), self.install, spacing=8),
            row(self.ready, (self.name, 1), spacing=24),
            plain_label("Exports of this run", role="heading"),
            self.nothing,
            (self.table, 2),
            row((self.status, 1), self.details, spacing=8),
            row(self.folder, STRETCH, self.export, self.stop, spacing=8),
        )
        column(*parts, parent=self, margins=(20, 14, 20, 10), spacing=8)
        self._show_table(is_shown=False)
        self.formats.setFocus()

    def _connect(self) -> None:
        self.formats.picked.connect(self._refresh)
        self.ready.toggled.connect(self._refresh)
        self.formats.itemDoubleClicked.connect(lambda _item, _column: self.export.click())
        self.table.row_picked.connect(self._show_picked)
        self.details.clicked.connect(self._show_details)
        self.folder.clicked.connect(self._show_in_folder)
        self.install.installed.connect(self._look_for_runtimes)
        self.export.clicked.connect(self._on_export)
        self.stop.clicked.connect(self.reject)

    @property
    def is_exporting(self) -> bool:
        """Whether an export is under way."""
        return self._question.is_open

    def _refresh(self) -> None:
        """Shows what can be done now."""
        spec, is_busy = self.formats.current, self.is_exporting
        lack = self._lacking.get(spec.key)
        self.summary.setText(f"{lack.what} {lack.fix}" if lack is not None else spec.summary)
        set_role(self.summary, "warning" if lack is not None else "dim")
        self.install.offer(lack.fix if lack is not None else "")
        self.export.setEnabled(lack is None and not is_busy)
        self.ready.setEnabled(spec.reader is not None)
        self.name.propose(self._proposed(is_folder=True))
        self.name.setVisible(self._is_folder)
        self.stop.setText("Cancel" if is_busy else "Close")
        self.stop.setEnabled(not self._is_canceling)
        proof = self.table.proof
        self.folder.setEnabled(proof is not None and not proof.reason)
        self.details.setVisible(self._error is not None and not is_busy)

    # what there is -----------------------------------------------------------------------

    def _look_for_runtimes(self) -> None:
        def work() -> dict[str, WorkbenchError]:
            found = {key: missing_runtime(spec) for key, spec in self._specs.items()}
            return {key: lack for key, lack in found.items() if lack is not None}

        self._background.run(work, self._show_lacking, self._say_failure)

    def _show_lacking(self, lacking: dict[str, WorkbenchError]) -> None:
        self._lacking = lacking
        self.formats.set_lacking({key: lack.what for key, lack in lacking.items()})
        self._refresh()

    def _look(self, key: str = "") -> None:
        """Reads what is kept of the exports; then chooses the row of a format."""
        run = RunFolder(self.run)
        work = partial(_read, run)
        self._background.run(work, partial(self._show_kept, key), self._say_failure)

    def _show_kept(self, key: str, kept: _Kept) -> None:
        titles = {each.key: each.title for each in self._specs.values()}
        order = [*self._specs, *(other for other in kept.proofs if other not in self._specs)]
        proofs = [kept.proofs[each] for each in order if each in kept.proofs]
        self.table.set_proofs(proofs, titles, kept.checksum)
        self.table.show_format(key)
        self._show_table(is_shown=bool(proofs))
        self._refresh()

    def _show_table(self, *, is_shown: bool) -> None:
        shown, hidden = (self.table, self.nothing)[:: 1 if is_shown else -1]
        hidden.hide()  # first: room for both would make the dialog larger
        shown.show()

    def _show_picked(self) -> None:
        proof = self.table.proof
        if proof is not None and not self.is_exporting:
            self._error = None
            self.status.say(breakable(self.table.words(proof)), is_bad=bool(proof.reason))
        self._refresh()

    def _show_in_folder(self) -> None:
        proof = self.table.proof
        if proof is not None:
            show_in_folder(self, self._background, Path(proof.path))

    # an export ---------------------------------------------------------------------------

    @property
    def _is_ready(self) -> bool:
        return self.ready.isChecked() and self.ready.isEnabled()

    @property
    def _is_folder(self) -> bool:
        return self._is_ready or self.formats.current.is_folder

    def _proposed(self, *, is_folder: bool) -> str:
        specs = self._specs.values()
        return proposed_name(self._title, self.formats.current, specs, is_folder=is_folder)

    def _on_export(self) -> None:
        spec, is_ready = self.formats.current, self._is_ready
        if self._is_folder:
            path = ask_new_folder(self, self.name.text)
        else:
            name = self._proposed(is_folder=False)
            path = ask_file(self, f"Export {self._title}", name, spec)
        if path:
            self.begin(path, is_ready=is_ready)

    def begin(self, path: str, *, is_ready: bool) -> None:
        """Exports in the chosen format to a file or folder, or as a ready folder."""
        spec = self.formats.current
        handlers = Handlers(
            on_done=partial(self._on_done, spec),
            on_failed=partial(self._on_failed, spec),
            on_progress=lambda progress: self._show_progress(progress.text),
        )
        self._error, self._is_canceling = None, False
        request = Export(
            id=0, model=str(self.run), format=spec.key, path=path, is_ready_folder=is_ready
        )
        self._question.ask(request, handlers)
        self.status.say("")
        self.status.wait_for("Starting")
        self._refresh()

    def _show_progress(self, words: str) -> None:
        if not self._is_canceling:
            self.status.wait_for(words)

    def _on_done(self, spec: ExportSpec, answer: Done) -> None:
        late = _TOO_LATE if self._is_canceling else ""
        self.said.emit(late + answer.text)
        words = f"{late}Wrote {Path(answer.path).name}. It agrees with the model."
        self.status.say(breakable(words))
        self._end(spec)

    def _on_failed(self, spec: ExportSpec, error: WorkbenchError) -> None:
        if self._is_canceling:
            self.status.say(_CANCELED)
            if self._is_leaving:
                self.said.emit(_CANCELED)
        else:
            self._say_failure(error)
        self._end(spec)

    def _end(self, spec: ExportSpec) -> None:
        if self._is_leaving:
            self.done(0)
            return
        returns = self._returns_to_export or self.stop.hasFocus()
        self._is_canceling = self._returns_to_export = False
        self._refresh()
        if returns:
            (self.export if self.export.isEnabled() else self.formats).setFocus()
        self._look(spec.key)

    def _say_failure(self, error: WorkbenchError) -> None:
        self._error = error if error_details(error) else None
        self.status.say(breakable(f"{error.what} {error.fix}".strip()), is_bad=True)
        self._refresh()

    def _show_details(self) -> None:
        if self._error is not None:
            show_error(self, self._error)

    # the end -----------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter on an export shows it in its folder; elsewhere it exports."""
        if event.key() == Qt.Key.Key_Escape and self.is_exporting:
            self.close()
            return
        is_enter = event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}
        if is_enter and self.table.hasFocus():
            self.folder.click()
        else:
            super().keyPressEvent(event)

    def reject(self) -> None:
        """Cancels the export that is under way; without one, closes."""
        if self.is_exporting:
            self._cancel()
        else:
            super().reject()

    def _may_cancel(self) -> bool:
        what, more = "A model is being exported.", "Nothing is written when it is canceled."
        choices = ("Cancel the export", "Keep exporting")
        return ask_choice(self, what, more, choices, default=1) == 0

    def _cancel(self) -> None:
        if self._is_canceling:
            return
        self._is_canceling = True
        self._question.cancel()
        self.status.wait_for("Canceling")
        if self.stop.hasFocus():  # which is turned off: Qt would move the focus anywhere
            self._returns_to_export = True
            self.formats.setFocus()
        self._refresh()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Its window is closed: an export is canceled where the user says so, and the window behind
        says how it ended.
        """
        if not self.is_exporting:
            super().closeEvent(event)
        elif self._is_canceling or self._may_cancel():
            self._leave(event)
        else:
            event.ignore()

    def _leave(self, event: QCloseEvent) -> None:
        if not self.is_exporting:  # it has ended while the question was open
            super().closeEvent(event)
            return
        self._is_leaving = True
        self._cancel()
        self.hide()
        event.ignore()  # it is closed with the answer

    def done(self, result: int) -> None:
        """Hides the dialog at once, and ends it once nothing is read any more."""
        self._question.drop()
        self.hide()
        self._background.close_soon(partial(super().done, result))


def _read(run: RunFolder) -> _Kept:
    """The kept figures, in another thread."""
    try:
        checksum = read_card(run.path).checksum
    except RunFolderError:  # then no row is of earlier weights; an export says what is wrong
        checksum = ""
    return _Kept(read_exports(run), checksum)


# action --------------------------------------------------------------------------------------
# Exporting a trained run: the one way for the File menu and the list of runs.


class ExportAction(QObject):
    """Opens the dialog that exports a run's model, one for each run.

    Signals:
        said: What was exported.
        help_asked: Key of a help page.
    """

    said = Signal(str)
    help_asked = Signal(str)

    def __init__(self, theme: Theme, worker: ServiceProcess, window: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self._worker = worker
        self._window = window

    def ask(self, run: Path, title: str, key: str = "") -> ExportDialog:
        """Opens the dialog of a run, or brings it up; with a format, where that was chosen."""
        dialog = self._open(run)
        if dialog is None:
            dialog = ExportDialog(self._theme, self._worker, run, title, self._window.window())
            dialog.said.connect(self.said)
            dialog.head.help_asked.connect(self.help_asked)
            dialog.show()
        else:
            dialog.raise_()
            dialog.activateWindow()
        if key:
            dialog.formats.select(key)
        return dialog

    def may_close(self) -> bool:
        """Asks what becomes of an export that is under way while the window closes."""
        if not any(dialog.is_exporting for dialog in self._dialogs()):
            return True
        words = "Closing Workbench cancels the export; nothing is written then."
        choices = ("Close Workbench", "Keep exporting")
        return (
            ask_choice(self._window, "A model is being exported.", words, choices, default=1) == 0
        )

    def _open(self, run: Path) -> ExportDialog | None:
        return next(
            (each for each in self._dialogs() if each.run == run and each.isVisible()), None
        )

    def _dialogs(self) -> list[ExportDialog]:
        direct = Qt.FindChildOption.FindDirectChildrenOnly
        return self._window.window().findChildren(ExportDialog, options=direct)
