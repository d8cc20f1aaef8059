"""Whether what a project needs from elsewhere is there: its data set, and pretrained weights."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workbench.core.checks.problems import ANOTHER_SOURCE, Fix, Problem
from workbench.core.format import bytes_text
from workbench.core.network.graph import Graph
from workbench.core.params import Param, Params, PathParam, PathsParam
from workbench.core.specs import DatasetSpec


@dataclass(frozen=True)
class MissingData:
    """A parameter without which a data set has no images.

    Attributes:
        param: The parameter.
        path: The file or folder that was chosen and is not there; "" where none is chosen.
    """

    param: Param
    path: str = ""


@dataclass(frozen=True)
class MissingDownload:
    """Images that are downloaded on first use, where there is no connection.

    Attributes:
        title: The data set's.
        num_bytes: The size of what is not there yet; 0 where it is not known.
    """

    title: str
    num_bytes: int = 0


@dataclass(frozen=True)
class MissingWeights:
    """Weights of a pretrained network that are not on this computer yet.

    Attributes:
        key, title: The network's.
        num_bytes: Size of the download.
    """

    key: str
    title: str
    num_bytes: int


Missing = MissingData | MissingDownload | MissingWeights

_CHOOSE = "workbench set PROJECT data=folder:../my_images"
"""An example of a choice in the terminal."""


def check_data(missing: Iterable[Missing]) -> Iterator[Problem]:
    """One problem for each; its fix opens a dialog, so that it cannot be tried."""
    for each in missing:
        if isinstance(each, MissingDownload):
            yield _not_downloaded(each)
            continue
        if isinstance(each, MissingWeights):
            yield _without_weights(each)
            continue
        what, article = _words(each.param)
        key = each.param.key
        fix = Fix(
            f"choose_{key}", f"Choose {article}…", _unchanged, data_param=key, command=_CHOOSE
        )
        if each.path:
            yield Problem(
                None,
                "error",
                "Data not found",
                f"The {what} with the images is not there: {each.path}. It was moved or deleted, "
                "or its disk is not connected.",
                (fix,),
            )
        else:
            yield Problem(
                None,
                "unfinished",
                "No data",
                f"No {what} with images has been chosen for this project yet.",
                (fix,),
                step=f"choose {article} with images",
            )


def _not_downloaded(missing: MissingDownload) -> Problem:
    size = f" ({bytes_text(missing.num_bytes)})" if missing.num_bytes else ""
    return Problem(
        None,
        "error",
        "No connection",
        f"{missing.title} is downloaded on first use{size}, and this computer has no network "
        "connection now. Connect it, or choose images that are included or your own.",
        (
            Fix(
                "choose_source",
                "Choose other images…",
                _unchanged,
                data_param=ANOTHER_SOURCE,
                command=_CHOOSE,
            ),
        ),
    )


def _without_weights(missing: MissingWeights) -> Problem:
    size = bytes_text(missing.num_bytes)
    return Problem(
        None,
        "unfinished",
        "Weights not downloaded",
        f"The pretrained weights of {missing.title} ({size}) are not on this computer yet. They "
        "are downloaded once; after that they work offline.",
        (
            Fix(
                f"download_{missing.key}",
                f"Download ({size})",
                _unchanged,
                backbone=missing.key,
                command=f"workbench backbones --download {missing.key}",
            ),
        ),
        step=f"download the weights of {missing.title}",
    )


def is_asked_for(problem: Problem) -> bool:
    """Whether only something from elsewhere is missing: the network itself may be right."""
    offered = () if callable(problem.offers) else problem.offers
    return any(fix.is_asked for fix in offered)


def _words(param: Param) -> tuple[str, str]:
    """What is missing, and the same with its article."""
    if isinstance(param, PathsParam):
        return "a folder".removeprefix("a "), "several folders"
    if not isinstance(param, PathParam):
        return param.title.lower(), f"a value for {param.title.lower()}"
    article = "a folder" if param.is_folder else "a file"
    return article.removeprefix("a "), article


def _unchanged(graph: Graph) -> Graph:
    return graph


# missing data --------------------------------------------------------------------------------
# What a data set lacks: values that are not chosen, files and folders that are not there, and
# downloads that cannot be made now.


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
