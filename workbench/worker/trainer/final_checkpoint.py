"""The checkpoint that a completed run keeps, and what is logged when it is trained longer."""

from __future__ import annotations

from workbench.core.training.longer import LongerTraining
from workbench.core.training.recipe import TrainingRecipe
from workbench.runs.folder import RunFolder
from workbench.runs.store.checkpoint import (
    keep_final_checkpoint,
    keeps_final,
    remove_checkpoints,
)
from workbench.worker.checkpoints.counters import TrainingCounters


def settle_checkpoints(run: RunFolder, epochs_done: int, *, is_chief: bool) -> None:
    """Removes the checkpoints that a completed run does not need any more."""
    if is_chief and keeps_final():
        keep_final_checkpoint(run, epochs_done)
    else:
        remove_checkpoints(run)


def longer_words(run: RunFolder, recipe: TrainingRecipe, counters: TrainingCounters) -> str:
    """What becomes of the learning rate where a run goes on after its last planned epoch; "" where
    it does not, or has been said.
    """
    last = run.request().extension
    if last is None or (last.after, 0) != (counters.epochs_done, counters.steps_of_epoch):
        return ""
    planned = recipe.with_values(epochs=last.before)
    longer = LongerTraining(planned, counters.epochs_done, counters.step)
    return longer.rate_words(recipe.epochs)
