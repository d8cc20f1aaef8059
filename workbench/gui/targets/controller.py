"""What people ask about places to train: will it train on a TPU, connect another computer,
do two places compute the same. One dialog of each kind at a time.
"""

# ruff: noqa: PLC0415 - a dialog's code is loaded when it is first opened

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog, QWidget

from workbench.client.background import Background
from workbench.core.checks.problems import Fix
from workbench.core.params import check_all
from workbench.core.projects.project import Choice
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.errors import SaveError, WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.remote.ssh.saved_hosts import SavedHost, forget_computer, label_of, rename_host
from workbench.runs.places import remember
from workbench.targets import all_targets
from workbench.targets.tpu import SPEC as TPU

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
        """Opens what a key of gui.targets.menu.DIALOGS names; an open one is brought up.

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
        from workbench.gui.targets.install_compiler_dialog import InstallCompilerDialog

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
