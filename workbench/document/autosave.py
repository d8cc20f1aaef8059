"""Keeps a snapshot of unsaved edits, so that a crash loses hardly any work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.document.project_document import ProjectDocument
from workbench.document.recovery import RecoveryOffer, RecoverySlot
from workbench.errors import SaveError

DELAY_MS = 1000


class Autosave(QObject):
    """Watches one document. Snapshots are written by the document's writer, in order, `delay_ms`
    after the first edit, into the recovery folder that all windows of this user share.

    `failed` is emitted, with a text and once until it works again, when snapshots cannot be
    kept; `snapshot_saved` when all edits so far would survive a crash.
    """

    failed = Signal(str)
    snapshot_saved = Signal()

    def __init__(
        self,
        document: ProjectDocument,
        folder: str | Path,
        *,
        delay_ms: int = DELAY_MS,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._slot = RecoverySlot(folder)
        self._num_edits = 0
        self._is_failing = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(delay_ms)
        self._timer.timeout.connect(self._save)
        document.edited.connect(self._on_edited)
        document.saved.connect(self._on_saved)
        document.project_replaced.connect(self._on_replaced)

    def recover(self, offer: RecoveryOffer) -> None:
        """Shows an offer as an unsaved copy; raises InputError when it is gone or damaged.

        The document's own unsaved work, if any, is put away first.
        """
        self._document.writer.finish()
        self._slot.discard()
        project = self._slot.take(offer)
        self._document.recover(project, offer.original)

    def close(self) -> None:
        """Ends the watch in good order: unsaved work counts as given up, and is put away."""
        self._timer.stop()
        for signal, slot in (
            (self._document.edited, self._on_edited),
            (self._document.saved, self._on_saved),
            (self._document.project_replaced, self._on_replaced),
        ):
            signal.disconnect(slot)
        self._document.writer.finish()
        self._slot.discard()
        self._slot.close()

    def _on_edited(self) -> None:
        self._num_edits += 1
        if self._document.is_dirty:
            if not self._timer.isActive():
                self._timer.start()
        else:
            self._end_snapshot(self._slot.clear)

    def _on_saved(self) -> None:
        self._end_snapshot(self._slot.clear)
        if self._document.is_dirty:  # edited while the file was being written
            self._timer.start()

    def _on_replaced(self) -> None:
        if not self._document.is_recovered:  # then the snapshot is what was recovered
            self._end_snapshot(self._slot.discard)

    def _end_snapshot(self, end: Callable[[], None]) -> None:
        self._timer.stop()
        self._num_edits = 0
        self._document.writer.write(end, self._on_written)

    def _save(self) -> None:
        project, original = self._document.project, self._document.path
        num_edits, slot = self._num_edits, self._slot
        self._document.writer.write(
            lambda: slot.save(project, original, num_edits), self._on_snapshot_written
        )

    def _on_snapshot_written(self, error: SaveError | None) -> None:
        self._on_written(error)
        if error is None:
            self.snapshot_saved.emit()

    def _on_written(self, error: SaveError | None) -> None:
        if error is not None and not self._is_failing:
            self.failed.emit(f"Unsaved changes would be lost in a crash: {error.what} {error.fix}")
        self._is_failing = error is not None
