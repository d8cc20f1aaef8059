"""The map of the chosen run: read from its folder, and computed where it has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from workbench.client.question import Handlers, Question
from workbench.core.format import share
from workbench.errors import WorkbenchError
from workbench.gui.evaluate.scored import ImagesOfRun, num_missing
from workbench.gui.evaluate.state import EvaluateState
from workbench.gui.images.source import ImageSource
from workbench.protocol.messages import Progress
from workbench.protocol.trained.image_map import MapImages
from workbench.runs.folder import RunFolder
from workbench.runs.store.image_map import ImageMap, load_image_map


@dataclass(frozen=True)
class MapOfRun:
    """A map, and its images as the grid shows them."""

    found: ImageMap
    images: ImagesOfRun

    @property
    def class_names(self) -> list[str]:
        """In the order of the model's outputs."""
        return self.images.class_names


def read_map(run: RunFolder) -> MapOfRun | None:
    """The map of a run's present weights; None where it has none. Raises RunFolderError."""
    card = run.model_card()
    found = load_image_map(run, card.checksum, len(card.class_names))
    if found is None:
        return None
    dataset: Mapping[str, Any] = card.dataset
    source = ImageSource(
        str(dataset.get("key", "")), dataset.get("params", {}), dataset.get("edits", {})
    )
    missing = num_missing(found.images)
    return MapOfRun(found, ImagesOfRun(None, found.images, source, card.class_names, missing))


class MapState(QObject):
    """Reads the map of the run that is chosen, and requests what it lacks.

    Signals:
        changed(): Another map, or none.
        began(): One is being computed.
        progressed(str): What is being done.
        ended(): It ended, with a map or without.
        failed(WorkbenchError): It could not be computed or read.

    Attributes:
        map: The map; None for none.
    """

    changed = Signal()
    began = Signal()
    progressed = Signal(str)
    ended = Signal()
    failed = Signal(object)

    def __init__(self, state: EvaluateState) -> None:
        super().__init__(state)
        self._state = state
        self.map: MapOfRun | None = None
        self._run: Path | None = None
        self._question = Question(state.context.measurer)
        state.looked.connect(self._on_looked)
        state.closing.connect(self._question.drop)

    @property
    def has_run(self) -> bool:
        """Whether there is a run to compute a map of."""
        return self._run is not None

    @property
    def is_busy(self) -> bool:
        """Whether a map is being computed."""
        return self._question.is_open

    def _on_looked(self) -> None:
        """Gives up what was computed for another run, or for other weights of it."""
        run, known = self._state.run, self._state.known
        if run != self._run:
            self._question.drop()
            self._run, self.map = run, None
            self.ended.emit()
            self.changed.emit()
        checksum = known.checksum if known is not None else ""
        if not self.is_busy and (self.map is None or self.map.found.weights != checksum):
            self.read()

    def read(self) -> None:
        """Reads the map that is kept with the run."""
        run = self._run
        if run is None:
            return

        def take(found: MapOfRun | None) -> None:
            if run == self._run and (found is not None or self.map is not None):
                self.map = found
                self.changed.emit()

        def fail(error: WorkbenchError) -> None:
            if run == self._run:
                self.map = None
                self.changed.emit()
                self.failed.emit(error)

        self._state.background.run(lambda: read_map(RunFolder(run)), take, fail)

    def compute(self) -> None:
        """Computes the map, with the features where these are not kept yet."""
        run = self._run
        if run is None or self.is_busy:
            return

        def take(_done: object) -> None:
            self.ended.emit()
            self.read()

        def fail(error: WorkbenchError) -> None:
            self.ended.emit()
            self.failed.emit(error)

        self.began.emit()
        self._question.ask(
            MapImages(id=0, model=str(run)),
            Handlers(on_done=take, on_failed=fail, on_progress=self._on_progress),
        )

    def cancel(self) -> None:
        """Ends the computation."""
        self._question.cancel()

    def _on_progress(self, progress: Progress) -> None:
        part = f", {share(progress.fraction, 0)}" if progress.fraction else ""
        self.progressed.emit(f"{progress.text}{part}")
