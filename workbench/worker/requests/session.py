"""What a service worker keeps between requests: a private folder, models, the engine."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from workbench.errors import NeedsTensorFlowError, RunError
from workbench.protocol.bases import Answer
from workbench.protocol.messages import Progress
from workbench.runs.folder import RunFolder
from workbench.runs.store.image_features import references_path
from workbench.worker.process.lazy_keras import LazyKeras
from workbench.worker.process.run_channel import BaseLoadContext

if TYPE_CHECKING:
    from workbench.inference.runner import Runner
    from workbench.worker.saved_models.keras_runner import KerasRunner


# runner cache --------------------------------------------------------------------------------
# The last few models of a service worker, each reloaded when its files have changed.

R = TypeVar("R")

CAPACITY = 3
"""Models kept: a person compares two or three runs, and each holds its memory."""


class RunnerCache(Generic[R]):
    """Models of a kind by path, the longest unused leaves first."""

    def __init__(self) -> None:
        self._cached: OrderedDict[str, tuple[tuple[int, ...], R]] = OrderedDict()

    def find(self, path: str) -> R | None:
        """The model at `path` if it is in memory and its files are still the same."""
        mark, runner = self._cached.get(path, (None, None))
        if runner is None or mark != _mark(Path(path)):
            return None
        self._cached.move_to_end(path)
        return runner

    def load(self, path: str, load: Callable[[str], R]) -> R:
        """Loads the model at `path`; raises what `load` raises."""
        mark = _mark(Path(path))
        self._cached.pop(path, None)
        runner = load(path)
        self._cached[path] = (mark, runner)
        while len(self._cached) > CAPACITY:
            self._cached.popitem(last=False)
        return runner


def _mark(path: Path) -> tuple[int, ...]:
    """Numbers that change with the files of a model; -1 where one is missing."""
    run = RunFolder(path)
    marks: list[int] = []
    of_run = run.card_path, run.weights_path, references_path(run)
    for file in of_run if path.is_dir() else (path,):
        try:
            status = file.stat()
        except OSError:  # loading it will say so in words
            marks.append(-1)
        else:
            marks += [status.st_mtime_ns, status.st_size, status.st_ino]
    return tuple(marks)


# session -------------------------------------------------------------------------------------

_KEPT_IMAGES = 8
"""Files of one kind that stay: the window may still be reading one."""

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


class CancelledError(RunError):
    """The user has canceled a request; it ends in Failed with these words."""

    def __init__(self, what: str = "Canceled.", **parts: str) -> None:
        super().__init__(what, **parts)


@dataclass(frozen=True)
class Session:
    """Kept between requests: the session folder, for PNG files, and the models used last."""

    folder: Path
    lazy_keras: LazyKeras
    runners: RunnerCache[Runner] = field(default_factory=RunnerCache)
    keras_runners: RunnerCache[KerasRunner] = field(default_factory=RunnerCache)


class Job(BaseLoadContext):
    """One request being done: its handler answers with `send` and `id`, and can be canceled.

    It is also the LoadContext that data sets are loaded with.
    """

    def __init__(
        self, request_id: int, *, send: Callable[[Answer], None], session: Session
    ) -> None:
        self.id = request_id
        self.send = send
        self._session = session
        self._cancelled = threading.Event()

    @property
    def folder(self) -> Path:
        """The session folder: private, removed at the end."""
        return self._session.folder

    def session_png(self, pixels: Pixels, kind: str) -> str:
        """The path of a PNG file with pixels (height, width, channels) in the session folder.

        Of one kind, the oldest of earlier ones are removed: those have been looked at.
        """
        # Pillow is imported with the first image: Hello comes before.
        from workbench.pictures.png import write_png

        path = self._session_path(kind, "png")
        write_png(path, pixels)
        return str(path)

    def session_bitmap(self, pixels: Pixels, kind: str) -> str:
        """The path of an uncompressed bitmap, written as by `session_png`, see `write_bitmap`."""
        from workbench.pictures.png import write_bitmap

        path = self._session_path(kind, "bmp")
        write_bitmap(path, pixels)
        return str(path)

    def _session_path(self, kind: str, ending: str) -> Path:
        folder = self.folder / kind
        folder.mkdir(exist_ok=True)
        files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        for path in files[: max(0, len(files) - _KEPT_IMAGES + 1)]:
            path.unlink(missing_ok=True)
        return folder / f"{self.id}-{time.monotonic_ns()}.{ending}"

    def cancel(self) -> None:
        """Stops the handler at its next check; may be called from any thread."""
        self._cancelled.set()

    def check_cancelled(self) -> None:
        """Raises CancelledError when the user has canceled the request."""
        if self._cancelled.is_set():
            raise CancelledError

    def _report_progress(self, text: str, fraction: float | None) -> None:
        self.send(Progress(id=self.id, text=text, fraction=fraction))

    def keras(self) -> Any:
        """The keras module; reports progress while it is imported."""
        if not self._session.lazy_keras.is_loaded:
            self.progress("Starting TensorFlow")
        return self._session.lazy_keras.keras()

    def runner(self, model: str) -> Runner:
        """A model that classifies, by its path, from memory where possible: by ONNX Runtime, or in
        Keras where it needs that. See `load_onnx_runner` and `load_keras_runner` for errors.
        """
        return self._session.runners.find(model) or self._session.runners.load(model, self._load)

    def _load(self, model: str) -> Runner:
        from workbench.inference.onnx_runner import load_onnx_runner

        self.progress("Loading the model")
        try:
            return load_onnx_runner(model)
        except NeedsTensorFlowError:
            return self.keras_runner(model)

    def keras_runner(self, model: str) -> KerasRunner:
        """A model in Keras, by its path, from memory where possible; see `load_keras_runner`."""
        return self._session.keras_runners.find(model) or self._session.keras_runners.load(
            model, self._load_keras
        )

    def _load_keras(self, model: str) -> KerasRunner:
        self.keras()
        from workbench.worker.saved_models.keras_runner import load_keras_runner

        self.progress("Loading the model")
        return load_keras_runner(model)
