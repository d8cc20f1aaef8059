"""The first start beside a real window manager: where the window is and what can be seen of it.

Run by test_first_start.py; `python -m tests.end2end.first_start [SCREENSHOT_FOLDER]`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from PySide6.QtCore import QPoint, QProcess, QRect, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from tests.end2end.user import User
from workbench.app import run_window
from workbench.gui.shell.main_window import MainWindow

_READY_S = 60


def watch(window: MainWindow, shots: Path | None) -> dict[str, object]:
    """What of the window is on the screen, in the window's own pixels."""
    user = User(window, shots)
    user.robot.wait(lambda: _frame_of(window) > 0, "the frame of the window manager")
    window.show_view("design")
    user.robot.wait(lambda: window.status.isVisible() and window.top.isVisible(), "both bars")
    user.robot.pause(300)
    user.shot("first_start")
    screen = window.screen().geometry()
    return {
        "frame": window.frameGeometry().getRect(),
        "title_bar": _frame_of(window),
        "screen": screen.getRect(),
        "is_frame_on_screen": screen.contains(window.frameGeometry()),
        "are_on_screen": {
            part.objectName() or type(part).__name__: screen.contains(_place(part))
            for part in (window.top, window.status, window.status.problems)
        },
        "covers": _share(window.frameGeometry(), screen),
    }


def _frame_of(window: QWidget) -> int:
    """Height of the title bar."""
    return window.geometry().top() - window.frameGeometry().top()


def _place(widget: QWidget) -> QRect:
    return QRect(widget.mapToGlobal(QPoint()), widget.size())


def _share(inner: QRect, outer: QRect) -> float:
    return inner.width() * inner.height() / (outer.width() * outer.height())


def start_manager() -> QProcess:
    """A window manager, once windows that open get a frame from it."""
    manager = QProcess()
    manager.start("openbox", ["--sm-disable"])
    end = time.monotonic() + _READY_S
    while time.monotonic() < end:
        asked = ["xprop", "-root", "_NET_SUPPORTING_WM_CHECK"]
        done = subprocess.run(asked, capture_output=True, text=True, check=True)
        if "window id" in done.stdout:
            return manager
        if manager.waitForFinished(50):
            break
    errors = manager.readAllStandardError().toStdString().strip()
    raise SystemExit(f"openbox is not ready: {errors or manager.errorString()}")


def main(shots: Path | None) -> int:
    """Starts the application as the command does, beside a window manager."""
    manager = start_manager()
    app = QApplication(sys.argv[:1])
    seen: list[dict[str, object]] = []

    def look() -> None:
        window = next(w for w in app.topLevelWidgets() if isinstance(w, MainWindow))
        try:
            seen.append(watch(window, shots))
        finally:
            window.close()

    QTimer.singleShot(0, app, look)
    run_window()
    manager.kill()
    manager.waitForFinished(3_000)
    print(json.dumps(*seen))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else None))
