"""The point at which a run would resume, in words."""

from __future__ import annotations

import contextlib
from datetime import datetime

from workbench.core.format import local_time
from workbench.errors import RunFolderError
from workbench.runs.folder import RunFolder
from workbench.runs.store.checkpoint import newest_state, path_of


def resume_words(run: RunFolder) -> str:
    """Sentence about the next resume: "Resume continues at epoch 391 of 400 (checkpoint 14:41).";
    the epoch is the one that is trained next. Of a run whose checkpoint is only read.
    """
    state = newest_state(run)
    if state is None:
        return "There is no checkpoint: Resume starts at epoch 1."
    epochs, made = _planned(run), ""
    with contextlib.suppress(OSError):  # it was removed meanwhile
        made = f" (checkpoint {_clock(path_of(run, state).stat().st_mtime)})"
    if epochs and state.epochs_done >= epochs:
        return f"All {epochs:,} epochs are trained: Resume calibrates and tests the weights{made}."
    where = f"epoch {state.epochs_done + 1:,}" + (f" of {epochs:,}" if epochs else "")
    within = f", step {state.step + 1:,}" if state.epoch_training_s else ""
    return f"Resume continues at {where}{within}{made}."


def _planned(run: RunFolder) -> int:
    """All epochs that the run plans; 0 where that cannot be read."""
    try:
        recipe = run.request().project.get("recipe")
    except RunFolderError:
        return 0
    value = recipe.get("epochs") if isinstance(recipe, dict) else None
    return value if isinstance(value, int) else 0


def _clock(moment: float) -> str:
    then = local_time(moment)
    if then is None:
        return "of an unknown time"
    is_today = then.date() == datetime.now().astimezone().date()
    return then.strftime("%H:%M" if is_today else "%d %b %Y %H:%M")
