"""The curves of a run, or how each of its classes is learned: two pages in one place."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from workbench.client.run_follower import RunFollower
from workbench.gui.kit.buttons import SegmentedSwitch
from workbench.gui.kit.layout import add_to, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.train.class_accuracy import ClassPanel
from workbench.gui.train.plots.run_plots import RunPlots
from workbench.protocol.events import DataReady, EpochFinished, RunEvent


class RunPages(QWidget):
    """Curves and classes of one follower. The classes' page is made when it is first shown."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._follower: RunFollower | None = None
        self.plots = RunPlots(theme)
        self.classes: ClassPanel | None = None
        self.switch = SegmentedSwitch((("curves", "Curves"), ("classes", "Classes")))
        self.switch.setProperty("compact", True)
        self.switch.set_current("curves")
        self.switch.chosen.connect(self.show_page)
        policy = self.plots.smoothing.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # the switch stays as wide as it is
        self.plots.smoothing.setSizePolicy(policy)
        line = row(self.switch, (self.plots.smoothing, 1), spacing=16)
        # Not a stack, in which each page takes the room that the highest one needs.
        self._pages = column((self.plots, 1))
        column(line, (self._pages, 1), parent=self, spacing=8)

    def show_page(self, key: str) -> None:
        """Brings "curves" or "classes" to the front."""
        self.switch.set_current(key)
        if key == "classes" and self.classes is None:
            self.classes = ClassPanel(self._theme)
            add_to(self._pages, (self.classes, 1))
            self._show_classes()
        self.plots.setVisible(key == "curves")
        if self.classes is not None:
            self.classes.setVisible(key == "classes")
        self.plots.smoothing.setVisible(key == "curves")

    def set_follower(self, follower: RunFollower | None, title: str) -> None:
        """Shows another run."""
        self._follower = follower
        self.plots.set_history(follower.history if follower is not None else None, title)
        self._show_classes()

    def events_arrived(self, events: list[RunEvent]) -> None:
        """The run has logged more events."""
        if self.classes is None:
            return
        if any(isinstance(event, DataReady) for event in events):
            self._show_classes()
        elif any(isinstance(event, EpochFinished) for event in events):
            self.classes.grow()

    def close_background(self) -> None:
        """Waits for what still reads or writes; called before the application ends."""
        self.plots.close_background()
        if self.classes is not None:
            self.classes.close_background()

    def _show_classes(self) -> None:
        if self.classes is None:
            return
        if self._follower is None:
            self.classes.set_run(None, [])
        else:
            self.classes.set_run(self._follower.run, self._follower.history.class_names)
