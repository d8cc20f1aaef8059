"""A real window in a process of its own that is operated over a pipe, with answers to its dialogs.

`python -m tests.proofs._piped_window` reads a JSON command a line and prints a JSON reply a line.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_POLL_MS = 2
BAR_BUTTONS = ("Reload", "Save as…", "Overwrite", "Save", "Close")


class PipedWindow:
    """The process of the window: does what the lines of standard input say."""

    def __init__(self, home: Path) -> None:
        from PySide6.QtCore import Qt, QTimer
        from PySide6.QtWidgets import QApplication

        from workbench.app import make_context, make_window

        QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
        self.app = QApplication([])
        self.context = make_context(home, self.app)
        self.context.theme.apply(self.app)
        self.window = make_window(self.context, home)
        self.window.show()
        self.document = self.context.document
        self.questions: list[list[str]] = []
        self.answers: list[str] = []
        self.new_path = ""
        self._timer = QTimer()
        self._timer.timeout.connect(self._answer)
        self._timer.start(_POLL_MS)

    def obey(self, command: dict[str, Any]) -> dict[str, Any]:
        """Does one thing and says what was seen meanwhile."""
        self.questions = []
        self.answers = list(command.get("answers", ()))
        self.new_path = str(command.get("new_path", ""))
        done = getattr(self, f"do_{command['do']}")(str(command.get("what", "")))
        return {"done": bool(done), **self._state()}

    def do_open(self, path: str) -> bool:
        return self.window.files.open(path)

    def do_edit(self, name: str) -> None:
        self.document.rename(self.document.add_node("dropout"), name)

    def do_save(self, _: str) -> bool:
        return self.window.files.save()

    def do_revert(self, _: str) -> None:
        self.window.actions_by_key["revert"].trigger()

    def do_activate(self, _: str) -> None:
        from PySide6.QtCore import QEvent, QEventLoop, QTimer

        self.app.sendEvent(self.window, QEvent(QEvent.Type.WindowActivate))
        loop = QEventLoop()
        while self.document.disk.num_looks:
            QTimer.singleShot(1, loop.quit)
            loop.exec()

    def do_press(self, words: str) -> bool:
        """A button of the bar; False where it cannot be seen."""
        bar = self.window.changed_bar
        buttons = (bar.reload, bar.save_as, bar.overwrite, bar.close_button)
        button = next((b for b in buttons if words in (b.text(), b.accessibleName()[:5])), None)
        if button is None or not button.isVisible():
            return False
        self.questions.append([f"bar: {bar.words.text()}", words])
        button.click()
        return True

    def _state(self) -> dict[str, Any]:
        disk = self.document.disk
        return {
            "questions": self.questions,
            "names": sorted(n.name for n in self.document.graph.nodes.values()),
            "path": str(self.document.path),
            "is_dirty": self.document.is_dirty,
            "digest": disk.stamp.digest if disk.stamp else "",
            "bar": self.window.changed_bar.isVisible(),
            "elsewhere": disk.is_open_elsewhere,
        }

    def _answer(self) -> None:
        """Gives the next answer that fits the dialog in front; Cancel where none does."""
        from PySide6.QtWidgets import QDialog, QFileDialog, QMessageBox

        dialog = self.app.activeModalWidget()
        if isinstance(dialog, QFileDialog):
            dialog.selectFile(self.new_path)
            dialog.accept()
        elif isinstance(dialog, QMessageBox):
            buttons = {b.text().replace("&", ""): b for b in dialog.buttons()}
            wanted = self.answers.pop(0) if self.answers else "Cancel"
            wanted = (
                wanted if wanted in buttons else next(w for w in ("Cancel", "OK") if w in buttons)
            )
            self.questions.append([dialog.text(), wanted])
            buttons[wanted].click()
        elif isinstance(dialog, QDialog):
            dialog.reject()

    def run(self) -> None:
        """Obeys until the input ends."""
        from PySide6.QtCore import QSocketNotifier

        notifier = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read)
        waiting = bytearray()
        is_busy: list[bool] = []

        def read() -> None:
            data = os.read(sys.stdin.fileno(), 65536)
            if not data:
                os._exit(0)
            waiting.extend(data)
            if is_busy:  # a dialog's own loop: the next command waits for the reply to this one
                return
            is_busy.append(True)
            while b"\n" in waiting:
                line, _, rest = bytes(waiting).partition(b"\n")
                waiting[:] = rest
                print(json.dumps(self.obey(json.loads(line))), flush=True)
            is_busy.clear()

        notifier.activated.connect(read)
        self.app.exec()


class WindowProcess:
    """The other end: a window that is told what to do."""

    def __init__(self, home: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.proofs._piped_window", str(home)],
            cwd=ROOT,
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "WORKBENCH_HOME": str(home)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.last: dict[str, Any] = {"names": [], "path": "None", "questions": []}

    def order(self, do: str, what: str = "", **more: object) -> None:
        """Sends a command; `reply` must follow before the next one."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": do, "what": what, **more}) + "\n")
        self._process.stdin.flush()

    def reply(self) -> dict[str, Any]:
        """What was seen while the last command was obeyed."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(f"the window ended with {self._process.wait()}")
        self.last = json.loads(line)
        return self.last

    def ask(self, do: str, what: str = "", **more: object) -> dict[str, Any]:
        """Sends a command and waits for its reply."""
        self.order(do, what, **more)
        return self.reply()

    def close(self) -> None:
        """Ends the window."""
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()


if __name__ == "__main__":
    PipedWindow(Path(sys.argv[1])).run()
