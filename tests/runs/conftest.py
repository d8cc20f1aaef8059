"""A run folder without a trainer, and events to fill it with."""

from __future__ import annotations

import pytest

from workbench.core.projects.project import Project
from workbench.protocol.events import (
    Batch,
    DataReady,
    EpochFinished,
    Plan,
    RunFinished,
    RunStarted,
    TestResult,
)
from workbench.runs.folder import create_run


@pytest.fixture
def run():
    return create_run(Project(title="Small net"))


@pytest.fixture
def events():
    """Makes the events of a run of two epochs with three steps each."""

    def make(run, *, outcome="completed"):
        yield RunStarted(
            run=str(run.path), target="this_computer", precision="float32", seed=7,
            versions={}, plan=Plan(precision="float32"), epochs=2, batch_size=10, pid=1,
        )  # fmt: skip
        yield DataReady(
            class_names=["a", "b"], num_train=30, num_validation=5, num_test=5, steps_per_epoch=3
        )
        for epoch in (1, 2):
            first = 3 * epoch - 2
            yield Batch(
                epoch=epoch, step=first + 2, loss=0.5, accuracy=0.5, images_per_second=100.0,
                first_step=first, losses=[2.0, None, 0.5], accuracies=[0.1, 0.2, 0.5],
            )  # fmt: skip
            yield EpochFinished(
                epoch=epoch, step=first + 2, loss=1.0, accuracy=0.3, val_loss=1.0 / epoch,
                val_accuracy=0.9 - 0.1 * epoch, seconds=0.3, images_per_second=100.0,
            )  # fmt: skip
        yield RunFinished(
            outcome=outcome, run=str(run.path), seconds=1.5, epochs_done=2,
            test=TestResult(loss=0.4, accuracy=0.75, count=5),
        )  # fmt: skip

    return make
