"""Two windows on one file, by mouse and keyboard: what the later one overwrites is asked first.

Run by test_two_windows.py; prints what was seen as one JSON line.
`python -m tests.end2end.two_windows PROJECT [SCREENSHOT_FOLDER]`; it starts the second window as
`... PROJECT second`, which acts whenever it reads a line.
"""

from __future__ import annotations

import json
import select
import sys
from pathlib import Path

from PySide6.QtCore import QPoint, QProcess
from PySide6.QtWidgets import QApplication, QMessageBox

from tests.end2end.robot import center
from tests.end2end.user import Designer, at_the_window
from workbench.core.projects.project_file import read_project


class Editor(Designer):
    """Somebody with the project open."""

    def open(self, path: str) -> None:
        """Has the project in the design view."""
        assert self.window.files.open(path)
        self.look_at_design()

    def come_to_front(self) -> None:
        """What a click on the window's frame does."""
        self.window.raise_()
        self.robot.focus(self.window)
        self.robot.wait(self.window.isActiveWindow, "the window is active")
        self.robot.wait(lambda: self.document.disk.num_looks == 0, "the file was looked at")

    def delete(self, kind: str) -> None:
        """Clicks the first layer of a kind and presses Delete."""
        node = self.node(kind)
        self.canvas.view.centerOn(self.canvas.scene.nodes[node])
        self.robot.pause(200)
        self.select(node)
        self.robot.key("Delete")
        self.robot.wait(lambda: node not in self.document.graph.nodes, f"{kind} deleted")

    def kinds(self) -> list[str]:
        """The layers shown."""
        return [node.kind for node in self.document.graph.nodes.values()]


def second(user: Editor, path: str) -> dict[str, object]:
    """The second window: deletes a layer and saves; later comes back and reloads."""
    user.open(path)
    _wait_for_a_line(user)
    user.come_to_front()
    user.delete("batch_normalization")
    user.robot.key("ctrl+s")
    user.robot.wait(lambda: not user.document.is_dirty, "saved")
    print(json.dumps({"saved": user.kinds()}), flush=True)
    _wait_for_a_line(user)
    user.come_to_front()
    bar = user.window.changed_bar
    user.robot.wait(bar.isVisible, "the notice")
    can_revert = user.window.actions_by_key["revert"].isEnabled()
    user.press(bar.reload)
    user.robot.wait(lambda: not bar.isVisible(), "reloaded")
    return {"can_revert": can_revert, "reloaded": user.kinds(), "title": user.window.windowTitle()}


def first(user: Editor, path: str) -> dict[str, object]:
    """The first window, and the story as a whole."""
    user.open(path)
    other = QProcess()
    other.start(sys.executable, ["-m", "tests.end2end.two_windows", path, "second"])
    user.robot.wait(other.waitForStarted, "the second window's process")
    other.write(b"go\n")
    saved = _line_of(user, other)["saved"]
    user.come_to_front()
    bar = user.window.changed_bar
    user.robot.wait(bar.isVisible, "the notice")
    user.shot("notice")
    seen: dict[str, object] = {"second_saved": saved, "notice": bar.words.text()}
    user.press(bar.close_button)
    user.delete("flatten")
    for answer in ("Cancel", "Overwrite"):
        seen[f"asked_before_{answer}"] = _save_and_answer(user, answer)
        seen[f"file_after_{answer}"] = _kinds_in(path)
    other.write(b"go\n")
    seen.update(_line_of(user, other))
    other.waitForFinished(20_000)
    return {**seen, "is_dirty": user.document.is_dirty}


def _save_and_answer(user: Editor, answer: str) -> str:
    """Ctrl+S, then a click on a button of the question; returns the question."""
    asked: list[str] = []

    def act(box: QMessageBox) -> None:
        asked.append(box.text())
        user.shot("question", box)
        user.robot.click(center(next(b for b in box.buttons() if b.text() == answer)))

    def find() -> QMessageBox | None:
        box = QApplication.activeModalWidget()
        return box if isinstance(box, QMessageBox) else None

    user.robot.click(user.window.mapToGlobal(QPoint(700, 60)))  # the keyboard is the window's
    user.robot.while_open(find, act, opening=lambda: user.robot.key("ctrl+s"))
    user.robot.focus(user.window)
    return asked[0]


def _kinds_in(path: str) -> list[str]:
    return [node.kind for node in read_project(path).graph.nodes.values()]


def _line_of(user: Editor, process: QProcess) -> dict[str, object]:
    user.robot.wait(process.canReadLine, "a line of the second window", timeout_s=120)
    return json.loads(bytes(process.readLine().data()))


def _wait_for_a_line(user: Editor) -> None:
    user.robot.wait(lambda: select.select([sys.stdin], [], [], 0)[0], "a line", timeout_s=240)
    sys.stdin.readline()


def main() -> None:
    """One of the two windows."""
    path, *rest = sys.argv[1:]
    act, words = (second, []) if rest == ["second"] else (first, rest)

    def at_window(window: object, shots: Path | None) -> dict[str, object]:
        return act(Editor(window, shots), path)

    at_the_window(at_window, words)


if __name__ == "__main__":
    main()
