"""Whether a run has room on its disk, estimated before it starts."""

from __future__ import annotations

import shutil
from pathlib import Path

from workbench.core.checks.analysis import Analysis, analyse
from workbench.core.checks.costs import BYTES_PER_NUMBER
from workbench.core.format import bytes_text
from workbench.core.projects.project import Project
from workbench.core.training.optimizers import all_optimizers
from workbench.errors import NoRoomError
from workbench.layers import all_layers

_LOG_BYTES = 1024 * 1024
_BYTES_PER_STEP = 24
"""Bytes of the event log for each step: loss and accuracy of a batch."""

_FEW_STEPS = 1_000_000


def needed_bytes(project: Project, analysis: Analysis) -> int:
    """Bytes that a run takes at most, with the copy that is made of a file while it is replaced:
    weights, two checkpoints and the best epoch of what is trained, and the log.
    """
    parameters, recipe = analysis.costs.parameters, project.recipe
    slots = all_optimizers()[recipe.optimizer].slots + bool(recipe.ema_decay)
    whole = BYTES_PER_NUMBER * parameters.total
    learned = BYTES_PER_NUMBER * parameters.trainable
    best = learned if recipe.keep == "best" else 0
    steps = min((recipe.steps_per_epoch or 0) * recipe.epochs, _FEW_STEPS)
    log = _LOG_BYTES + _BYTES_PER_STEP * steps
    return 2 * whole + 3 * (1 + slots) * learned + 2 * best + log


def refuse_no_room(project: Project, home: Path) -> None:
    """Refuses a run of a project that has no room in a folder, where that is known.

    Raises:
        NoRoomError: it needs more than is free.
    """
    free = _free_bytes(home)
    if free is None:
        return
    analysis = analyse(project.graph, all_layers(), recipe=project.recipe)
    needed = needed_bytes(project, analysis)
    if needed <= free:
        return
    raise NoRoomError(
        f"This run needs about {bytes_text(needed)} of disk space, {bytes_text(free)} are free.",
        where=str(home),
        fix="Free some space, or set WORKBENCH_HOME to a folder on another disk.",
    )


def _free_bytes(folder: Path) -> int | None:
    """Free bytes of the disk that a folder is on, or will be; None where that is not known."""
    for place in (folder, *folder.parents):
        try:
            return shutil.disk_usage(place).free
        except FileNotFoundError:
            continue
        except OSError:
            return None
    return None
