"""Keeps snapshots of unsaved edits, and offers what a crash has left."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.document.autosave import Autosave
from workbench.document.project_document import ProjectDocument
from workbench.document.recovery import RecoveryOffer, discard_offer, find_offers
from workbench.errors import WorkbenchError
from workbench.gui.files.recovery_dialog import RecoveryDialog
from workbench.gui.kit.messages import show_error


class RecoveryController(QObject):
    """Ties autosave to the window.

    Signals:
        recovered: Work was opened as an unsaved copy.
        said: A sentence for the status line.
    """

    recovered = Signal()
    said = Signal(str)

    def __init__(self, document: ProjectDocument, folder: Path, window: QWidget) -> None:
        super().__init__(window)
        self._folder = folder
        self._window = window
        self.autosave = Autosave(document, folder, parent=self)
        self.autosave.failed.connect(self.said)

    def offer(self) -> RecoveryDialog | None:
        """Shows what can be recovered; None when there is nothing."""
        offers = find_offers(self._folder)
        if not offers:
            return None
        dialog = RecoveryDialog(offers, self._window)
        dialog.recover_chosen.connect(self._on_recover)
        dialog.discard_chosen.connect(discard_offer)
        dialog.open()
        return dialog

    def close(self) -> None:
        """Ends in good order: what is unsaved now was given up by the user."""
        self.autosave.close()

    def _on_recover(self, offer: RecoveryOffer) -> None:
        try:
            self.autosave.recover(offer)
        except WorkbenchError as error:
            show_error(self._window, error)
            return
        self.recovered.emit()
        self.said.emit("Recovered as an unsaved copy. Save it to keep it.")
