"""What the training coach sees in a run, and the same as text: for window and terminal."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from workbench.coach import all_coach_rules
from workbench.core.coach.advice import Advice, advise
from workbench.core.coach.record import RunRecord
from workbench.core.format import list_text
from workbench.runs.folder import RunFolder
from workbench.runs.log.event_log import EventReader, read_all
from workbench.runs.log.history import MetricHistory
from workbench.runs.log.run_record import read_project, record_of, with_files

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
