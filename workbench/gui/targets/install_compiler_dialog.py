"""Installs Google's TPU compiler, once its license has been read and accepted."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from workbench.core.format import bytes_text
from workbench.errors import RunError
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, row
from workbench.gui.kit.working_dialog import WorkingDialog
from workbench.preflight.compiler_environment import (
    DOWNLOAD_BYTES,
    INSTALLED_BYTES,
    CompilerEnvironment,
    License,
)

_EXPLANATION = (
    "Google's TPU compiler checks whether a model fits and estimates its speed. It is "
    f"downloaded from PyPI ({bytes_text(DOWNLOAD_BYTES)}) into its own folder "
    f"({bytes_text(INSTALLED_BYTES)}), which can be removed at any time. Optional: "
    "Workbench works without it. It has its own license from Google, shown here before "
    "the installation."
)


class InstallCompilerDialog(WorkingDialog):
    """Download, license, installation: one after another, each started by a click.

    Signals:
        installed: The compiler is there.
    """

    installed = Signal()

    def __init__(
        self, parent: QWidget | None = None, environment: CompilerEnvironment | None = None
    ) -> None:
        super().__init__("Google's TPU compiler", QSize(640, 560), parent)
        self._environment = environment or CompilerEnvironment()
        self._license: License | None = None
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName("License of the TPU compiler")
        self.text.setPlaceholderText("The license appears here after the download.")
        self.next = button("", role="primary")
        self.next.clicked.connect(self._on_next)
        self.lay_out(
            plain_label("Google's TPU compiler", role="title"),
            plain_label(_EXPLANATION, role="dim", wrap=True),
            (self.text, 1),
            self.status,
            row(STRETCH, self.next, self.stop),
        )
        self._look()

    def _look(self) -> None:
        reason = self._environment.why_not()
        self.next.setVisible(not reason)
        if reason:
            self.status.say(reason, is_bad=True)
        elif self._environment.is_downloaded():
            self._show_license()
        else:
            self.next.setText(f"Download ({bytes_text(DOWNLOAD_BYTES)})")

    def _show_license(self) -> None:
        self.run(self._environment.license, self._on_license, "Reading the license")

    def _on_license(self, terms: License) -> None:
        self._license = terms
        self.text.setPlainText(terms.text)
        self.next.setText("Accept and install")
        self.status.say("By installing it you accept this license.")

    def _on_next(self) -> None:
        if self._license is None:
            self.run(
                lambda: self._environment.download(
                    on_progress=self.progressed.emit, check=self.check
                ),
                lambda _none: self._show_license(),
                "Downloading",
            )
            return
        accepted = self._license.sha256
        self.run(
            lambda: self._environment.install(
                accepted, on_progress=self.progressed.emit, check=self.check
            ),
            lambda _none: self._on_installed(),
            "Installing",
        )

    def _on_installed(self) -> None:
        self.next.hide()
        self.status.say("Installed. Preflight checks now use it.")
        self.installed.emit()

    def refresh(self) -> None:
        super().refresh()
        self.next.setEnabled(not self._background.is_busy)

    def check(self) -> None:
        if self._called_off.is_set():
            raise RunError("Canceled. Completed downloads are kept.")
