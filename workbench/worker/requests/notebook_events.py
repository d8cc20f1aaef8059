"""The log of a run that a notebook has trained, out of the curve that it left."""

from __future__ import annotations

import time
from collections.abc import Iterator

from workbench.core.training.recipe import TrainingRecipe
from workbench.protocol.events import (
    Batch,
    BestEpoch,
    DataReady,
    EpochFinished,
    Plan,
    RunEvent,
    RunFinished,
    RunStarted,
    TestResult,
)
from workbench.runs.folder import RunFolder
from workbench.runs.log.event_log import EventWriter
from workbench.worker.saved_models.notebook_result import Result, ResultEpoch


def write_result_events(
    run: RunFolder, result: Result, recipe: TrainingRecipe, file_name: str
) -> None:
    """Writes the whole log, with the times that the epochs took.

    Args:
        run: The new run.
        result: What the notebook has left.
        recipe: How it was trained there.
        file_name: For the words about it.
    """
    clock = _Clock(time.time() - result.card.seconds)
    with EventWriter(run.events_path, clock=clock) as log:
        log.write(_started(run, result, recipe, file_name))
        log.write(_data(result))
        for epoch in result.history.epochs:
            clock.now += epoch.seconds
            for event in _of_epoch(result, epoch):
                log.write(event)
        log.write(finished_event(run.name, result))


class _Clock:
    """Time as it passed where the training was."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def _started(run: RunFolder, result: Result, recipe: TrainingRecipe, file_name: str) -> RunStarted:
    card = result.card
    cores = f"{card.replicas} × {card.device}" if card.replicas > 1 else card.device
    return RunStarted(
        run=run.name,
        target=f"a notebook ({cores})",
        replicas=card.replicas,
        precision=card.precision,
        seed=recipe.seed,
        versions=dict(card.versions),
        plan=Plan(precision=card.precision, words=f"Imported from {file_name}."),
        epochs=recipe.epochs,
        batch_size=card.batch_size,
        pid=0,
        keep_by=recipe.keep_by,
    )


def _data(result: Result) -> DataReady:
    card = result.card
    return DataReady(
        class_names=list(card.class_names),
        num_train=card.num_train,
        num_validation=card.num_validation,
        num_test=card.num_test,
        steps_per_epoch=card.steps_per_epoch,
    )


def _of_epoch(result: Result, epoch: ResultEpoch) -> Iterator[RunEvent]:
    first = epoch.step - result.card.steps_per_epoch
    losses = result.history.losses[first : epoch.step]
    accuracies = result.history.accuracies[first : epoch.step]
    yield Batch(
        epoch=epoch.epoch,
        step=epoch.step,
        loss=losses[-1],
        accuracy=accuracies[-1],
        images_per_second=epoch.images_per_second,
        first_step=first + 1,
        losses=losses,
        accuracies=accuracies,
        learning_rate=epoch.learning_rate,
    )
    yield EpochFinished(
        epoch=epoch.epoch,
        step=epoch.step,
        loss=epoch.loss,
        accuracy=epoch.accuracy,
        val_loss=epoch.val_loss,
        val_accuracy=epoch.val_accuracy,
        seconds=epoch.seconds,
        images_per_second=epoch.images_per_second,
        top_k_accuracy=epoch.top_k_accuracy,
        learning_rate=epoch.learning_rate,
    )


def finished_event(run: str, result: Result) -> RunFinished:
    """What a trainer would have told at the end."""
    card, epochs, test = result.card, result.history.epochs, result.history.test
    best = epochs[card.best_epoch - 1] if card.best_epoch else None
    return RunFinished(
        outcome="completed",
        run=run,
        seconds=card.seconds,
        epochs_done=len(epochs),
        test=TestResult(loss=test.loss, accuracy=test.accuracy, count=test.count) if test else None,
        best=BestEpoch(epoch=best.epoch, val_accuracy=best.val_accuracy, val_loss=best.val_loss)
        if best
        else None,
    )
