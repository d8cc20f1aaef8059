"""The log of a run that a notebook has trained, out of the curve that it left."""

from __future__ import annotations

import time
from collections.abc import Iterator

import msgspec

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
    """Writes the whole log of a new run, with the times that the epochs took in the notebook."""
    clock = _Clock(time.time() - result.card.seconds)
    with EventWriter(run.events_path, clock=clock) as log:
        log.write(_started(run, result, recipe, file_name))
        log.write(msgspec.convert(result.card, DataReady, from_attributes=True))
        for place, epoch in enumerate(result.history.epochs):
            clock.now += epoch.seconds
            for event in _of_epoch(result, place, epoch):
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
        keep=recipe.keep,
        fine_tuning_after=recipe.head_epochs if recipe.has_fine_tuning else None,
    )


def _of_epoch(result: Result, place: int, epoch: ResultEpoch) -> Iterator[RunEvent]:
    """The events of an epoch at a place among those that were trained."""
    steps = result.card.steps_per_epoch
    batches = slice(place * steps, (place + 1) * steps)
    losses, accuracies = result.history.losses[batches], result.history.accuracies[batches]
    yield Batch(
        epoch=epoch.epoch,
        step=epoch.step,
        loss=losses[-1],
        accuracy=accuracies[-1],
        images_per_second=epoch.images_per_second,
        first_step=epoch.step - steps + 1,
        losses=losses,
        accuracies=accuracies,
        learning_rate=epoch.learning_rate,
    )
    yield EpochFinished(**msgspec.structs.asdict(epoch))


def finished_event(run: str, result: Result) -> RunFinished:
    """What a trainer would have logged at the end."""
    card, epochs, test = result.card, result.history.epochs, result.history.test
    best = next((epoch for epoch in epochs if epoch.epoch == card.best_epoch), None)
    return RunFinished(
        outcome="completed",
        run=run,
        seconds=card.seconds,
        epochs_done=epochs[-1].epoch if epochs else 0,
        test=TestResult(**msgspec.structs.asdict(test)) if test else None,
        best=msgspec.convert(best, BestEpoch, from_attributes=True) if best else None,
    )
