"""One of several processes that begin the same series at the same moment (test_series).

Usage: python _series_race.py HOME GO_FILE: waits for GO_FILE, then begins it and prints its name.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from workbench.core.projects.project import Project
from workbench.runs.library.series import FoldPlan, begin_series

FOLDS = 8


def main(home: Path, go: Path) -> None:
    print("ready", flush=True)
    while not go.exists():
        time.sleep(0.001)
    print(begin_series(FoldPlan(Project(id="raced"), FOLDS, 1), home=home))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
