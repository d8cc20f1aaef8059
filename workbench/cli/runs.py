"""`workbench runs`: the runs on this computer: list, find, rename, tag, note, trash, restore,
export.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from workbench.cli._follow import PastEvents
from workbench.cli._options import (
    RUN_WORDS,
    add_force,
    add_json_option,
    add_run,
    refuse_existing,
)
from workbench.cli._output import (
    aligned,
    print_json,
    print_line,
    print_text,
    report_error,
)
from workbench.errors import RunFolderError, UsageError
from workbench.runs.control import request_again, request_save, request_skip
from workbench.runs.export.tables import export_curves
from workbench.runs.folder import RunFolder
from workbench.runs.home import runs_home
from workbench.runs.library.index import (
    RunSummary,
    comparable,
    index_problem,
    list_runs,
    matches,
    open_run,
    wrong_comparisons,
)
from workbench.runs.library.summary import summarise
from workbench.runs.library.trash import TrashedRun, restore_run, trash_run, trashed_runs
from workbench.runs.log.history import MetricHistory
from workbench.runs.log.texts import figure_words
from workbench.runs.state.outcome import outcome_of
from workbench.runs.state.queue import place_text
from workbench.runs.store.notes import change_notes, read_notes

NAME = "runs"
HELP = "list the runs on this computer; rename, tag, annotate, trash, restore or export one"


_NAME_LETTERS = 60
"""The longest name in the list."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what to list, or a command: show, skip, save, again, rename, tag, note, trash, ...."""
    add_json_option(parser)
    parser.add_argument(
        "--filter",
        metavar="WORDS",
        type=str,
        default="",
        help='only matching runs, such as --filter="flowers tag:paper acc>0.8 -failed"',
    )
    parser.add_argument(
        "--tag", metavar="TAG", action="append", default=[], help="only runs with this tag"
    )
    parser.set_defaults(change=None)
    commands = parser.add_subparsers(metavar="[COMMAND]")
    _add_show_and_requests(commands)
    rename = commands.add_parser("rename", help="rename a run")
    add_run(rename)
    rename.add_argument("title", metavar="TITLE", type=str, help='"" restores the original title')
    rename.set_defaults(change=_rename)
    tag = commands.add_parser("tag", help="tag a run")
    add_run(tag)
    tag.add_argument("tags", metavar="TAG", nargs="*", help="tag to add")
    tag.add_argument("--remove", metavar="TAG", action="append", default=[], help="tag to remove")
    tag.set_defaults(change=_tag)
    note = commands.add_parser("note", help="show or set the note of a run")
    add_run(note)
    note.add_argument("text", metavar="TEXT", nargs="?", type=str, help='the note; "" removes it')
    note.set_defaults(change=_note)
    trash = commands.add_parser("trash", help="move runs to the trash")
    trash.add_argument("run_names", metavar="RUN", nargs="+", help=RUN_WORDS)
    trash.set_defaults(change=_trash)
    _add_restore(commands)
    export = commands.add_parser("export", help="export the curves of a run as .csv or .parquet")
    add_run(export)
    export.add_argument(
        "file", metavar="FILE", type=Path, help="file name ending in .csv or .parquet"
    )
    add_force(export, "FILE")
    export.set_defaults(change=_export)


def _add_show_and_requests(commands: Any) -> None:
    """Adds `show`, and the commands that request something of a trainer behind its last step."""
    show = commands.add_parser("show", help="show the state of a run, and where resume continues")
    add_run(show)
    add_json_option(show)
    show.set_defaults(change=_show)
    skip = commands.add_parser(
        "skip", help="leave out the calibration, comparison or test that goes on after training"
    )
    add_run(skip)
    skip.add_argument("--all", action="store_true", help="and all that would follow it")
    skip.set_defaults(change=_skip)
    save = commands.add_parser(
        "save", help="save the weights of a run that has no room for them in a new folder"
    )
    add_run(save)
    save.add_argument("place", metavar="FOLDER", type=Path, help="a new folder, on another disk")
    save.set_defaults(change=_save)
    again = commands.add_parser(
        "again", help="let a run that has no room for its weights try again now"
    )
    add_run(again)
    again.set_defaults(change=_again)


def _add_restore(commands: Any) -> None:
    restore = commands.add_parser(
        "restore", help="put runs back from the trash, or list those in it"
    )
    restore.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        help="name of a run's folder, or of its folder in the trash; without one, runs in the "
        "trash are listed",
    )
    restore.set_defaults(change=_restore)


def run(arguments: argparse.Namespace) -> int:
    """Changes or exports a run, or prints one line a run, newest first."""
    if arguments.change is not None:
        arguments.change(arguments)
        return 0
    words = " ".join([arguments.filter, *(f"tag:{tag}" for tag in arguments.tag)])
    _refuse_wrong(words)
    home = runs_home()
    runs = list_runs(home)
    if (problem := index_problem()) is not None:
        report_error(problem, as_json=False)  # stdout is the list's, which is there all the same
    found = [summary for summary in runs if matches(summary, words)]
    if arguments.json:
        for summary in found:
            print_json(msgspec.to_builtins(summary, enc_hook=str))
    else:
        has_several = len({summary.project_id or summary.project for summary in found}) > 1
        rows = [_row(summary, home) for summary in found]
        if has_several:  # numbers of runs count within a project
            rows = [(project, label, *rest) for label, project, *rest in rows]
        for line in aligned(rows):
            print_text(line)
    if not found and not arguments.json:
        print_line("No run matches." if runs else f"No runs yet. They are stored in {home}.")
    return 0


def _refuse_wrong(words: str) -> None:
    """Raises UsageError for a filter with comparisons that mean nothing."""
    wrong = wrong_comparisons(words)
    if wrong:
        raise UsageError(
            "This filter cannot be read.",
            received=" ".join(wrong),
            expected="a comparison with a number, such as acc>0.8, of " + ", ".join(comparable()),
        )


def _row(summary: RunSummary, home: Path) -> tuple[str, ...]:
    words = figure_words(summary.test_accuracy, summary.val_accuracy)
    tags = "".join(f" #{tag}" for tag in summary.tags)
    epochs = f"epoch {summary.epochs_done} of {summary.epochs}"
    verdict = f"  {summary.verdict}" if summary.verdict else ""
    if not summary.is_readable:
        verdict = f"  {summary.words}"
    return (
        _name(summary.label),
        _name(summary.project),
        summary.state,
        epochs,
        words,
        f"{place_text(summary.path, home)}{tags}{verdict}",
    )


def _name(text: str) -> str:
    """A name with both its ends: the folder, which is listed whole, names the run, too."""
    if len(text) <= _NAME_LETTERS:
        return text
    end = _NAME_LETTERS // 3
    return f"{text[: _NAME_LETTERS - end - 1]}…{text[-end:]}"


def _show(arguments: argparse.Namespace) -> None:
    run = open_run(arguments.run_name)
    summary, outcome = summarise(run), outcome_of(run)
    if summary is None:
        run.request()  # raises why it is not a run
        raise RunFolderError(
            "The state of the run cannot be shown: its folder has changed just now.",
            where=str(run.path),
            fix="Try again.",
        )
    if arguments.json:
        plain = msgspec.to_builtins(summary, enc_hook=str)
        print_json({**plain, "resumes": outcome.resumes})
        return
    row = "  ".join(_row(summary, runs_home()))
    print_text(row, *filter(None, (summary.words if summary.is_readable else "", outcome.resumes)))


def _skip(arguments: argparse.Namespace) -> None:
    run, history = _live(arguments)
    phase = history.phase
    if phase is None or not phase.can_skip:
        raise _nothing_to("skip", run, "a run that is being calibrated, compared or tested")
    request_skip(run, is_all=arguments.all)
    print_line(f"Skipping: {phase.text}{', and all that follows' if arguments.all else ''}.")


def _save(arguments: argparse.Namespace) -> None:
    run, history = _live(arguments)
    _refuse_saved(run, history)
    request_save(run, arguments.place)
    print_line(f"The weights are being saved in {arguments.place}.")


def _again(arguments: argparse.Namespace) -> None:
    run, history = _live(arguments)
    _refuse_saved(run, history)
    request_again(run)
    print_line(f"{run.name} tries again to save its weights.")


def _live(arguments: argparse.Namespace) -> tuple[RunFolder, MetricHistory]:
    """The run, with what its trainer has logged."""
    run = open_run(arguments.run_name)
    if not run.is_alive():
        raise _nothing_to("request", run, "a run that is training")
    return run, PastEvents(run).history


def _refuse_saved(run: RunFolder, history: MetricHistory) -> None:
    # Without any room the log does not say so either.
    if not (history.is_unsaved or outcome_of(run).is_unwritable):
        raise _nothing_to("save", run, "a run that waits for room for its weights")


def _nothing_to(what: str, run: RunFolder, expected: str) -> UsageError:
    return UsageError(f"There is nothing to {what}.", where=run.name, expected=expected)


def _rename(arguments: argparse.Namespace) -> None:
    change_notes(open_run(arguments.run_name), title=arguments.title)


def _tag(arguments: argparse.Namespace) -> None:
    run = open_run(arguments.run_name)
    notes = change_notes(run, add_tags=arguments.tags, remove_tags=arguments.remove)
    print_line("Tags: " + (", ".join(notes.tags) or "none"))


def _note(arguments: argparse.Namespace) -> None:
    run = open_run(arguments.run_name)
    if arguments.text is None:
        print_text(*read_notes(run).text.splitlines())
    else:
        change_notes(run, text=arguments.text)


def _trash(arguments: argparse.Namespace) -> None:
    for run in [open_run(name) for name in arguments.run_names]:  # a wrong name: none goes
        trash_run(run)
        print_line(f"Moved {run.name} to the trash. `workbench runs restore {run.name}` undoes it.")


def _restore(arguments: argparse.Namespace) -> None:
    trashed = trashed_runs()
    if not arguments.names:
        rows = [(run.place.name, run.deleted.replace("T", " "), str(run.path)) for run in trashed]
        if rows:
            print_text(*aligned(rows))
        else:
            print_line("No run is in the trash.")
        return
    for run in [_trashed(name, trashed) for name in arguments.names]:  # a wrong name: none moves
        print_line(f"Restored {restore_run(run).path}.")


def _trashed(name: str, trashed: Sequence[TrashedRun]) -> TrashedRun:
    """The run that is meant: of several with a name the one that was deleted last."""
    for run in trashed:
        if name in {run.place.name, run.path.name, str(run.path)}:
            return run
    raise RunFolderError(
        "There is no such run in the trash.",
        received=name,
        expected=", ".join(run.place.name for run in trashed[:8]) or "nothing: no run is there",
        fix="List them with `workbench runs restore`.",
    )


def _export(arguments: argparse.Namespace) -> None:
    refuse_existing(arguments.file, force=arguments.force)
    for path in export_curves(open_run(arguments.run_name), arguments.file):
        print_line(f"Wrote {path}.")
