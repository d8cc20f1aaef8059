"""What the training coach sees in a run, and the same as text: for window and terminal."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from workbench.coach import all_coach_rules
from workbench.core.coach import (
    Advice,
    LayerState,
    Measurement,
    RunRecord,
    UnitState,
    advise,
)
from workbench.core.format import list_text
from workbench.core.network.roles import is_augmentation
from workbench.core.projects.project import Project
from workbench.errors import WorkbenchError
from workbench.layers import all_layers
from workbench.protocol.events import LayersMeasured
from workbench.runs.folder import RunFolder
from workbench.runs.log.confusion_history import read_confusion
from workbench.runs.log.event_log import EventReader, read_all
from workbench.runs.log.history import MetricHistory, or_nan, record_of_epochs

# run record ----------------------------------------------------------------------------------
# A run as the rules of the training coach look at it.


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


# coaching ------------------------------------------------------------------------------------

Rival = tuple[str, float]
"""Name and validation accuracy of the run that a run is compared with."""

NO_RIVAL: Rival = ("", math.nan)


def advice_on(run: RunFolder, rival: Rival = NO_RIVAL) -> list[Advice]:
    """What the rules see in a run up to now, the gravest first; reads its log."""
    history = MetricHistory()
    history.add_all(read_all(run.events_path))
    return advice_of(with_files(record_of(history), run, read_project(run)), rival)


def log_damage(run: RunFolder) -> str:
    """What of a run's log the rules cannot see, as it is damaged; "" where all of it is whole."""
    reader = EventReader(run.events_path)
    while reader.read_new():
        pass
    return reader.damage_words


def advice_of(record: RunRecord, rival: Rival = NO_RIVAL) -> list[Advice]:
    """What the rules see in a run, the gravest first."""
    return advise(replace(record, rival=rival), all_coach_rules().values())


def watched_words() -> str:
    """What the rules look for, as a sentence."""
    watched = list(dict.fromkeys(rule.watches for rule in all_coach_rules().values()))
    return f"Watched: {list_text(watched)}."


def advice_lines(advice: Advice) -> tuple[str, ...]:
    """A finding in the terminal: its heading, two sentences, and its figures."""
    figures = "; ".join(f"{name}: {value}" for name, value in advice.evidence.figures)
    return advice.title, f"  {advice.observation}", f"  {advice.recommendation}", f"  {figures}"


def advice_to_plain(advice: Advice) -> dict[str, Any]:
    """A finding as JSON has it; programs rely on the names."""
    evidence, change = advice.evidence, advice.change
    return {
        "rule": advice.rule,
        "title": advice.title,
        "sees": advice.observation,
        "do": advice.recommendation,
        "figures": dict(evidence.figures),
        "curve": evidence.curve,
        "epochs": [evidence.first, evidence.last] if evidence.last else [],
        "layer": evidence.node,
        "recipe": dict(change.recipe) if change is not None else {},
        "layers": {key: dict(each) for key, each in change.layers.items()} if change else {},
    }
