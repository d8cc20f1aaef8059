"""Whether the data set of a project has been chosen as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.core.checks.problems import Fix, Problem
from workbench.core.network.graph import Graph
from workbench.core.params import Param, PathParam


def check_data(unset: Iterable[Param]) -> Iterator[Problem]:
    """One problem for each of these parameters of a data set, see DatasetSpec.unset."""
    for param in unset:
        what, article = _words(param)
        yield Problem(
            None,
            "unfinished",
            "No data",
            f"No {what} with images has been chosen for this project yet.",
            (Fix(f"choose_{param.key}", f"Choose {article}…", _unchanged, data_param=param.key),),
            step=f"choose {article} with images",
        )


def is_about_data(problem: Problem) -> bool:
    """Whether only the choice of the data is missing: the network itself may be right."""
    offered = () if callable(problem.offers) else problem.offers
    return any(fix.data_param for fix in offered)


def _words(param: Param) -> tuple[str, str]:
    """What is missing, and the same with its article."""
    if not isinstance(param, PathParam):
        return param.title.lower(), f"a value for {param.title.lower()}"
    article = "a folder" if param.is_folder else "a file"
    return article.removeprefix("a "), article


def _unchanged(graph: Graph) -> Graph:
    return graph
