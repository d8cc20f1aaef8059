"""A model is trained; from a convolution in Design its filters are opened, a picture is dropped for its
feature maps, one of them is enlarged, and another layer is chosen.

Run by test_feature_maps.py; `python -m tests.end2end.hands.feature_maps PICTURE [SCREENSHOT_FOLDER]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtWidgets import QApplication, QMenu

from tests.end2end.hands.labeled_folder import Tester
from tests.end2end.user import Designer, at_the_window
from workbench.gui.shell.main_window import MainWindow

_SLOW_S = 240


class Looker(Tester, Designer):
    """Looks inside the network."""

    def open_from_design(self) -> dict[str, object]:
        """Chooses "Show feature maps" in the menu of the second convolution."""
        self.robot.key("ctrl+1")
        self.look_at_design()
        node = self.node("conv2d", 1)
        self.select(node)
        self.robot.click(self.middle(node), button=3)
        self.robot.wait(lambda: isinstance(QApplication.activePopupWidget(), QMenu), "the menu")
        menu = QApplication.activePopupWidget()
        (entry,) = [each for each in menu.actions() if "feature" in each.text()]
        self.shot("menu", menu)
        self.robot.click(menu.mapToGlobal(menu.actionGeometry(entry).center()))
        self.robot.wait(lambda: self.window.views.current_key == "classify", "Classify")
        self.panel = self.window.views.currentWidget().panels["classify_feature_maps"]
        self.robot.wait(lambda: self.panel.layer is not None, "filters", timeout_s=_SLOW_S)
        self.shot("filters")
        name = self.document.graph.nodes[node].name
        return {"asked": name, "filters": self._seen()}

    def drop_picture(self, picture: str) -> dict[str, object]:
        """The feature maps of a picture, and one that is clicked."""
        self.drop_file(picture)
        self._wait_for(lambda: self.panel.layer.answer.what == "maps")
        seen = self._seen()
        grid = self.panel.grid
        self.robot.click(self.robot.at_rest(lambda: grid.mapToGlobal(grid.cell(5).center())))
        self.robot.wait(self.panel.page.isVisible, "the channel")
        self.shot("enlarged")
        alone = self.panel.page.name.text(), self.panel.layer.answer.channels[5].index
        self.press(self.panel.page.back)
        self.robot.wait(grid.isVisible, "all channels")
        return {"maps": seen, "enlarged": alone}

    def choose_first_layer(self) -> dict[str, object]:
        """Clicks the convolution at the top of the list."""
        layers = self.panel.layers
        index = layers.model().index(2, 0)
        layers.scrollTo(index)
        place = self.robot.at_rest(
            lambda: layers.viewport().mapToGlobal(layers.visualRect(index).center())
        )
        self.robot.click(place)
        self._wait_for(lambda: self.panel.layer.answer.layer == layers.names[2])
        self.shot("first")
        return {"first": self._seen(), "clicked": layers.names[2]}

    def _wait_for(self, is_there) -> None:
        self.robot.wait(is_there, "the tiles", timeout_s=_SLOW_S)

    def _seen(self) -> tuple[str, str, int, bool]:
        answer = self.panel.layer.answer
        return answer.layer, answer.what, self.panel.grid.count, self.panel.grid.isVisible()


def act(window: MainWindow, shots: Path | None) -> dict[str, object]:
    """All of it."""
    user = Looker(window, shots)
    user.train()
    return {
        **user.open_from_design(),
        **user.drop_picture(sys.argv[1]),
        **user.choose_first_layer(),
    }


if __name__ == "__main__":
    at_the_window(act, sys.argv[2:])
