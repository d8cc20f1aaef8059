"""Keeps a trainer ready while a project is worked on."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from workbench.client.background import Background
from workbench.client.run_library import RunLibrary
from workbench.document.project_document import ProjectDocument
from workbench.runs.ready import ready_trainer
from workbench.settings.options.keeps_trainer_ready import SPEC as KEEPS_READY
from workbench.settings.store import SettingsStore

DELAY_MS = 1_500
"""After the last sign of use: the view that was just opened, or the edit, comes first."""


class ReadyKeeper(QObject):
    """Has a trainer started soon after a project is opened or changed, or after a training, while
    nothing trains here. It ends by itself after a while without use, and where memory is short.
    """

    def __init__(
        self,
        document: ProjectDocument,
        library: RunLibrary,
        settings: SettingsStore,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._document, self._library, self._settings = document, library, settings
        self._background = Background(self, max_threads=1)
        self._was_training = False
        self._timer = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._timer.timeout.connect(self._keep)
        document.project_replaced.connect(self.touch)
        document.edited.connect(self.touch)
        library.runs_changed.connect(self._on_runs_changed)
        self._unlisten = settings.listen(lambda _settings: self.touch())

    def touch(self, *_news: object) -> None:
        """Notes that the project is worked on."""
        self._timer.start()

    def close(self) -> None:
        """Ends the trainer that waits, if one does."""
        self._timer.stop()
        self._unlisten()
        self._background.close()
        ready_trainer.release()

    def _on_runs_changed(self) -> None:
        was_training, self._was_training = self._was_training, self._is_training
        if was_training and not self._is_training:
            self.touch()
        elif self._is_training and not was_training:  # its memory is for the run
            self._release()

    @property
    def _is_training(self) -> bool:
        library = self._library
        return library.is_starting or library.is_training or library.num_waiting > 0

    def _keep(self) -> None:
        project = self._document.project
        if not self._settings.settings.get(KEEPS_READY):
            self._release()
        elif not self._is_training:
            self._background.run(lambda: ready_trainer.keep(project), lambda _is_ready: None)

    def _release(self) -> None:
        self._background.run(ready_trainer.release, lambda _done: None)
