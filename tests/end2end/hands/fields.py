"""Layers are opened with Enter and with a double click, and values are typed without looking.

Run by test_fields.py; `python -m tests.end2end.hands.fields [SCREENSHOT_FOLDER]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtWidgets import QApplication, QWidget

from tests.end2end.user import Designer, at_the_window
from workbench.gui.shell.main_window import MainWindow
from workbench.templates import find_template


class Typist(Designer):
    """Types over what is there."""

    def type_after_enter(self, node: str, key: str, text: str) -> dict[str, object]:
        """Selects a layer, presses Enter, types into its first field, ends with Enter."""
        self.select(node)
        self.robot.key("Return")
        return self._type(node, key, text, end="Return")

    def type_after_double_click(self, node: str, key: str, text: str) -> dict[str, object]:
        """Double-clicks a layer, types into its first field, goes on with Tab."""
        self.robot.click(self.middle(node), times=2)
        return self._type(node, key, text, end="Tab")

    def _type(self, node: str, key: str, text: str, *, end: str) -> dict[str, object]:
        """What the field showed after the typing, and what the layer has in the end."""
        before = self.document.graph.nodes[node].params[key]
        field = self._focused_field(key)
        self.robot.write(text)
        self.robot.sees(lambda: text in field.text())
        shown = field.text()
        self.shot(f"{key}_typed")
        self.robot.key(end)
        self.robot.sees(lambda: self.document.graph.nodes[node].params[key] != before)
        return {"shown": shown, "value": self.document.graph.nodes[node].params[key]}

    def _focused_field(self, key: str) -> QWidget:
        form = self.design.panels["inspector"].form

        def has_focus() -> bool:
            field, focused = form.editor_widget(key), QApplication.focusWidget()
            return focused is not None and (field is focused or field.isAncestorOf(focused))

        self.robot.wait(has_focus, f"the keyboard in the field of {key}")
        return form.editor_widget(key)


def act(window: MainWindow, shots: Path | None) -> dict[str, object]:
    """Three layers of LeNet-5, one after another."""
    user = Typist(window, shots)
    window.files.new(find_template("lenet5").project)
    user.look_at_design()
    user.robot.pause(300)
    return {
        "filters": user.type_after_enter(user.node("conv2d"), "filters", "99"),
        "pool_size": user.type_after_enter(user.node("average_pooling2d"), "pool_size", "48"),
        "more_filters": user.type_after_double_click(user.node("conv2d", 1), "filters", "77"),
    }


if __name__ == "__main__":
    at_the_window(act, sys.argv[1:])
