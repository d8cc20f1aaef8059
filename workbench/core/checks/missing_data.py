"""What a data set lacks: values that are not chosen, files and folders that are not there, and
downloads that cannot be made now.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator

from workbench.core.checks.data import Missing, MissingData, MissingDownload
from workbench.core.params import Params, PathParam, PathsParam
from workbench.core.specs import DatasetSpec


def unset_data(spec: DatasetSpec | None, params: Params) -> tuple[MissingData, ...]:
    """What is not chosen yet."""
    return tuple(map(MissingData, spec.unset(params))) if spec is not None else ()


def has_to_be_there(spec: DatasetSpec | None, params: Params) -> bool:
    """Whether there is anything to look for on the disk."""
    return spec is not None and (spec.needs_download or any(_paths(spec, params)))


def absent_data(spec: DatasetSpec | None, params: Params) -> tuple[Missing, ...]:
    """What is chosen and not there, and not to be had by a download either. Looks at the disk:
    not for the window's own thread.
    """
    if spec is None:
        return ()
    absent = tuple(each for each in _paths(spec, params) if _is_absent(each))
    return (*absent, *_downloads(spec))


def _downloads(spec: DatasetSpec) -> Iterator[MissingDownload]:
    """What training would download first, where there is certainly no connection."""
    missing = spec.not_kept()
    if missing and not all(file.has_route() for file in missing):
        yield MissingDownload(spec.title, sum(file.num_bytes for file in missing))


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
