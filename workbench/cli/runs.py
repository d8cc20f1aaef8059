"""`workbench runs`: the runs on this computer: list, find, rename, tag, note, trash, export."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from workbench.cli._options import (
    RUN_WORDS,
    add_force,
    add_json_option,
    add_run,
    refuse_existing,
)
from workbench.cli._output import aligned, print_json, print_line, print_text, report_error
from workbench.errors import UsageError
from workbench.runs.export.tables import export_curves
from workbench.runs.home import runs_home
from workbench.runs.library.filter import comparable, wrong_comparisons
from workbench.runs.library.find import open_run
from workbench.runs.library.index import RunSummary, index_problem, list_runs, matches
from workbench.runs.library.trash import trash_run
from workbench.runs.log.scores import figure_words
from workbench.runs.state.outcome import outcome_words
from workbench.runs.state.outside import place_text
from workbench.runs.store.notes import change_notes, read_notes

NAME = "runs"
HELP = "list the runs on this computer; rename, tag, annotate, trash or export one"


_NAME_LETTERS = 60
"""The longest name in the list."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to list; or one of rename, tag, note, trash, export."""
    add_json_option(parser)
    parser.add_argument(
        "--filter",
        metavar="WORDS",
        default="",
        help='only matching runs, such as --filter="flowers tag:paper acc>0.8 -failed"',
    )
    parser.add_argument(
        "--tag", metavar="TAG", action="append", default=[], help="only runs with this tag"
    )
    parser.set_defaults(change=None)
    commands = parser.add_subparsers(metavar="[COMMAND]")
    rename = commands.add_parser("rename", help="rename a run")
    add_run(rename)
    rename.add_argument("title", metavar="TITLE", help='"" restores the original title')
    rename.set_defaults(change=_rename)
    tag = commands.add_parser("tag", help="tag a run")
    add_run(tag)
    tag.add_argument("tags", metavar="TAG", nargs="*", help="tag to add")
    tag.add_argument("--remove", metavar="TAG", action="append", default=[], help="tag to remove")
    tag.set_defaults(change=_tag)
    note = commands.add_parser("note", help="show or set the note of a run")
    add_run(note)
    note.add_argument("text", metavar="TEXT", nargs="?", help='the note; "" removes it')
    note.set_defaults(change=_note)
    trash = commands.add_parser("trash", help="move runs to the trash")
    trash.add_argument("run_names", metavar="RUN", nargs="+", help=RUN_WORDS)
    trash.set_defaults(change=_trash)
    export = commands.add_parser("export", help="export the curves of a run as .csv or .parquet")
    add_run(export)
    export.add_argument(
        "file", metavar="FILE", type=Path, help="file name ending in .csv or .parquet"
    )
    add_force(export, "FILE")
    export.set_defaults(change=_export)


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
    return (
        _name(summary.label),
        _name(summary.project),
        outcome_words(summary.outcome),
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
        print_line(f"Moved {run.name} to the trash.")


def _export(arguments: argparse.Namespace) -> None:
    refuse_existing(arguments.file, force=arguments.force)
    for path in export_curves(open_run(arguments.run_name), arguments.file):
        print_line(f"Wrote {path}.")
