"""`workbench queue`: the runs that wait for their turn."""

from __future__ import annotations

import argparse

from workbench.cli import train
from workbench.cli._options import add_json_option, add_run
from workbench.cli._output import print_json, print_line, print_text, report, report_error
from workbench.cli._project import add_connect_option, agree_on
from workbench.core.projects.project import Project
from workbench.errors import RunFolderError, WorkbenchError
from workbench.runs.environment import refuse_without_parts
from workbench.runs.folder import RunFolder
from workbench.runs.library.index import RunSummary, list_runs, open_run
from workbench.runs.state import queue
from workbench.runs.state.outcome import outcome_of
from workbench.runs.trust import places_of

NAME = "queue"
HELP = "list, add or move queued runs"

_PLACES = {"up": -1, "down": 1, "front": -1_000_000, "back": 1_000_000}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --json and the commands add, resume, move, cancel, start."""
    add_json_option(parser)
    parser.set_defaults(change=None)
    commands = parser.add_subparsers(metavar="[COMMAND]")
    add = commands.add_parser("add", help="queue a project; options as in `train`")
    train.add_project_arguments(add)
    add_json_option(add, is_repeated=True)
    add.set_defaults(change=_add)
    for name, change, words in (
        ("resume", _resume, "queue a stopped run to resume"),
        ("move", _move, "move a queued run"),
        ("cancel", _cancel, "remove a run from the queue"),
        ("start", _start, "start a queued run now"),
    ):
        command = commands.add_parser(name, help=words)
        add_run(command)
        if name in ("resume", "start"):
            add_connect_option(command)
        if name == "resume":
            add_json_option(command, is_repeated=True)
        if name == "move":
            command.add_argument("direction", choices=tuple(_PLACES), help="where to")
        command.set_defaults(change=change)


def run(arguments: argparse.Namespace) -> int:
    """Changes the queue, or lists it; starts the next run where nothing trains."""
    if arguments.change is not None:
        arguments.change(arguments)
        return 0
    try:
        queue.start_next()  # the last trainer may have been killed
    except WorkbenchError as error:
        report_error(error, as_json=False)  # stdout is the list's, which is there all the same
    runs = [run for run in list_runs() if run.queue_place or not run.is_over]
    runs.sort(key=lambda run: run.queue_place)
    for summary in runs:
        _print(summary, as_json=arguments.json)
    if not runs and not arguments.json:
        print_line("No run is training or queued.")
    return 0


def _print(summary: RunSummary, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "place": summary.queue_place,
                "run": str(summary.path),
                "title": summary.title,
                "outcome": summary.outcome,
            }
        )
        return
    place = f"{summary.queue_place}." if summary.queue_place else "now"
    print_text(f"{place:>4} {summary.label:34} {summary.project:20} {summary.name}")


def _add(arguments: argparse.Namespace) -> None:
    project: Project = train.project_for(arguments)
    agree_on(arguments, project.target, project.dataset)
    refuse_without_parts(project.target)
    folder = train.new_run(arguments, project)
    queue.enqueue(folder)
    _print_place(folder, as_json=arguments.json)


def _resume(arguments: argparse.Namespace) -> None:
    folder = open_run(arguments.run_name)
    outcome = outcome_of(folder)
    if not outcome.can_resume:
        raise RunFolderError(
            "This run cannot be resumed.",
            where=str(folder.path),
            received=outcome.sentence(),
            fix="Train its project again.",
        )
    agree_on(arguments, *places_of(folder))
    refuse_without_parts(folder.project().target)
    queue.enqueue(folder, resume=True)
    _print_place(folder, as_json=arguments.json)


def _print_place(folder: RunFolder, *, as_json: bool) -> None:
    queue.start_next(folder.path.parent)
    is_waiting = queue.is_waiting(folder)
    before = queue.num_before(folder) if is_waiting else 0
    words = queue.waiting_words(before) if is_waiting else "The run starts now."
    value = {"place": before + 1 if is_waiting else 0, "run": str(folder.path)}
    report(value, words, f"Run folder: {folder.path}", as_json=as_json)


def _move(arguments: argparse.Namespace) -> None:
    queue.move(open_run(arguments.run_name), _PLACES[arguments.direction])


def _cancel(arguments: argparse.Namespace) -> None:
    queue.cancel(open_run(arguments.run_name))


def _start(arguments: argparse.Namespace) -> None:
    folder = open_run(arguments.run_name)
    agree_on(arguments, *places_of(folder))
    queue.start_now(folder)
