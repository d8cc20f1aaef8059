"""From pressing Train to a trained network, on 400 photos of a user's own.

`python -m tests.benchmarks.own_photos [--each 80]`: the real window (offscreen, or where
QT_QPA_PLATFORM says) opens a folder of class folders as a dropped one is opened, and trains it with
the settings as they are. Nothing is warm but the window: no images, features or plans are cached.
Needs the photos of ../shared/data/flowers.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks._window import shown_window

FLOWERS = Path(__file__).resolve().parents[3] / "shared" / "data" / "flowers"
FIRST_GOAL_S, END_GOAL_S = 10.0, 25.0
_SETTLE_S = 6.0
_PATIENCE_S = 300.0


def own_folder(folder: Path, each: int) -> Path:
    """Some photos of each class."""
    for source in sorted(path for path in FLOWERS.iterdir() if path.is_dir()):
        files = sorted(source.glob("*.jpg"))
        random.Random(1).shuffle(files)
        target = folder / source.name
        target.mkdir(parents=True)
        for file in files[:each]:
            shutil.copyfile(file, target / file.name)
    return folder


def measure(folder: Path) -> None:
    """Trains in the real window and prints the times since Train was pressed."""
    from workbench.gui.train.plots.run_plots import RunPlots

    app, context, window = shown_window()

    def wait(until: Callable[[], bool]) -> float:
        begun = time.monotonic()
        while not until():
            app.processEvents()
            time.sleep(0.002)
            if time.monotonic() - begun > _PATIENCE_S:
                raise SystemExit("it did not happen")
        return time.monotonic()

    window.start.from_folder(str(folder))
    wait(lambda: window.views.current_key == "data")
    settled = time.monotonic() + _SETTLE_S
    wait(lambda: time.monotonic() > settled)
    window.show_view("train")
    plots = window.findChild(RunPlots)
    begun = time.monotonic()
    window.runs.start()
    library = context.library
    wait(lambda: library.current is not None and bool(library.current.history.epochs))
    plots.redraw()
    first_s = wait(plots.isVisible) - begun
    end_s = wait(lambda: library.current.outcome is not None and library.current.outcome.is_over)
    outcome = library.current.outcome.sentence()
    print(f"first accuracy on the plot {first_s:6.1f} s (goal {FIRST_GOAL_S:.0f})")
    print(f"finished                   {end_s - begun:6.1f} s (goal {END_GOAL_S:.0f}): {outcome}")
    sys.stdout.flush()
    os._exit(0)


def main() -> None:
    """Makes the folder and measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=80, help="photos of each class")
    arguments = parser.parse_args()
    if not FLOWERS.is_dir():
        print(f"{FLOWERS} is not there.")
        return
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as home:
        os.environ["WORKBENCH_HOME"] = str(Path(home) / "home")
        measure(own_folder(Path(home) / "photos", arguments.each))


if __name__ == "__main__":
    main()
