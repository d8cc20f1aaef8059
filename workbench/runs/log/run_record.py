"""A run as the rules of the training coach look at it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.core.coach.record import (
    LayerState,
    Measurement,
    RunRecord,
    UnitState,
)
from workbench.core.network.augmentation import is_augmentation
from workbench.core.projects.project import Project
from workbench.errors import WorkbenchError
from workbench.layers import all_layers
from workbench.protocol.events import LayersMeasured
from workbench.runs.folder import RunFolder
from workbench.runs.log.confusion_history import read_confusion
from workbench.runs.log.epoch_record import or_nan, record_of_epochs
from workbench.runs.log.history import MetricHistory


def record_of(history: MetricHistory) -> RunRecord:
    """What a run's log shows up to now."""
    return record_later(history)()


def record_later(history: MetricHistory) -> Callable[[], RunRecord]:
    """Keeps what a run's log shows up to now, quickly; the call makes the record of it, in any
    thread, whatever is added to the history meanwhile.
    """
    epochs, layers = list(history.epochs), list(history.layers)
    data, steps, losses = history.data, history.steps, history.losses

    def make() -> RunRecord:
        return replace(
            record_of_epochs(epochs, data),
            steps=steps,
            step_losses=losses,
            measured=tuple(_measurement(event) for event in layers),
        )

    return make


def read_project(run: RunFolder) -> Project | None:
    """What a run trains; None where it cannot be read."""
    try:
        return run.request().to_project()
    except WorkbenchError:
        return None


def with_files(record: RunRecord, run: RunFolder, project: Project | None) -> RunRecord:
    """The record with what is trained, and with what the run's other files add; reads them."""
    last = int(record.epochs[-1]) if len(record.epochs) else 0
    record = replace(record, confusion=read_confusion(run, last))
    if project is None:
        return record
    return replace(
        record,
        recipe=project.recipe,
        graph=project.graph,
        regularizes=_regularizes(project),
    )


def _regularizes(project: Project) -> bool:
    """Whether training images or the network's units are changed at random in training."""
    recipe, layers = project.recipe, all_layers()
    if recipe.mixing != "none" or recipe.random_erasing > 0.0:
        return True
    specs = (layers.get(node.kind) for node in project.graph.nodes.values())
    return any(spec is None or is_augmentation(spec) or spec.randomness for spec in specs)


def _measurement(event: LayersMeasured) -> Measurement:
    return Measurement(
        epoch=event.epoch,
        images=event.images,
        accuracy=or_nan(event.accuracy),
        rate=or_nan(event.learning_rate),
        layers=tuple(
            LayerState(each.node, or_nan(each.gradient), or_nan(each.update))
            for each in event.layers
        ),
        units=tuple(UnitState(each.node, each.units, each.dead) for each in event.units),
    )
