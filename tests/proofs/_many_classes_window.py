"""The real window (offscreen) on a run of very many classes: what it takes, and how long it blocks.

`python -m tests.proofs._many_classes_window PROJECT RUN[PICTURE]` prints a line for each view, and at
last an object with the peak of its memory; PICTURE is a file for what the window shows then.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from workbench.app import close_context, make_context, make_window
from workbench.gui.panels import panels_of
from workbench.runs.home import data_home

_PATIENCE_S = 300.0


def main(project: str, run: str, *_picture: str) -> None:
    app = QApplication([])
    context = make_context(data_home(), app)
    context.theme.apply(app)
    window = make_window(context, data_home())
    window.resize(1440, 900)
    window.show()
    context.library.open()
    watch = Watch()
    window.files.open(Path(project))
    context.library.select(Path(run))
    for view in ("data", "train", "evaluate"):
        shown = watch.measured(f"{view} opened", lambda view=view: window.show_view(view))
        watch.wait(lambda view=view, shown=shown: _is_shown(view, shown))
        watch.say(view)
    evaluate = window.views.currentWidget()
    watch.measured("matrix painted", evaluate.panels["evaluate_confusion"].map.grab)
    for spec in panels_of("evaluate"):
        watch.measured(spec.title, lambda key=spec.key: evaluate.panels.open(key))
        watch.settle(2)
        watch.say(spec.title)
    if len(sys.argv) > 3:
        window.grab().save(sys.argv[3])
    print(json.dumps({"peak_bytes": peak_bytes(), "longest_block_ms": watch.longest_ms}))
    window.hide()
    close_context(context)


class Watch:
    """Runs the event loop and measures how long a turn of it takes."""

    def __init__(self) -> None:
        self.longest_ms = 0.0
        self._longest_here = 0.0

    def measured(self, name: str, do: Callable[[], object]) -> object:
        began = time.perf_counter()
        found = do()
        print(f"  {name}: {1000 * (time.perf_counter() - began):.1f} ms")
        return found

    def wait(self, is_done: Callable[[], bool]) -> None:
        until = time.monotonic() + _PATIENCE_S
        while not is_done():
            self.settle(0.1)
            if time.monotonic() > until:
                raise SystemExit("the window does not show the run")

    def settle(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            loop = QEventLoop()
            QTimer.singleShot(2, loop.quit)
            began = time.perf_counter()
            loop.exec()
            blocked = 1000 * (time.perf_counter() - began) - 2
            self._longest_here = max(self._longest_here, blocked)

    def say(self, name: str) -> None:
        peak = peak_bytes() / 2**20
        print(
            f"  {name}: longest turn {self._longest_here:.1f} ms, peak {peak:.0f} MiB", flush=True
        )
        self.longest_ms, self._longest_here = max(self.longest_ms, self._longest_here), 0.0


def _is_shown(view: str, shown) -> bool:
    if view != "evaluate":
        return True
    state = shown.state
    return state.evaluation is not None and state.known is not None


def peak_bytes() -> int:
    """The largest resident memory of this process so far."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    return 0


if __name__ == "__main__":
    main(*sys.argv[1:])
