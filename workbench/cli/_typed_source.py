"""SOURCE texts that a person has typed: an address among them may be contacted from then on."""

from __future__ import annotations

from workbench.core.projects.project import Choice
from workbench.core.projects.source import parse_source
from workbench.datasets import all_datasets
from workbench.runs.places import remember


def typed_source(text: str) -> Choice:
    """The data set that a SOURCE text names; raises UsageError, SaveError."""
    choice = parse_source(text, all_datasets())
    remember(choice)
    return choice
