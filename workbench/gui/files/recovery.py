"""Unsaved work: snapshots while it is edited; after a crash it is recovered, discarded, or left for
later.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QListWidget, QListWidgetItem, QWidget

from workbench.document.autosave import Autosave
from workbench.document.project_document import ProjectDocument
from workbench.document.recovery import RecoveryOffer, discard_offer, find_offers
from workbench.errors import WorkbenchError
from workbench.gui.kit.labels import plain_label, restyle
from workbench.gui.kit.layout import column
from workbench.gui.kit.messages import show_error

_OFFER = Qt.ItemDataRole.UserRole
_WORDS = (
    "These changes were not saved. Recover opens a copy; the file itself does not change until "
    "you save. Discarded changes are kept for 30 days in the recovery folder."
)


class RecoveryDialog(QDialog):
    """A list of offers.

    Signals:
        recover_chosen: The offer to be opened as an unsaved copy; the dialog closes.
        discard_chosen: The offer to be put away; the dialog closes with the last one.
    """

    recover_chosen = Signal(object)
    discard_chosen = Signal(object)

    def __init__(self, offers: Sequence[RecoveryOffer], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Unsaved work — Workbench")
        self.setMinimumSize(560, 280)
        self.list = QListWidget()
        self.list.setAccessibleName("Unsaved work")
        for offer in offers:
            item = QListWidgetItem(offer.sentence())
            item.setData(_OFFER, offer)
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        self.list.itemDoubleClicked.connect(lambda _item: self._on_recover())
        buttons, roles = QDialogButtonBox(), QDialogButtonBox.ButtonRole
        self.recover = buttons.addButton("Recover", roles.AcceptRole)
        self.discard = buttons.addButton("Discard", roles.DestructiveRole)
        later = buttons.addButton("Later", roles.RejectRole)
        restyle(self.recover, role="primary")
        self.recover.setDefault(True)
        self.recover.clicked.connect(self._on_recover)
        self.discard.clicked.connect(self._on_discard)
        later.clicked.connect(self.reject)
        title = plain_label("Workbench closed unexpectedly", role="title")
        parts = (title, plain_label(_WORDS, role="dim", wrap=True), (self.list, 1), buttons)
        column(*parts, parent=self, margins=(20, 18, 20, 14), spacing=10)

    def _chosen(self) -> RecoveryOffer | None:
        item = self.list.currentItem()
        return None if item is None else cast("RecoveryOffer", item.data(_OFFER))

    def _on_recover(self) -> None:
        offer = self._chosen()
        if offer is not None:
            self.accept()
            self.recover_chosen.emit(offer)

    def _on_discard(self) -> None:
        offer = self._chosen()
        if offer is None:
            return
        self.list.takeItem(self.list.currentRow())
        self.discard_chosen.emit(offer)
        if self.list.count() == 0:
            self.reject()


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
