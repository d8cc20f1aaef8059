"""One picture dropped on a window that has just been started: `python -m workbench PROJECT` until
the bars of its classes are painted.

"In all" is from the start of the process, a new Python, to the paint event of the first bars. The
picture is dropped as soon as the project is in the window: the hand of a person, who needs longer
than that, is not counted. The process is that of the command, with the drop as Qt delivers one to
the window, on a screen of its own (Xvfb). The project's run was trained before, and nothing else
of an earlier window is there. One start comes before those that are measured: Python keeps the compiled
sources then, as every installation does, and the files are in memory.

`python -m tests.benchmarks.cold_window [ROUNDS]`
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from tests.virtual_screen import virtual_screen

ROUNDS = 9
GOAL_S = 1.5
_PATIENCE_S = 60
_UNCOMPILED = "PYTHONDONTWRITEBYTECODE"
"""A variable of some places where programs are built: every start would compile the sources again."""
_MARKS = ("imported", "opened", "dropped", "answered", "bars")
"""What is reached one after the other: the code of the window is imported, the project is open
in it, the picture is dropped and the classify view there, the answer too, its bars are painted."""


def main() -> None:
    """Prints the medians for the two published picture sizes."""
    if "--window" in sys.argv:
        _drop(*sys.argv[-2:])
        return
    from tests.benchmarks._runs import made_pictures, own_home, project_on, train
    from tests.benchmarks.classify import photo
    from workbench.core.projects.project import new_project_id
    from workbench.core.projects.project_file import save_project

    rounds = next((int(word) for word in sys.argv[1:] if word.isdecimal()), ROUNDS)
    home = own_home()
    picture = photo(home)
    for template, size, classes in (("cifar10_convnet", 32, 10), ("flowers_gap", 192, 5)):
        pictures = made_pictures(home / f"{size}.npz", size=size, num_classes=classes, count=100)
        project = project_on(template, pictures, epochs=1, batch_size=10, steps_per_epoch=1)
        project = replace(project, id=new_project_id())
        file = home / f"{template}.workbench"
        save_project(project, file)
        train(project)
        _measured(file, picture)  # compiles the sources
        found = [_measured(file, picture) for _ in range(rounds)]
        seconds = [marks["bars"] for marks in found]
        print(
            f"{size} x {size}: start of the window to bars of a dropped picture "
            f"{statistics.median(seconds):.2f} s (median of {rounds}, {min(seconds):.2f} to "
            f"{max(seconds):.2f}, goal {GOAL_S} s)"
        )
        medians = {mark: statistics.median(marks[mark] for marks in found) for mark in _MARKS}
        print("    " + ", ".join(f"{mark} {second:.2f}" for mark, second in medians.items()))
        sys.stdout.flush()
    shutil.rmtree(home, ignore_errors=True)


def _measured(project: Path, picture: str) -> dict[str, float]:
    """Seconds from the start of the process to each mark."""
    environment = {
        **{name: value for name, value in os.environ.items() if name != _UNCOMPILED},
        "QT_QPA_PLATFORM": "xcb",
        "BENCHMARK_PYTHON": sys.executable,
        "PYTHONPYCACHEPREFIX": str(project.parent / "compiled"),
    }
    # The screen is up before the clock starts.
    script = 'BENCHMARK_BEGAN=$(date +%s.%N) exec "$BENCHMARK_PYTHON" "$@"'
    words = ["-m", "tests.benchmarks.cold_window", "--window", str(project), picture]
    command = [*virtual_screen(), "sh", "-c", script, "sh", *words]
    result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    marks: dict[str, float] = json.loads(result.stdout.splitlines()[-1])
    return marks


# the window ----------------------------------------------------------------------------


def _drop(project: str, picture: str) -> None:
    """Runs the command, drops a picture on its window, and prints the marks."""
    from workbench.cli import main as workbench

    began = float(os.environ["BENCHMARK_BEGAN"])
    marks: dict[str, float] = {}

    def mark(name: str) -> None:
        marks.setdefault(name, time.time() - began)

    sys.meta_path.insert(0, _Watching(picture, mark))
    code = workbench([project])
    if "bars" not in marks:
        raise SystemExit(f"No bars were painted; the window ended with {code}: {marks}")
    print(json.dumps(marks), flush=True)


class _Watching(MetaPathFinder, Loader):
    """Watches the window of the command: its code is imported by the command, at its own time."""

    def __init__(self, picture: str, mark: Callable[[str], None]) -> None:
        self._picture, self._mark = picture, mark

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name != "workbench.gui.shell.main_window":
            return None
        spec = PathFinder.find_spec(name, path, target)
        assert spec is not None
        self._loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        from PySide6.QtCore import QTimer

        self._loader.exec_module(module)
        made = module.MainWindow.__init__

        def make(window: Any, *parts: Any) -> None:
            self._mark("imported")
            made(window, *parts)
            window.files.opened.connect(lambda: QTimer.singleShot(0, lambda: self._drop(window)))

        module.MainWindow.__init__ = make

    def _drop(self, window: Any) -> None:
        """Gives the window the events of a file dragged onto it and dropped."""
        from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
        from PySide6.QtGui import QDragEnterEvent, QDropEvent
        from PySide6.QtWidgets import QApplication

        self._mark("opened")
        files = QMimeData()
        files.setUrls([QUrl.fromLocalFile(self._picture)])
        buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        action, center = Qt.DropAction.CopyAction, window.rect().center()
        QApplication.sendEvent(
            window, QDragEnterEvent(QPoint(center), action, files, buttons, keys)
        )
        QApplication.sendEvent(window, QDropEvent(QPointF(center), action, files, buttons, keys))
        self._mark("dropped")
        view = window.views.currentWidget()
        bars = view.panels["classify_result"].bars
        view.state.classified.connect(lambda _entry: self._mark("answered"))
        paint = bars.paint

        def painted(painter: Any) -> None:
            paint(painter)
            if bars.scores:
                self._mark("bars")
                QTimer.singleShot(0, window.close)

        bars.paint = painted
        QTimer.singleShot(_PATIENCE_S * 1000, window.close)


if __name__ == "__main__":
    main()
