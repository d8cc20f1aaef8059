"""Paths of a data set's files relative to the folder of the project: written beside their absolute
paths, so that a project folder opens that was moved or copied together with its images.

In a file, `places` of `dataset` has the relative path for each absolute one. It is looked at only
where nothing is at the absolute path any more, and earlier versions keep it as an unknown field.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.core.projects.project import Project

_KEY = "places"
_MOST_UP = 2
"""Folders above the project's that may be moved with it."""
_MOST = 10_000


def with_paths(project: Project, convert: Callable[[str], str]) -> Project:
    """The project with the paths of its data set converted: of the parameters `path`, `..._path`
    and `paths`; an address is none, and one in the home folder (~/...) stays so.
    """
    params = {
        key: _converted(value, convert) if _holds_paths(key) else value
        for key, value in project.dataset.params.items()
    }
    if params == project.dataset.params:
        return project
    return replace(project, dataset=replace(project.dataset, params=params))


def with_places(project: Project, folder: Path) -> Project:
    """A project as it is written into a folder."""
    paths = _texts(project.dataset.params)
    places = {text: found for text in paths if (found := _relative(text, folder))}
    return _with_extra(project, places)


def with_found(project: Project, folder: Path) -> Project:
    """A project as it was read in a folder, with what lies beside it where nothing is at a path any
    more; `moved_places` has those. Looks at the disk.
    """
    kept = dict(_kept(project))
    if not kept:
        return _with_extra(project, {})
    found = {
        text: place
        for text in _texts(project.dataset.params)
        if text in kept
        and not os.path.exists(text)  # noqa: PTH110 - a text that may be no path
        and os.path.exists(place := os.path.normpath(folder / kept[text]))  # noqa: PTH110
    }
    return _with_extra(with_paths(project, lambda text: found.get(text, text)), found)


def moved_places(project: Project) -> Mapping[str, str]:
    """Paths of the project file where nothing is any more -> the path beside the project that is
    used instead. `project` was just read.
    """
    return {old: new for old, new in _kept(project).items() if os.path.isabs(new)}  # noqa: PTH117 - text


def _texts(params: Mapping[str, Any]) -> Iterator[str]:
    """The absolute paths in parameters."""
    for key, value in params.items():
        each = value if isinstance(value, list | tuple) else (value,)
        if _holds_paths(key):
            yield from (text for text in each if isinstance(text, str) and text.startswith(os.sep))


def _holds_paths(key: str) -> bool:
    return key in {"path", "paths"} or key.endswith("_path")


def _converted(value: Any, convert: Callable[[str], str]) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_converted(each, convert) for each in value)
    is_path = isinstance(value, str) and value and "://" not in value
    return convert(value) if is_path and not value.startswith("~/") else value


def _relative(text: str, folder: Path) -> str:
    """A path near the folder, relative to it; "" for one inside, which needs none, or far away."""
    found = os.path.relpath(text, folder)
    ups = Path(found).parts.count(os.pardir)
    return found if 0 < ups <= _MOST_UP and os.path.commonpath([text, folder]) != os.sep else ""


def _kept(project: Project) -> Mapping[str, str]:
    extra = project.extra.get("dataset")
    kept = extra.get(_KEY) if isinstance(extra, Mapping) else None
    if not isinstance(kept, Mapping) or len(kept) > _MOST:
        return {}
    return {
        old: new
        for old, new in kept.items()
        if isinstance(old, str) and isinstance(new, str) and "\0" not in new
    }


def _with_extra(project: Project, places: Mapping[str, str]) -> Project:
    """A project with these places, and no others."""
    extra = dict(project.extra)
    dataset = {key: value for key, value in extra.pop("dataset", {}).items() if key != _KEY}
    if places:
        dataset[_KEY] = dict(places)
    if dataset:
        extra["dataset"] = dataset
    return project if extra == project.extra else replace(project, extra=extra)
