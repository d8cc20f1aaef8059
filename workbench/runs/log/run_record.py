"""A run as the rules of the training coach look at it."""

from __future__ import annotations

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
    """What a run's log shows up to now. Its arrays are views or copies that nobody changes: it may
    be looked at in another thread.
    """
    return replace(
        record_of_epochs(history.epochs, history.data),
        steps=history.steps,
        step_losses=history.losses,
        measured=tuple(_measurement(event) for event in history.layers),
    )


def with_run(record: RunRecord, run: RunFolder) -> RunRecord:
    """The record with what the run's other files add; reads them. Without what cannot be read."""
    last = int(record.epochs[-1]) if len(record.epochs) else 0
    record = replace(record, confusion=read_confusion(run, last))
    try:
        project = run.request().to_project()
    except WorkbenchError:
        return record
    return with_project(record, project)


def with_project(record: RunRecord, project: Project) -> RunRecord:
    """The record with what is trained."""
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
