"""Whether the data set of a project has been chosen as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.core.checks.problems import Fix, Problem
from workbench.core.params import Param, PathParam


def check_data(unset: Iterable[Param]) -> Iterator[Problem]:
    """One problem for each of these parameters of a data set, see DatasetSpec.unset."""
    for param in unset:
        what = _what(param)
        yield Problem(
            None,
            "unfinished",
            "No data",
            f"No {what} with images has been chosen for this project yet.",
            (choose_fix(param),),
            step=f"choose a {what} with images",
        )


def choose_fix(param: Param) -> Fix:
    """A fix that lets the user choose a value."""
    title = f"Choose a {_what(param)}…"
    return Fix(f"choose_{param.key}", title, lambda graph: graph, data_param=param.key)


def is_about_data(problem: Problem) -> bool:
    """Whether only the choice of the data is missing: the network itself may be right."""
    offered = () if callable(problem.offers) else problem.offers
    return any(fix.data_param for fix in offered)


def _what(param: Param) -> str:
    if not isinstance(param, PathParam):
        return param.title.lower()
    return "folder" if param.is_folder else "file"
