"""What people ask about places to train: will it train on a TPU, connect another computer,
do two places compute the same. One dialog of each kind at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QDialog, QMenu, QWidget

from workbench.client.background import Background
from workbench.client.service_process import Handlers
from workbench.core.checks.problems import Fix
from workbench.core.params import check_all
from workbench.core.projects.project import Choice
from workbench.core.projects.project_file import PROJECT_SUFFIX, project_text
from workbench.core.projects.texts import target_text
from workbench.core.registry import Registry
from workbench.core.specs import ExportSpec, TargetSpec
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.errors import SaveError, WorkbenchError
from workbench.exports import training_exports, untrained_exports
from workbench.gui.common.context import WindowContext
from workbench.gui.common.drops import RESULT_NAME
from workbench.gui.kit.dialogs import ask_file, ask_save_path, show_error, show_notice
from workbench.gui.kit.labels import plain_tip
from workbench.protocol.export import ExportProject
from workbench.protocol.messages import Done
from workbench.remote.ssh.saved_hosts import (
    Saved,
    SavedHost,
    choice_line,
    forget_computer,
    label_of,
    rename_host,
    saved_choices,
    saved_hosts,
    target_choices,
)
from workbench.runs.trust import remember
from workbench.targets import all_targets
from workbench.targets.tpu import SPEC as TPU

# menu ----------------------------------------------------------------------------------------
# The menu of places to train on, with the ways to more of them.

DIALOGS = {
    "connect": "Connect a TPU or another computer…",
    "computers": "Saved computers…",
    "preflight": "Will it train on a TPU?…",
    "agreement": "Compare two targets…",
}
"""What the menu leads to beside choosing: key -> words."""

_TEXT_PX = 560
"""Most room for an entry: the menu fits beside the window's edge."""


class TargetMenu(QMenu):
    """Filled again each time it opens.

    Args:
        targets: All kinds of places.
        current: The project's choice.
        saved: Places that were connected before.

    Signals:
        chosen: A Choice.
        asked: A key of DIALOGS.
        notebook_asked: Colab or Kaggle, which have no address.
    """

    chosen = Signal(object)
    asked = Signal(str)
    notebook_asked = Signal()

    def __init__(
        self,
        targets: Registry[TargetSpec],
        current: Callable[[], Choice],
        saved: Saved = saved_choices,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._targets = targets
        self._current = current
        self._saved = saved
        self.setToolTipsVisible(True)
        self.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        self.clear()
        group = QActionGroup(self)
        chosen = target_text(self._current(), self._targets)
        for choices in target_choices(self._targets, self._current(), self._saved):
            for choice, words in choices:
                is_chosen = target_text(choice, self._targets) == chosen
                group.addAction(self._add(choice, words, is_chosen=is_chosen))
            self.addSeparator()
        self.addAction("Colab or Kaggle (notebook)…").triggered.connect(
            lambda _=False: self.notebook_asked.emit()
        )
        for key, words in DIALOGS.items():
            if key != "computers" or saved_hosts():  # where there are none, connecting is enough
                action = self.addAction(words)
                action.triggered.connect(lambda _=False, key=key: self.asked.emit(key))

    def _add(self, choice: Choice, words: str, *, is_chosen: bool) -> QAction:
        text = choice_line(choice, words)
        shown = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, _TEXT_PX)
        action = self.addAction(shown.replace("&", "&&"))
        spec = self._targets[choice.key]
        address = spec.describe(check_all(spec.params, choice.params)[0])
        action.setToolTip(plain_tip(text if address in text else f"{address}\n{text}"))
        action.setCheckable(True)
        action.setChecked(is_chosen)
        action.triggered.connect(lambda _=False: self.chosen.emit(choice))
        return action


# notebook ------------------------------------------------------------------------------------
# A project as a program: a notebook whose results come back, or a script of plain Keras.

_RESULT_FILTER = "Notebook results (*.zip);;All files (*)"
_NEXT_STEPS = (
    f"Open it in Colab or Kaggle, choose a TPU and run all cells. Then download {RESULT_NAME}.zip, "
    "and choose File > Import notebook results… here."
)


class NotebookController(QObject):
    """What "Train on Colab or Kaggle…", "Import notebook results…" and "Export network as Python…"
    do.

    Signals:
        said: A sentence about what goes on.
        blocked: A notebook was requested while errors prevent training.
    """

    said = Signal(str)
    blocked = Signal()

    def __init__(self, context: WindowContext, window: QWidget) -> None:
        super().__init__(window)
        self._document = context.document
        self._weights = context.weights
        self._service = context.measurer  # packing the images takes its time
        self._window = window

    def ask_export(self) -> None:
        """Asks where to write the notebook, and writes it; `blocked` where it could not train."""
        specs = list(training_exports().values())
        self._ask(specs, "Train on Colab or Kaggle", "notebook_file", self._on_notebook_written)

    def ask_network(self) -> None:
        """Asks where to write the network, trained or not, and writes it without weights; `blocked`
        where it has errors.
        """
        specs = list(untrained_exports().values())
        self._ask(
            specs,
            "Export the network, without weights",
            "export",
            lambda answer: self.said.emit(answer.text),
        )

    def _ask(
        self, specs: list[ExportSpec], title: str, kind: str, on_done: Callable[[Done], None]
    ) -> None:
        if self._document.analysis.network_errors:
            self.blocked.emit()
            return
        filters = {f"{spec.title} (*{spec.suffix})": spec for spec in specs}
        offered = ";;".join(filters)
        path, chosen = ask_save_path(self._window, title, self._name(), offered, kind=kind)
        if not path:
            return
        spec = filters.get(chosen, specs[0])
        self.said.emit(f"Writing {Path(path).name}…")
        project = project_text(self._document.project)
        request = ExportProject(id=0, project=project, format=spec.key, path=path)
        handlers = Handlers(
            on_done=on_done,
            on_failed=self._on_failed,
            on_progress=lambda progress: self.said.emit(progress.text),
        )
        self._service.send(request, handlers)

    def _name(self) -> str:
        """Named like the project."""
        path = self._document.path
        name = path.name.removesuffix(PROJECT_SUFFIX) if path else self._document.project.title
        return name or "network"

    def _on_notebook_written(self, answer: Done) -> None:
        self.said.emit(answer.text)
        steps = answer.text.removeprefix(f"Wrote {answer.path}.").strip()
        show_notice(self._window, f"Wrote {Path(answer.path).name}.", f"{steps}\n\n{_NEXT_STEPS}")

    def ask_result(self) -> None:
        """Lets the user choose what a notebook has left, and makes a run of it."""
        title = "Import notebook results"
        path = ask_file(self._window, title, _RESULT_FILTER, kind="notebook_file")
        if path:
            self._weights.load(path)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.said.emit("")
        show_error(self._window, error)


# controller ----------------------------------------------------------------------------------

# ruff: noqa: PLC0415 - a dialog's code is loaded when it is first opened


T = TypeVar("T")

_ABOUT_PROJECT = ("agreement", "preflight")
"""Dialogs that need a network that can be trained."""


class TargetController(QObject):
    """Opens these dialogs over a window.

    Signals:
        hosts_changed: A computer was saved, renamed or forgotten.
        said: What was changed, or why no request is possible.
        problem_chosen: A `core.checks.problems.Problem` to be shown on the canvas.
        help_asked: Key of a help page.
    """

    hosts_changed = Signal()
    said = Signal(str)
    problem_chosen = Signal(object)
    help_asked = Signal(str)

    def __init__(self, context: WindowContext, window: QWidget) -> None:
        super().__init__(window)
        self._context = context
        self._window = window
        self._background = Background(self, max_threads=1)
        self.dialogs: dict[str, Any] = {}
        self._makers: dict[str, Any] = {
            "agreement": self._make_agreement,
            "computers": self._make_computers,
            "connect": self._make_connect,
            "preflight": self._make_preflight,
        }

    def ask(self, key: str, choice: Choice | None = None) -> None:
        """Opens what a key of gui.targets.controller.DIALOGS names; an open one is brought up.

        Args:
            key: The key.
            choice: The place that it is about; the project's where None.
        """
        reason = self._context.document.analysis.reason if key in _ABOUT_PROJECT else ""
        if reason:
            self.said.emit(reason)
            return
        if key not in self.dialogs:
            dialog = self.dialogs[key] = self._makers[key]()
            dialog.head.help_asked.connect(self.help_asked)
            dialog.finished.connect(lambda _result: self.dialogs.pop(key, None))
        dialog = self.dialogs[key]
        named = _virtual_machine(choice or self._context.document.project.target)
        if key == "connect" and named is not None:
            dialog.address.show_machine(*named)
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()

    def choose(self, choice: Choice) -> None:
        """Makes another place the project's; a TPU VM named to gcloud is connected first:
        nothing trains there before its address is known.
        """
        if choice == self._context.document.project.target:
            return
        if _virtual_machine(choice) is None:
            self._set(choice)
        else:
            self.ask("connect", choice)

    def close(self) -> None:
        """Closes what is open: what runs for it is called off."""
        for dialog in list(self.dialogs.values()):
            dialog.reject()
        self._background.close()

    def _make_connect(self) -> QDialog:
        from workbench.gui.targets.connect_dialog import ConnectHostDialog

        dialog = ConnectHostDialog(self._window)
        dialog.chosen.connect(self._on_place)
        dialog.finished.connect(self.hosts_changed)  # saved once it has answered
        return dialog

    def _make_computers(self) -> QDialog:
        from workbench.gui.targets.saved_dialog import SavedHostsDialog

        dialog = SavedHostsDialog(self._context.theme, self._window)
        dialog.renamed.connect(self._rename)
        dialog.forgotten.connect(self._forget)
        dialog.connect_wanted.connect(lambda: self.ask("connect"))
        self.hosts_changed.connect(dialog.fill)
        return dialog

    def _rename(self, host: SavedHost, name: str) -> None:
        self._change_hosts(
            lambda: rename_host(host.address, name),
            lambda named: f"{host.address} is now named {named.label}.",
        )

    def _forget(self, host: SavedHost) -> None:
        self._change_hosts(
            lambda: forget_computer(host.place()),
            lambda forgotten: f"{host.label}: {forgotten.words()}",
        )

    def _change_hosts(self, work: Callable[[], T], words_of: Callable[[T], str]) -> None:
        """Changes the saved computers in another thread: the disk is waited for."""

        def on_done(result: T) -> None:
            self.hosts_changed.emit()
            self._say_of_hosts(words_of(result))

        def on_failed(error: WorkbenchError) -> None:
            words = error.brief
            self._say_of_hosts(words, is_bad=True)

        self._background.run(work, on_done, on_failed)

    def _say_of_hosts(self, words: str, *, is_bad: bool = False) -> None:
        """Reports in the dialog where it is still open: that is where people look."""
        if "computers" in self.dialogs:
            self.dialogs["computers"].words.say(words, is_bad=is_bad)
        else:
            self.said.emit(words)

    def _make_agreement(self) -> QDialog:
        from workbench.gui.targets.parity_dialog import ParityDialog

        return ParityDialog(self._context, self._window)

    def _set(self, choice: Choice) -> None:
        """The entry, or the dialog, has named the address: it may be connected to."""
        try:
            remember(choice)
        except SaveError as error:  # asked again at the start of a run
            self.said.emit(str(error))
        self._context.document.set_target(choice)

    def _on_place(self, choice: Choice) -> None:
        self._set(choice)
        self.said.emit(f"Target: {label_of(choice)}. Undo reverts this.")

    def _make_preflight(self) -> QDialog:
        from workbench.gui.targets.preflight_dialog import PreflightDialog

        dialog = PreflightDialog(self._context, self._window)
        dialog.chosen.connect(self._on_recipe)
        dialog.fix_chosen.connect(self._on_fix)
        dialog.report.problems.problem_chosen.connect(self.problem_chosen)
        dialog.compiler.clicked.connect(lambda: self._install_compiler(dialog))
        dialog.start()
        return dialog

    def _install_compiler(self, preflight: Any) -> None:
        from workbench.gui.targets.preflight_dialog import InstallCompilerDialog

        dialog = InstallCompilerDialog(preflight)
        dialog.installed.connect(preflight.start)
        dialog.show()

    def _on_fix(self, fix: Fix) -> None:
        self._context.document.apply_fix(fix)
        self.said.emit(f"Done: {fix.title}. Undo reverts this.")

    def _on_recipe(self, values: dict[str, object]) -> None:
        self._context.document.set_recipe(**values)
        words = [p.title + " " + p.show(values[p.key]) for p in RECIPE_PARAMS if p.key in values]
        self.said.emit(f"Training settings changed: {', '.join(words)}. Undo reverts this.")


def _virtual_machine(choice: Choice) -> tuple[str, str, str] | None:
    """Name, zone and project of a TPU VM that gcloud lists; None for any other place."""
    spec = all_targets().get(choice.key)
    if spec is None or choice.key != TPU.key:
        return None
    params = check_all(spec.params, choice.params)[0]
    if not spec.is_remote(params):
        return None
    return params["address"], params["zone"], params["project"]
