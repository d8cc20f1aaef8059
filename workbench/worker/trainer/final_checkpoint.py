"""The checkpoint that a completed run keeps, and what is logged when it is trained longer."""

from __future__ import annotations

from workbench.core.training.longer import LongerTraining
from workbench.core.training.recipe import TrainingRecipe
from workbench.runs.folder import RunFolder
from workbench.runs.home import data_home
from workbench.runs.store.checkpoint import keep_final_checkpoint, remove_checkpoints
from workbench.settings.options.keeps_checkpoints import SPEC as KEEPS_CHECKPOINTS
from workbench.settings.settings_file import read_settings
from workbench.worker.checkpoints.counters import TrainingCounters


def keeps_final(run: RunFolder) -> bool:
    """Whether a run keeps the checkpoint of its end: not one that is trained for another computer,
    where nobody can ask for more.
    """
    return not run.request().on and read_settings(data_home()).get(KEEPS_CHECKPOINTS)


def settle_checkpoints(run: RunFolder, epochs_done: int, *, is_chief: bool) -> None:
    """Removes the checkpoints that a completed run does not need any more."""
    if is_chief and keeps_final(run):
        keep_final_checkpoint(run, epochs_done)
    else:
        remove_checkpoints(run)


def longer_words(run: RunFolder, recipe: TrainingRecipe, counters: TrainingCounters) -> str:
    """What becomes of the learning rate where a run goes on after its last planned epoch; "" where
    it does not, or has been said.
    """
    entries = run.extensions().entries
    if not entries or (entries[-1].after, 0) != (counters.epochs_done, counters.steps_of_epoch):
        return ""
    planned = recipe.with_values(epochs=entries[-1].before)
    longer = LongerTraining(planned, counters.epochs_done, counters.step)
    return longer.rate_words(recipe.epochs)
