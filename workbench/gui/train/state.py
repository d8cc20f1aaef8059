"""What the panels of the training view share: the run that is shown."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from workbench.client.background import Background
from workbench.gui.common.context import WindowContext
from workbench.gui.train.runs.overlays import RunOverlays
from workbench.runs.state.throughput import steps_per_epoch


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
