"""Somebody puts a pretrained network behind photos, from a blank canvas: Input is added by the
inspector's button, the network by its name, the rest by the link at the bottom; then it is trained
as it is.

Run by test_own_head.py; `python -m tests.end2end.hands.own_head [SCREENSHOT_FOLDER]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtWidgets import QAbstractButton

from tests.end2end.robot import center
from tests.end2end.user import Designer, at_the_window
from workbench.gui.data.source import DataSourcePanel
from workbench.gui.shell.main_window import MainWindow

_TRAINED_S = 400
"""Features of 1,000 photos at 224 x 224 once, then ten epochs on them, on a loaded computer."""


class Builder(Designer):
    """Builds by hand."""

    def open_blank(self) -> None:
        """Presses the card of the blank canvas."""
        page = self.window.show_view("welcome")
        self.robot.pause(300)
        card = next(each for each in page.cards() if each.accessibleName() == "Blank canvas")
        page.ensureWidgetVisible(card)
        self.robot.click(self.robot.at_rest(lambda: center(card)))
        self.look_at_design()

    def choose_photos(self) -> None:
        """Chooses the included photos in the Data view."""
        self.robot.key("ctrl+2")
        self.robot.wait(lambda: self.window.views.current_key == "data", "data view")
        sources = self.window.findChild(DataSourcePanel).sources
        self.robot.click(self.robot.at_rest(lambda: center(sources)))
        self.robot.wait(sources.view().isVisible, "the list of sources")
        index = sources.model().index(sources.findData("flowers1000"), 0)
        place = sources.view().visualRect(index)
        self.shot("sources", sources.view().window())
        self.robot.click(sources.view().viewport().mapToGlobal(place.center()))
        self.robot.wait(lambda: self.document.project.dataset.key == "flowers1000", "photos")
        self.robot.key("ctrl+1")
        self.look_at_design()

    def add_input(self) -> list[int]:
        """Presses the inspector's button; the shape of the Input that comes."""
        inspector = self.design.panels["inspector"]
        buttons = lambda: [  # noqa: E731 - asked for again and again
            each
            for each in inspector.findChildren(QAbstractButton)
            if each.isVisible() and each.text() == "Add Input"
        ]
        self.robot.wait(buttons, "Add Input")
        self.press(buttons()[0])
        self.robot.wait(lambda: self.document.graph.nodes, "Input")
        return list(self.document.graph.nodes[self.node("input")].params["shape"])

    def is_nagged(self) -> bool:
        """Whether a remark lies on the canvas now."""
        card = self.canvas.scene.card
        return card is not None and card.isVisible()

    def rest_on_input(self) -> bool:
        """Whether a remark comes where the pointer rests, and goes by its button."""
        node = self.node("input")
        self.robot.rest_on(self.middle(node))
        came = self.robot.sees(self.is_nagged, timeout_s=10)
        self.shot("remark")
        if came:
            card = self.canvas.scene.card
            close = self.on_screen(card.mapToScene(card.close_place().center()))
            self.robot.click(close)
        return came and self.robot.sees(lambda: not self.is_nagged(), timeout_s=10)

    def add_backbone(self) -> None:
        """Ctrl+K, its name, Enter."""
        self.robot.key("ctrl+k")
        self.robot.pause(300)
        self.robot.write("efficientnet-lite")
        self.robot.key("Return")
        self.robot.wait(lambda: len(self.document.graph.nodes) > 100, "the pretrained network")

    def finish(self) -> str:
        """Presses the link at the bottom; its words."""
        step = self.window.status.next_step
        words = step.text()
        self.press(step)
        self.robot.wait(lambda: self.document.analysis.is_trainable, "a network to train")
        return words

    def train(self) -> float:
        """Presses Train and waits for the end of the run; its accuracy on the test images."""
        self.press(self.window.top.train)
        library = self.window.context.library

        def is_over() -> bool:
            outcome = library.current.outcome if library.current is not None else None
            return outcome is not None and outcome.is_over

        self.robot.wait(is_over, "the end of the run", timeout_s=_TRAINED_S)
        self.shot("trained")
        assert library.current.outcome.kind == "completed"
        library.refresh()
        self.robot.wait(
            lambda: (run := library.summary(library.current.run.path)) and run.test_accuracy,
            "the accuracy in the list of runs",
        )
        return float(library.summary(library.current.run.path).test_accuracy)


def act(window: MainWindow, shots: Path | None) -> dict[str, object]:
    """From the blank canvas to a network that can be trained."""
    user = Builder(window, shots)
    user.open_blank()
    user.choose_photos()
    shape = user.add_input()
    is_nagged = user.is_nagged()
    closes = user.rest_on_input()
    user.add_backbone()
    words = user.finish()
    user.robot.pause(500)
    user.shot("finished")
    start = user.document.graph.nodes[user.node("input")]
    named = user.canvas.scene.nodes[start.id].facts.data
    problems = [problem.title for problem in user.document.analysis.problems]
    return {
        "added": shape,
        "is_nagged": is_nagged,
        "closes": closes,
        "step": words,
        "shape": list(start.params["shape"]),
        "problems": problems,
        "named": named,
        "accuracy": user.train(),
    }


if __name__ == "__main__":
    at_the_window(act, sys.argv[1:2])
