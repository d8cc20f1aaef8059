"""What a data set's `load` is handed: cache folder, progress, cancellation, Keras."""

from __future__ import annotations

from workbench.runs.home import cache_home, made_cache
from workbench.worker.process.event_logger import EventLogger
from workbench.worker.process.lazy_keras import LazyKeras
from workbench.worker.process.stop import StopSwitch


class BaseLoadContext:
    """A LoadContext but for cancellation and Keras."""

    _last_progress: tuple[str, float | None] = ("", None)

    @property
    def cache_folder(self) -> str:
        """Folder for downloads and decoded images, kept between runs; made on first use."""
        return made_cache(cache_home())

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Reports what is being done; a change below a hundredth is not reported again."""
        if fraction is not None:
            fraction = round(min(max(fraction, 0.0), 1.0), 2)
        if (text, fraction) != self._last_progress:
            self._last_progress = (text, fraction)
            self._report_progress(text, fraction)

    def _report_progress(self, text: str, fraction: float | None) -> None:
        raise NotImplementedError


class TrainerLoadContext(BaseLoadContext):
    """A LoadContext that logs progress as phases of the run."""

    def __init__(self, events: EventLogger, stop: StopSwitch, lazy_keras: LazyKeras) -> None:
        self.check_cancelled = stop.check
        self.keras = lazy_keras.keras
        self._events = events

    def _report_progress(self, text: str, fraction: float | None) -> None:
        self._events.phase("loading", text, fraction)
