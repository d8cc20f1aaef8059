"""Whether the data set of a project is chosen as a whole, and there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workbench.core.checks.problems import Fix, Problem
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


def check_data(missing: Iterable[MissingData]) -> Iterator[Problem]:
    """One problem for each; its fix opens a dialog, so that it cannot be tried."""
    for each in missing:
        what, article = _words(each.param)
        key = each.param.key
        fix = Fix(f"choose_{key}", f"Choose {article}…", _unchanged, data_param=key)
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


def is_about_data(problem: Problem) -> bool:
    """Whether only the data is missing: the network itself may be right."""
    offered = () if callable(problem.offers) else problem.offers
    return any(fix.data_param for fix in offered)


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
