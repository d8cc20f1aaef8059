"""Training a run for more epochs than were planned, from the checkpoint of its end.

The file of the request stays unchanged; `extensions.json` keeps the new number of epochs, and
`RunFolder.request` has it from then on.
"""

from __future__ import annotations

from workbench.core.format import plural
from workbench.core.training.longer import LongerTraining
from workbench.core.training.progress_rules import ProgressRules
from workbench.errors import ParamError, RunFolderError, UsageError
from workbench.runs.extensions import Extension
from workbench.runs.folder import RunFolder
from workbench.runs.state.outcome import finished_of, outcome_of
from workbench.runs.store.checkpoint import newest_state


def longer_training(run: RunFolder) -> LongerTraining:
    """What a run would go on from.

    Raises:
        RunFolderError: it has not ended, or no checkpoint of a whole epoch is kept.
        ProjectFileError: its project is damaged.
    """
    outcome, state, finished = outcome_of(run), newest_state(run), finished_of(run)
    can_go_on = outcome.can_train_longer or outcome.can_resume
    if outcome.kind == "completed" and state is not None and finished is not None:
        can_go_on = state.epochs_done == finished.epochs_done  # else it is of an earlier epoch
    if not can_go_on or state is None or not state.epochs_done:
        raise RunFolderError(
            "This run cannot be trained longer: no checkpoint is kept to continue from.",
            where=str(run.path),
            received=outcome.sentence(),
            expected="a run that is over, with its last checkpoint",
            fix="Increase the epochs in its project and train it again.",
        )
    request = run.request()
    recipe = request.to_project().recipe
    rules = ProgressRules(recipe, state.rules, patience_from=request.patience_from)
    return LongerTraining(recipe, state.epochs_done, state.step, bool(rules.stop_words))


def extension_to(run: RunFolder, epochs: int) -> Extension:
    """The extension of a run to so many epochs in total, for `start_trainer` or the queue.

    Raises:
        RunFolderError, ProjectFileError: as `longer_training`.
        UsageError: that is no more than it has, or too many.
    """
    longer = longer_training(run)
    done = longer.epochs_done
    try:
        longer.recipe.with_values(epochs=epochs)
    except ParamError as error:
        raise UsageError(**error.to_dict()) from error
    if epochs <= done:
        raise UsageError(
            f"This run has already trained {plural(done, 'epoch')}.",
            where=str(run.path),
            received=f"{epochs:,} epochs in total",
            expected=f"at least {done + 1:,}",
            fix="Give the total number of epochs, those already trained included.",
        )
    return Extension(
        after=done,
        before=longer.recipe.epochs,
        epochs=epochs,
        restarts_patience=longer.is_stopped_early,
    )
