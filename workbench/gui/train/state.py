"""What the panels of the training view share: the run that is shown."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from workbench.client.background import Background
from workbench.client.run_library import RunLibrary
from workbench.gui.common.context import WindowContext
from workbench.gui.train.plots.legend import Overlay, overlay_color
from workbench.runs.state.preparing import steps_per_epoch

# overlays ------------------------------------------------------------------------------------
# The runs that are drawn beside the selected one, each in a color of its own.


class RunOverlays(QObject):
    """Gives each shown run of a library a color, which it keeps while it is shown.

    `changed` when another run is shown, or more of one was read.
    """

    changed = Signal()

    def __init__(self, library: RunLibrary, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self._numbers: dict[Path, int] = {}
        self._titles: dict[Path, str] = {}
        library.shown_changed.connect(self._on_shown_changed)
        library.current_changed.connect(self.changed)
        library.runs_changed.connect(self._on_runs_changed)
        self._on_shown_changed()

    @property
    def colors(self) -> Mapping[Path, str]:
        """Color of each shown run."""
        return {path: overlay_color(number) for path, number in self._numbers.items()}

    def overlays(self) -> list[Overlay]:
        """The shown runs that were read, without the selected one: that is drawn anyway."""
        current = self._library.current
        histories = self._library.shown_histories()
        return [
            Overlay(self._title(path), overlay_color(number), histories[path])
            for path, number in sorted(self._numbers.items(), key=lambda item: item[1])
            if path in histories and (current is None or path != current.run.path)
        ]

    def _title(self, path: Path) -> str:
        summary = self._library.summary(path)
        return summary.label if summary is not None else path.name

    def _on_runs_changed(self) -> None:
        """A new run is called by its folder until the list is read; people rename runs."""
        titles = {path: self._title(path) for path in self._numbers}
        if titles != self._titles:
            self._titles = titles
            self.changed.emit()

    def _on_shown_changed(self) -> None:
        shown = self._library.shown
        self._numbers = {path: n for path, n in self._numbers.items() if path in shown}
        for path in sorted(shown - self._numbers.keys()):
            taken = set(self._numbers.values())
            self._numbers[path] = next(number for number in count() if number not in taken)
        self._titles = {path: self._title(path) for path in self._numbers}
        self.changed.emit()


# state ---------------------------------------------------------------------------------------


class TrainState(QObject):
    """Carries the view's state of the run to the panels, and their requests back.

    Signals:
        run_changed(Path | None): Folder of the run that is shown.
        time_changed(TimeSpent | None): Where the time of that run went.
        steps_changed(int): About how many steps an epoch of the next run has.
        runs_asked(str, list): What is to be done ("rename", "delete", "export:keras", ...) with
            these RunSummary.
        compare_asked(): The selected runs are to be compared.
        find_asked(str): "learning_rate" or "batch_size" shall be found by trying.
        width_asked(QWidget, int, int): A panel, the width it shall have, and the least that
            others make room for; see `Docks.give_width`.
        series_asked(str): A series of runs shall be planned: "cross_validation" or "sweep".

    Attributes:
        context: The parts that all views work with.
        background: Where files of runs are read.
        overlays: The runs that are drawn beside the one that is shown.
    """

    run_changed = Signal(object)
    time_changed = Signal(object)
    steps_changed = Signal(int)
    runs_asked = Signal(str, list)
    compare_asked = Signal()
    find_asked = Signal(str)
    width_asked = Signal(object, int, int)
    series_asked = Signal(str)

    def __init__(self, context: WindowContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.background = Background(self, max_threads=1)
        self.overlays = RunOverlays(context.library, self)
        context.estimator.changed.connect(self.refresh_steps)

    def refresh_steps(self) -> None:
        """Counts the steps of an epoch of the project as it is."""
        document = self.context.document
        steps = steps_per_epoch(document.recipe, document.dataset_facts)
        if steps is not None:
            self.steps_changed.emit(steps)
