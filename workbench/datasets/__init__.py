"""The datasets, one file each: SPEC. Found by walking this folder."""

from __future__ import annotations

from functools import cache

from workbench.core.checks.analysis import DatasetFacts
from workbench.core.checks.data import Missing
from workbench.core.checks.missing_data import absent_data, unset_data
from workbench.core.projects.project import Project
from workbench.core.registry import Registry
from workbench.core.specs import DatasetSpec
from workbench.core.specs.edited_classes import edited_classes
from workbench.errors import DatasetError


@cache
def all_datasets() -> Registry[DatasetSpec]:
    """Every dataset source by key."""
    return Registry.from_package("workbench.datasets", DatasetSpec)


def missing_data_of(project: Project) -> tuple[Missing, ...]:
    """What keeps the project's data set from being read. Looks at the disk."""
    spec, params = all_datasets().get(project.dataset.key), project.dataset.params
    return (*unset_data(spec, params), *absent_data(spec, params))


def facts_of(project: Project) -> DatasetFacts | None:
    """What the project's data set is known to hold before it is read, if anything."""
    return DatasetFacts.of(all_datasets().get(project.dataset.key), project.edits.classes)


def glance_at(project: Project) -> DatasetFacts | None:
    """As `facts_of`, with the classes of the user's own folder, which is listed for that, after the
    user's edits of them. None also where it cannot be listed: reading it gives the reason.
    """
    spec = all_datasets().get(project.dataset.key)
    known = facts_of(project)
    if known is not None or spec is None:
        return known
    try:
        names = spec.classes(project.dataset.params)
    except DatasetError:
        return None
    names = edited_classes(names, project.edits.classes).names
    return DatasetFacts(None, len(names), spec.name_of(project.dataset.params)) if names else None
