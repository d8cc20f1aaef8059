"""The data set sources, one file each: SPEC. Found by walking this folder.

`load` of a spec is handed a context (cache folder, progress, cancellation, Keras) and runs in the
worker only. What it infers about the meaning of the data it returns as `Inference` values. Before
anything is read, `glance_at` shows what the names and first bytes of the user's own files say about
their shape. Modules whose names begin with "_" are shared code.
"""

from __future__ import annotations

from functools import cache

from workbench.core.checks.data import Missing, absent_data, unset_data
from workbench.core.checks.images import DatasetFacts
from workbench.core.projects.project import Project
from workbench.core.registry import Registry
from workbench.core.specs import DatasetSpec, FilePart, LoadedData, Shape
from workbench.core.specs.dataset import edited_classes
from workbench.errors import DatasetError
from workbench.pictures.header_size import header_shape, typical_size, usual_channels

_SAMPLED = 50
"""Images whose first bytes are read."""


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
    """Facts as of `facts_of`, with the classes, after the user's edits of them, and the typical
    size of the user's own files, which are listed for that. None also where they cannot be listed:
    reading them gives the reason.
    """
    spec = all_datasets().get(project.dataset.key)
    known = facts_of(project)
    if known is not None or spec is None:
        return known
    try:
        listed = spec.listing(project.dataset.params)
    except DatasetError:
        return None
    if listed is None:
        return None
    names = edited_classes(listed.class_names, project.edits.classes).names
    title = spec.name_of(project.dataset.params)
    typical = _typical_shape(listed)
    return DatasetFacts(None, len(names), title, typical=typical) if names else None


def sampled_shapes(loaded: LoadedData) -> list[tuple[int, int, int]]:
    """(height, width, channels) of some training images in files, as their first bytes say."""
    paths = loaded.train.paths if isinstance(loaded.train, FilePart) else ()
    some = paths[:: max(1, len(paths) // _SAMPLED)]
    return [shape for path in some if (shape := header_shape(path)) is not None]


def _typical_shape(listed: LoadedData) -> Shape | None:
    shapes = sampled_shapes(listed)
    size = typical_size([shape[:2] for shape in shapes])
    return (*size, usual_channels(shapes)) if size else None
