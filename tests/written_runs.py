"""Runs as a trainer writes them, for tests that need no training."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from workbench.core.projects.project import Project
from workbench.core.storage.own_file import take_lock
from workbench.core.training.recipe import TrainingRecipe
from workbench.protocol.bases import ErrorParts
from workbench.protocol.events import (
    Batch,
    CheckpointKept,
    DataReady,
    EpochFinished,
    PhaseChanged,
    Plan,
    RunFinished,
    RunStarted,
    TestResult,
)
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.log.event_log import EventWriter

STEPS_PER_EPOCH = 10


def as_trained(values):
    """Numbers as a trainer has them: computed in float32."""
    return [None if value is None else float(np.float32(value)) for value in values]


class WrittenRun:
    """A run folder whose events the test writes; `live` while its lock is held.

    Attributes:
        fine_tuning_after: Epochs before the fine-tuning phase; None where there is none.
        is_on_features: Until then, the head is trained on cached features.
    """

    fine_tuning_after: int | None = None
    is_on_features = False

    def __init__(
        self,
        title="A run",
        *,
        epochs=5,
        recipe=None,
        home=None,
        project=None,
        project_path="",
        series="",
        point=None,
    ):
        recipe = recipe or TrainingRecipe(epochs=epochs)
        # A run without a project is known by its title alone, as an imported one.
        label = "" if project is not None else title
        project = replace(project or Project(), recipe=recipe)
        self.folder: RunFolder = create_run(
            project,
            title=title,
            label=label,
            home=home,
            project_path=project_path,
            series=series,
            point=point,
        )
        self.epochs = epochs
        self.step = 0
        self.losses: list[float | None] = []
        self.accuracies: list[float | None] = []
        self._writer = EventWriter(self.folder.events_path)
        self._lock = take_lock(self.folder.lock_path)

    @classmethod
    def of(cls, folder, *, step, resumed_at_step, epochs=5):
        """A trainer that goes on with a run."""
        written = cls.__new__(cls)
        written.folder, written.epochs, written.step = folder, epochs, step
        written.losses, written.accuracies = [], []
        written._writer = EventWriter(folder.events_path)
        written._lock = take_lock(folder.lock_path)
        written._start(resumed_at_step)
        return written

    @property
    def path(self):
        return self.folder.path

    def _start(self, resumed_at_step=None):
        self._writer.write(
            RunStarted(
                run=self.folder.name,
                target="this_computer",
                precision="float32",
                seed=7,
                versions={},
                plan=Plan(precision="float32", words="8 steps a call"),
                epochs=self.epochs,
                batch_size=100,
                pid=os.getpid(),
                resumed_at_step=resumed_at_step,
                fine_tuning_after=self.fine_tuning_after,
                is_on_features=self.is_on_features,
            )
        )

    def begin(self, *, class_names=("cat", "dog"), validates_on_test=False):
        self._start()
        self._writer.write(
            DataReady(
                class_names=list(class_names),
                num_train=1000,
                num_validation=100,
                num_test=200,
                steps_per_epoch=STEPS_PER_EPOCH,
                validates_on_test=validates_on_test,
            )
        )
        self.phase("training", "Training")
        return self

    def phase(self, phase, text, fraction=None):
        self._writer.write(PhaseChanged(phase=phase, text=text, fraction=fraction))

    def batches(self, losses, accuracies=None):
        losses = as_trained(losses)
        accuracies = as_trained(accuracies or [0.5] * len(losses))
        first, self.step = self.step + 1, self.step + len(losses)
        self._writer.write(
            Batch(
                epoch=(self.step - 1) // STEPS_PER_EPOCH + 1,
                step=self.step,
                first_step=first,
                loss=losses[-1],
                accuracy=accuracies[-1],
                losses=losses,
                accuracies=accuracies,
                images_per_second=1234.0,
            )
        )
        self.losses += losses
        self.accuracies += accuracies

    def epoch(self, number, *, val_accuracy=0.6, val_loss=0.9, loss=0.8):
        self._writer.write(
            EpochFinished(
                epoch=number,
                step=self.step,
                loss=loss,
                accuracy=0.55,
                val_loss=val_loss,
                val_accuracy=val_accuracy,
                seconds=2.0,
                images_per_second=1234.0,
            )
        )

    def train(self, epochs):
        """Whole epochs with losses by step: 1/1, 1/2, 1/3, ..."""
        done = self.step // STEPS_PER_EPOCH
        for number in range(done + 1, done + epochs + 1):
            steps = range(self.step + 1, self.step + STEPS_PER_EPOCH + 1)
            self.batches([1.0 / step for step in steps], [1 - 1.0 / step for step in steps])
            self.epoch(number, val_accuracy=0.5 + 0.01 * number, val_loss=1.0 / number)
        return self

    def kept(self, problem=None):
        """A checkpoint, with the weights of now; or it could not be written."""
        epoch = self.step // STEPS_PER_EPOCH
        self._writer.write(CheckpointKept(step=self.step, epoch=epoch, problem=problem))
        return self

    def finish(self, outcome="completed", error: ErrorParts | None = None, kept=None):
        self._writer.write(
            RunFinished(
                outcome=outcome,
                run=self.folder.name,
                seconds=12.0,
                epochs_done=self.step // STEPS_PER_EPOCH,
                test=TestResult(loss=0.5, accuracy=0.75, count=200) if error is None else None,
                error=error,
                kept=kept,
                is_within=self.step % STEPS_PER_EPOCH > 0,
            )
        )
        return self.end()

    def end(self):
        """The trainer's process is gone."""
        self._writer.close()
        if self._lock is not None:
            os.close(self._lock)
        self._lock = None
        return self
