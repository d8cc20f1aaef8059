"""Unsaved work of windows that crashed: recovered, discarded, or left for later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from workbench.document.recovery import RecoveryOffer
from workbench.gui.kit.labels import plain_label

_OFFER = Qt.ItemDataRole.UserRole


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
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 14)
        column.setSpacing(10)
        column.addWidget(plain_label("Workbench closed unexpectedly", role="title"))
        words = (
            "These changes were not saved. Recover opens a copy; the file itself does not "
            "change until you save. Discarded changes are kept for 30 days in the recovery "
            "folder."
        )
        column.addWidget(plain_label(words, role="dim", wrap=True))
        self.list = QListWidget()
        self.list.setAccessibleName("Unsaved work")
        for offer in offers:
            item = QListWidgetItem(offer.sentence())
            item.setData(_OFFER, offer)
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        column.addWidget(self.list, 1)
        column.addWidget(self._buttons())

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox()
        roles = QDialogButtonBox.ButtonRole
        self.recover = buttons.addButton("Recover", roles.AcceptRole)
        self.discard = buttons.addButton("Discard", roles.DestructiveRole)
        later = buttons.addButton("Later", roles.RejectRole)
        self.recover.clicked.connect(self._on_recover)
        self.discard.clicked.connect(self._on_discard)
        later.clicked.connect(self.reject)
        return buttons

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
