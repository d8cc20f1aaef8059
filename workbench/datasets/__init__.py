"""The datasets, one file each: SPEC. Found by walking this folder."""

from __future__ import annotations

from functools import cache

from workbench.core.checks.analysis import DatasetFacts
from workbench.core.params import Param
from workbench.core.projects.project import Project
from workbench.core.registry import Registry
from workbench.core.specs import DatasetSpec


@cache
def all_datasets() -> Registry[DatasetSpec]:
    """Every dataset source by key."""
    return Registry.from_package("workbench.datasets", DatasetSpec)


def unset_of(project: Project) -> tuple[Param, ...]:
    """What the project's data set still needs: the parameters without a value."""
    spec = all_datasets().get(project.dataset.key)
    return spec.unset(project.dataset.params) if spec is not None else ()


def facts_of(project: Project) -> DatasetFacts | None:
    """What the project's data set is known to hold before it is read, if anything."""
    return DatasetFacts.of(all_datasets().get(project.dataset.key))
