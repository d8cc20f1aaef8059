"""What a trainer hands to a data set's `load`: cache folder, progress, cancellation, Keras."""

from __future__ import annotations

from typing import Any

from workbench.runs.home import cache_home, made_cache
from workbench.worker.process.event_logger import EventLogger
from workbench.worker.process.lazy_keras import LazyKeras
from workbench.worker.process.stop import StopSwitch


class TrainerLoadContext:
    """A LoadContext that tells progress as phases of the run."""

    def __init__(self, events: EventLogger, stop: StopSwitch, lazy_keras: LazyKeras) -> None:
        self._teller = events
        self._stop = stop
        self._engine = lazy_keras

    @property
    def cache_folder(self) -> str:
        """Folder for downloads and decoded pictures; made on first use."""
        return made_cache(cache_home())

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Tells what is being loaded; fraction 0..1 where known."""
        self._teller.phase("loading", text, fraction)

    def check_cancelled(self) -> None:
        """Raises StoppedError once the user has asked to stop."""
        self._stop.check()

    def keras(self) -> Any:
        """The keras module; waits until it is imported."""
        return self._engine.keras()
