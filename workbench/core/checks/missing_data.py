"""What a data set lacks: values that are not chosen, files and folders that are not there."""

from __future__ import annotations

import os
from collections.abc import Iterator

from workbench.core.checks.data import MissingData
from workbench.core.params import Params, PathParam
from workbench.core.specs import DatasetSpec


def unset_data(spec: DatasetSpec | None, params: Params) -> tuple[MissingData, ...]:
    """What is not chosen yet."""
    return tuple(map(MissingData, spec.unset(params))) if spec is not None else ()


def names_paths(spec: DatasetSpec | None, params: Params) -> bool:
    """Whether there is anything to look for on the disk."""
    return spec is not None and any(_paths(spec, params))


def absent_data(spec: DatasetSpec | None, params: Params) -> tuple[MissingData, ...]:
    """What is chosen and not there. Looks at the disk: not for the window's own thread."""
    named = _paths(spec, params) if spec is not None else ()
    return tuple(each for each in named if _is_absent(each.path))


def _paths(spec: DatasetSpec, params: Params) -> Iterator[MissingData]:
    """The files and folders that are chosen."""
    for param in spec.params:
        path = str(params.get(param.key) or "")
        if isinstance(param, PathParam) and path:
            yield MissingData(param, path)


def _is_absent(path: str) -> bool:
    """An address such as gs://... is checked by its reader."""
    try:
        return "://" not in path and not os.path.exists(os.path.expanduser(path))  # noqa: PTH110, PTH111 - keeps odd text
    except ValueError:  # no path at all
        return True
