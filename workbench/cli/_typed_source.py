"""SOURCE and TARGET texts that a person has typed: an address in them may be contacted from then
on.
"""

from __future__ import annotations

from workbench.core.projects.project import Choice
from workbench.core.projects.source import parse_source
from workbench.core.projects.target_text import parse_target
from workbench.datasets import all_datasets
from workbench.runs.places import remember
from workbench.targets import all_targets


def typed_source(text: str) -> Choice:
    """The data set that a SOURCE text names; raises UsageError, SaveError."""
    choice = parse_source(text, all_datasets())
    remember(choice)
    return choice


def typed_target(text: str) -> Choice:
    """The target that a TARGET text names; errors as of `typed_source`."""
    choice = parse_target(text, all_targets())
    remember(choice)
    return choice
