"""Report section: on what the run was computed, and how to repeat it."""

from __future__ import annotations

import re
import shlex

from workbench.core.format import duration, local_time, plural
from workbench.report.blocks import Block, Section, Text, plain_name, plain_text
from workbench.report.blocks import Facts as Names
from workbench.report.facts import Facts, SectionSpec
from workbench.runs.log.texts import resumed_words
from workbench.runs.store.checkpoint import library_title
from workbench.targets import target_label, target_title


def section(facts: Facts) -> Section:
    """Machine, versions, seed, and one command."""
    blocks: list[Block] = [Names(_rows(facts))]
    if not facts.project_text:
        missing = "How to repeat it is not known: the project of this run cannot be read."
        return Section("Reproduction", [*blocks, Text(missing, "missing")])
    blocks += [
        Text("To train it again, with the project file that is part of this report:"),
        Text(command(facts), "code"),
    ]
    has_own = facts.project is not None and any(
        isinstance(value, str) and value.startswith("/")
        for value in facts.project.dataset.params.values()
    )
    if has_own:
        words = "The images have to be at the same place; else add --data with their source."
        blocks.append(Text(words, "note"))
    return Section("Reproduction", blocks)


def file_name(facts: Facts) -> str:
    """A name for the project file, of plain letters."""
    title = re.sub(r"[^A-Za-z0-9]+", "-", facts.request.title).strip("-").lower()[:40] or "project"
    number = f"-{facts.request.number}" if facts.request.number else ""
    return f"{title}{number}.workbench"


def command(facts: Facts) -> str:
    """What has to be typed."""
    return f"workbench train {shlex.quote(file_name(facts))}"


def _rows(facts: Facts) -> list[tuple[str, str]]:
    rows = [("Run", plain_name(facts.run.name))]
    if facts.request.created:
        when = local_time(facts.request.created)
        words = "at an unknown time" if when is None else f"{when:%Y-%m-%d %H:%M %Z}"
        rows.append(("Started", words))
    started = facts.history.started
    if started is not None:
        rows += _started_rows(facts)
    elif facts.project is not None:
        rows.append(("Target", plain_name(target_label(facts.project.target))))
    if facts.origin is not None:
        machine = facts.origin.machine
        rows.append(("Computer", f"{plain_name(machine.cpu)}, {plural(machine.cores, 'core')}"))
        if machine.others:
            rows.append(("Further machines", f"{len(machine.others):,}"))
    versions = started.versions if started is not None else {}
    versions = versions or (facts.origin.machine.versions if facts.origin is not None else {})
    if versions:
        parts = (f"{library_title(name)} {version}" for name, version in versions.items())
        rows.append(("Versions", plain_text(", ".join(parts), 500)))
    if facts.card is not None and facts.card.checksum:
        rows.append(("Weights, SHA-256", plain_name(facts.card.checksum)))
    return rows


def _started_rows(facts: Facts) -> list[tuple[str, str]]:
    started = facts.history.started
    if started is None:
        return []
    target = plain_name(target_title(started.target))
    if started.replicas > 1:
        target += f", {plural(started.replicas, 'replica')}"
    rows = [("Target", f"{target}, on {plain_name(started.on)}" if started.on else target)]
    rows.append(("Precision", plain_name(started.precision)))
    if started.plan.words:
        rows.append(("Execution", plain_name(started.plan.words)))
    rows.append(("Seed", str(started.seed)))
    if words := resumed_words(started):
        rows.append(("Interrupted", plain_text(words, 500)))
    if facts.summary.seconds:
        rows.append(("Time taken, with calibration and test", duration(facts.summary.seconds)))
    return rows


SPEC = SectionSpec(key="repeat", order=80, make=section)
