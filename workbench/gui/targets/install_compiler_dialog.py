"""Installs Google's TPU compiler, once its license has been read and accepted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from workbench.core.format import bytes_text
from workbench.errors import RunError, WorkbenchError
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.working_dialog import WorkingDialog
from workbench.preflight.compiler_environment import (
    DOWNLOAD_BYTES,
    INSTALLED_BYTES,
    CompilerEnvironment,
    Licence,
)

T = TypeVar("T")

SIZE = QSize(640, 560)
_EXPLANATION = (
    "Google's TPU compiler tells whether a model fits and estimates its speed. It is "
    f"downloaded from PyPI ({bytes_text(DOWNLOAD_BYTES)}) into its own folder "
    f"({bytes_text(INSTALLED_BYTES)}), which can be removed at any time. Optional: "
    "Workbench works without it. It has its own license from Google, shown here before "
    "the installation."
)


class _GivenUpError(RunError):
    """The person has called it off."""


class InstallCompilerDialog(WorkingDialog):
    """Download, license, installation: one after another, each started by a click.

    Signals:
        told: A line of what goes on; from another thread.
        installed: The compiler is there.
    """

    told = Signal(str)
    installed = Signal()

    def __init__(
        self, parent: QWidget | None = None, environment: CompilerEnvironment | None = None
    ) -> None:
        super().__init__("Google's TPU compiler", parent)
        self.resize(SIZE)
        self._environment = environment or CompilerEnvironment()
        self._licence: Licence | None = None
        self._given_up = threading.Event()
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName("License of the TPU compiler")
        self.text.setPlaceholderText("The license appears here after the download.")
        self.next = button("", role="primary")
        self.next.clicked.connect(self._on_next)
        self.told.connect(self.status.wait_for)
        self._build()
        self._look()

    def _build(self) -> None:
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.next)
        buttons.addWidget(self.stop)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(12)
        column.addWidget(plain_label("Google's TPU compiler", role="title"))
        column.addWidget(plain_label(_EXPLANATION, role="dim", wrap=True))
        column.addWidget(self.text, 1)
        column.addWidget(self.status)
        column.addLayout(buttons)

    def _look(self) -> None:
        reason = self._environment.why_not()
        self.next.setVisible(not reason)
        if reason:
            self.status.say(reason, is_bad=True)
        elif self._environment.is_downloaded():
            self._show_licence()
        else:
            self.next.setText(f"Download ({bytes_text(DOWNLOAD_BYTES)})")

    def _show_licence(self) -> None:
        self._run(self._environment.licence, self._on_licence, "Reading the license")

    def _on_licence(self, licence: Licence) -> None:
        self._licence = licence
        self.text.setPlainText(licence.text)
        self.next.setText("Accept and install")
        self._ended("By installing it you accept this license.")

    def _on_next(self) -> None:
        if self._licence is None:
            self._run(
                lambda: self._environment.download(tell=self.told.emit, check=self._check),
                lambda _none: self._show_licence(),
                "Downloading",
            )
            return
        accepted = self._licence.sha256
        self._run(
            lambda: self._environment.install(accepted, tell=self.told.emit, check=self._check),
            lambda _none: self._on_installed(),
            "Installing",
        )

    def _on_installed(self) -> None:
        self.next.hide()
        self._ended("Installed. Preflight checks now use it.")
        self.installed.emit()

    def _run(self, work: Callable[[], T], on_done: Callable[[T], None], words: str) -> None:
        self.next.setEnabled(False)
        self.stop.setText("Cancel")
        self.status.wait_for(words)
        self._background.run(work, lambda result: self._on_done(on_done, result), self._on_failed)

    def _on_done(self, on_done: Callable[[T], None], result: T) -> None:
        if not self.close_if_asked():
            on_done(result)

    def _on_failed(self, error: WorkbenchError) -> None:
        self._ended(str(error), is_bad=True)
        self.close_if_asked()

    def _ended(self, words: str, *, is_bad: bool = False) -> None:
        self.next.setEnabled(True)
        self.stop.setText("Close")
        self.status.say(words, is_bad=is_bad)

    def _check(self) -> None:
        if self._given_up.is_set():
            raise _GivenUpError("Canceled. Completed downloads are kept.")

    def call_off(self) -> None:
        self._given_up.set()
