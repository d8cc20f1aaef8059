"""Whether what a project needs from elsewhere is there: its data set, and pretrained weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workbench.core.checks.problems import ANOTHER_SOURCE, Fix, Problem
from workbench.core.format import bytes_text
from workbench.core.network.graph import Graph
from workbench.core.params import Param, PathParam, PathsParam


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
