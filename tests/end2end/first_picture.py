"""A first user's hour in a minute: empty canvas, four layers dragged from the palette and
connected, a real training on the bundled pictures, a picture file dropped on the window.

Run by test_first_picture.py in a process of its own on a screen of its own; prints what was
seen as one JSON line. `python -m tests.end2end.first_picture PICTURE [SCREENSHOT_FOLDER]`
"""

from __future__ import annotations

import sys

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QWidget

from tests.end2end.robot import center
from tests.end2end.user import Designer, at_the_window
from workbench.gui.classify.result_card import ROW_PX


class FirstUser(Designer):
    """What a person does, step by step."""

    # design ----------------------------------------------------------------------------

    def open_empty_canvas(self) -> None:
        """Clicks the card of the welcome page."""
        welcome = self.window.views.currentWidget()
        card = next(c for c in welcome.cards() if "Blank" in c.accessibleName())
        self.robot.click(center(card))
        self.look_at_design()

    def drag_layer(self, key: str, place: QPoint) -> str:
        """Drags a layer from the palette to a place on the canvas; returns its node."""
        before = set(self.document.graph.nodes)
        palette = self.design.panels["palette"].list
        rows = range(palette.count())
        item = next(
            palette.item(row)
            for row in rows
            if palette.item(row).data(Qt.ItemDataRole.UserRole) == key
        )
        palette.scrollToItem(item)
        self.robot.pause(100)
        start = palette.viewport().mapToGlobal(palette.visualItemRect(item).center())
        self.robot.drag(start, self.canvas.view.viewport().mapToGlobal(place))
        self.robot.wait(lambda: set(self.document.graph.nodes) - before, f"a {key} node")
        return (set(self.document.graph.nodes) - before).pop()

    def connect(self, source: str, target: str) -> None:
        """Drags from the output of one node to the input of another."""
        nodes = self.canvas.scene.nodes
        start = self.on_screen(nodes[source].output_point())
        self.robot.drag(start, self.on_screen(nodes[target].input_point()))
        self.robot.wait(
            lambda: source in self.document.graph.sources(target), f"edge {source} → {target}"
        )

    def set_number(self, form: QWidget, key: str, text: str) -> None:
        """Types a number into a field of a form."""
        editor = form.editor_widget(key)
        box = editor if isinstance(editor, QAbstractSpinBox) else editor.findChild(QAbstractSpinBox)
        self.robot.click(center(box) - QPoint(20, 0), times=3)
        self.robot.key("ctrl+a")
        self.robot.write(text)
        self.robot.key("Return")

    def choose(self, form: QWidget, key: str, word: str) -> None:
        """Chooses a word in a combo box with the keyboard, as the mouse would open a list."""
        box = form.editor_widget(key)
        assert isinstance(box, QComboBox)
        self.robot.click(center(box))
        self.robot.write(word)
        self.robot.key("Return")
        self.robot.wait(lambda: word in box.currentText(), f"{word} chosen")

    # train, classify -------------------------------------------------------------------

    def train(self) -> None:
        """Presses Train and waits for the end of the run."""
        library = self.window.context.library
        self.robot.click(center(self.window.top.train))
        self.robot.wait(lambda: library.current is not None, "a run", timeout_s=20)
        self.robot.wait(lambda: len(library.current.history.steps) > 5, "curves", timeout_s=120)
        self.shot("train")
        self.robot.wait(lambda: library.current.outcome.is_over, "the end", timeout_s=240)

    def drop_picture(self, picture: str) -> str:
        """Drags a file from another process onto the window; returns the answer shown."""
        self.drop_file(picture)
        self.robot.wait(lambda: self.window.views.current_key == "classify", "classify view")
        card = self.window.views.currentWidget().panels["classify_result"]
        self.robot.wait(lambda: card.entry is not None, "an answer", timeout_s=90)
        self.robot.pause(200)
        return card.label.text()

    def look_why(self) -> str:
        """Waits for the heat map, clicks the second class and compares with random weights; what
        is said of both maps.
        """
        panels = self.window.views.currentWidget().panels
        panel, bars = panels["classify_explanation"], panels["classify_result"].bars
        self.robot.wait(panel.check.isEnabled, "a heat map", timeout_s=90)
        self.shot("explanation")
        second = bars.scores[1][0]
        row = QPoint(20, ROW_PX + ROW_PX // 2)
        self.robot.click(self.robot.at_rest(lambda: bars.mapToGlobal(row)))
        self.robot.wait(lambda: panel.class_box.currentText() == second, f"{second} explained")
        self.robot.wait(panel.check.isEnabled, "its heat map", timeout_s=90)
        self.press(panel.check)
        self.robot.wait(lambda: len(panel.figure.layers) == 2, "two maps", timeout_s=90)
        self.robot.pause(200)
        return panel.note.text()


def _first_hour(user: FirstUser, picture: str) -> dict[str, object]:
    user.open_empty_canvas()
    middle = user.canvas.view.viewport().width() // 2
    kinds = ("input", "conv2d", "flatten")
    nodes = [
        user.drag_layer(kind, QPoint(middle, 70 + 120 * row)) for row, kind in enumerate(kinds)
    ]
    # Dropped below another, a layer is connected at once; this one is apart.
    nodes.append(user.drag_layer("dense", QPoint(middle - 300, 300)))
    was_connected = bool(user.document.graph.edges_into(nodes[3]))
    user.connect(nodes[2], nodes[3])
    user.select(nodes[0])
    _set_size(user, "28 x 28 x 1")
    user.select(nodes[3])
    user.set_number(user.design.panels["inspector"].form, "units", "10")
    user.choose(user.design.panels["inspector"].form, "activation", "softmax")
    user.shot("design")
    user.document.set_recipe(epochs=1, steps_per_epoch=100, batch_size=200, validation="test")
    problems = [p.message for p in user.document.analysis.problems if p.severity == "error"]
    if not problems:
        user.train()
    label = user.drop_picture(picture)
    user.shot("classify")
    note = user.look_why()
    user.shot("random_weights")
    history = user.window.context.library.current.history
    return {
        "was_connected_by_hand": not was_connected,
        "problems": problems,
        "kinds": [user.document.graph.nodes[node].kind for node in user.document.graph.order],
        "parameters": user.document.analysis.costs.parameters.total,
        "steps": len(history.steps),
        "val_accuracy": history.epochs[-1].val_accuracy,
        "validates_on_test": history.data.validates_on_test,
        "label": label,
        "note": note,
        "has_tensorflow": "tensorflow" in sys.modules,
    }


def _set_size(user: FirstUser, text: str) -> None:
    line = user.design.panels["inspector"].form.editor_widget("shape")
    user.robot.click(center(line), times=3)
    user.robot.key("ctrl+a")
    user.robot.write(text)
    user.robot.key("Return")


if __name__ == "__main__":
    at_the_window(
        lambda window, shots: _first_hour(FirstUser(window, shots), sys.argv[1]), sys.argv[2:]
    )
