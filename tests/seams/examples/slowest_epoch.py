"""A section of the report: which epoch took longest."""

from __future__ import annotations

from workbench.core.format import duration
from workbench.report.blocks import Section, Text
from workbench.report.facts import Facts, SectionSpec


def _make(facts: Facts) -> Section:
    epochs = facts.history.epochs
    if not epochs:
        return Section("Slowest epoch", [Text("No epoch was finished.", "missing")])
    slowest = max(epochs, key=lambda epoch: epoch.seconds)
    words = f"Epoch {slowest.epoch:,} took {duration(slowest.seconds)}."
    return Section("Slowest epoch", [Text(words)])


SPEC = SectionSpec(key="slowest_epoch", order=35, make=_make)
