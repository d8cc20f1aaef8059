"""What a data set lacks: values that are not chosen, files and folders that are not there."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator

from workbench.core.checks.data import MissingData
from workbench.core.params import Params, PathParam, PathsParam
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
    return tuple(each for each in named if _is_absent(each))


def _paths(spec: DatasetSpec, params: Params) -> Iterator[MissingData]:
    """The files and folders that are chosen."""
    for param in spec.params:
        value = params.get(param.key) or ""
        if isinstance(param, PathParam) and value:
            yield MissingData(param, str(value))
        elif isinstance(param, PathsParam):
            yield from (MissingData(param, path) for path in value)


def _is_absent(missing: MissingData) -> bool:
    """An address such as gs://... is checked by its reader."""
    if "://" in missing.path:
        return False
    is_glob = isinstance(missing.param, PathParam) and missing.param.is_glob
    try:
        path = os.path.expanduser(missing.path)  # noqa: PTH111 - keeps odd text
        return not (os.path.exists(path) or (is_glob and any(glob.iglob(path))))  # noqa: PTH110, PTH207 - as above
    except ValueError:  # no path at all
        return True
