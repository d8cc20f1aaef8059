"""RUN as people type it: a folder, a number, a title, or the start of one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from workbench.errors import RunFolderError, os_errors_as
from workbench.runs.folder import RunFolder
from workbench.runs.home import runs_home
from workbench.runs.library.foreign_model import refuse_foreign
from workbench.runs.library.index import RunSummary, list_runs
from workbench.runs.state.outside import place_text

MAX_LISTED = 8

Key = Callable[[RunSummary], Iterable[str]]


def open_run(path_or_name: str | Path, *, home: Path | None = None) -> RunFolder:
    """A run by its folder, or among the user's runs by what `workbench runs` shows of it.

    12              its number
    flowers 12      the number of a project's run, where several projects have one
    Tour            a title that a person gave it; its name, also from its start

    Raises:
        RunFolderError: there is none, or several (all of them are named, with their projects).
    """
    run = RunFolder(Path(path_or_name).expanduser())
    if _is_run(run):
        return RunFolder(run.path.absolute())
    home = home or runs_home()
    text = str(path_or_name).strip()
    runs = list_runs(home)
    found = _matching(runs, text) if text else []
    if len(found) == 1:
        return RunFolder(found[0].path)
    if found:
        raise _several(home, text, found)
    latest = ", ".join(sorted(run.name for run in runs[:5]))
    raise RunFolderError(
        "Unknown run.",
        where=str(home),
        received=text,
        expected=latest or "a run folder (there are no runs yet)",
        fix="List the runs with `workbench runs`.",
    )


def find_model(path_or_name: str | Path) -> str:
    """The absolute path of something that can classify: a `.keras` file, or the folder of a run
    with weights, as `open_run` finds it. Raises RunFolderError where there is no such run, or no
    weights, or a model of another kind.
    """
    path = Path(path_or_name).expanduser()
    if not _is_run(RunFolder(path)):
        refuse_foreign(path)
    if path.is_file():
        return str(path.absolute())
    run = open_run(path_or_name)
    run.model_card()
    return str(run.path)


def _is_run(run: RunFolder) -> bool:
    with os_errors_as(RunFolderError, "The run folder cannot be read.", run.path):
        return run.request_path.is_file()


def _matching(runs: list[RunSummary], text: str) -> list[RunSummary]:
    """The runs that are meant: by the first of the ways in which any is."""
    wanted = text.casefold()
    for key in _KEYS:
        if found := [run for run in runs if any(wanted == each.casefold() for each in key(run))]:
            return found
    return [
        run
        for run in runs
        if any(each.casefold().startswith(wanted) for key in _KEYS for each in key(run))
    ]


def _numbers(run: RunSummary) -> tuple[str, ...]:
    return (f"{run.number}", f"{run.project} {run.number}") if run.number else ()


_KEYS: tuple[Key, ...] = (
    lambda run: (run.name,),
    _numbers,
    lambda run: (run.own_title,) if run.own_title else (),
    lambda run: (run.label,),
    lambda run: (run.title,),
)


def _several(home: Path, text: str, found: list[RunSummary]) -> RunFolderError:
    listed = [
        f"{run.project}: {run.label} ({place_text(run.path, home)})" for run in found[:MAX_LISTED]
    ]
    more = f"; and {len(found) - MAX_LISTED} more" if len(found) > MAX_LISTED else ""
    fix = "Use the folder in parentheses."
    if all(run.number for run in found):
        fix = f'Name the project too, for example "{found[0].project} {found[0].number}".'
    if len({(run.project, run.number) for run in found}) < len(found):
        fix = "Use the folder in parentheses."
    return RunFolderError(
        "Several runs match.",
        where=str(home),
        received=text,
        expected="; ".join(listed) + more,
        fix=fix,
    )
