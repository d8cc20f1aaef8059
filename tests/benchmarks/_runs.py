"""Small real runs for the benchmarks: pictures made here, trained by the real trainer."""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from workbench.core.projects.project import Choice, Project
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.log.event_log import EventReader
from workbench.runs.start import start_trainer
from workbench.templates import find_template


def own_home() -> Path:
    """Puts runs and caches of this process into a new folder."""
    home = Path(tempfile.mkdtemp(prefix="workbench-bench-"))
    os.environ["WORKBENCH_HOME"] = str(home)
    return home


def made_pictures(path: Path, *, size: int, num_classes: int, count: int) -> Path:
    """Writes random pictures (size, size, 3) with labels as an npz file."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (count, size, size, 3), np.uint8)
    y = np.arange(count) % num_classes
    np.savez(path, x_train=x, y_train=y, x_test=x[: count // 5], y_test=y[: count // 5])
    return path


def project_on(template: str, pictures: Path, **recipe: object) -> Project:
    """A template's network on some pictures."""
    project = find_template(template).project
    return replace(
        project,
        dataset=Choice("npz", {"path": str(pictures)}),
        recipe=project.recipe.with_values(**recipe),
    )


def train(project: Project, *, timeout_s: float = 600) -> RunFolder:
    """Trains to the end without a window."""
    folder = create_run(project)
    start_trainer(folder)
    wait_for(folder, timeout_s=timeout_s)
    return folder


def wait_for(folder: RunFolder, *, timeout_s: float = 600) -> None:
    """Waits for a run's last event."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        events = EventReader(folder.events_path).read_new(max_events=1_000_000)
        if events and type(events[-1]).__name__ == "RunFinished":
            return
        time.sleep(0.2)
    raise SystemExit(f"The run in {folder.path} did not end in {timeout_s:.0f} s.")
