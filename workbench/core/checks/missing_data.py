"""What a data set lacks: values that are not chosen, files and folders that are not there, and
downloads that cannot be made now.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from workbench.core.checks.data import Missing, MissingData, MissingDownload
from workbench.core.params import Params, PathParam
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
    absent = tuple(each for each in _paths(spec, params) if _is_absent(each.path))
    return (*absent, *_downloads(spec))


def _downloads(spec: DatasetSpec) -> Iterator[MissingDownload]:
    """What training would download first, where there is certainly no connection."""
    missing = spec.not_kept()
    if missing and not all(file.has_route() for file in missing):
        yield MissingDownload(spec.title, sum(file.num_bytes for file in missing))


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
