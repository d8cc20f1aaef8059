"""Copying or moving classified images into class folders: the plan, the question, the report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.cli._output import print_json, print_line, prompt
from workbench.core.format import count, plural
from workbench.downloads.download import is_web_address
from workbench.errors import UsageError
from workbench.pictures.sorting import Plan, Sorted, carry_out, make_plan
from workbench.pictures.sorting.words import plan_notes, sorted_words
from workbench.runs.trust import undo_key

_MOST_NAMED = 20
"""Images that a report for people names; that for programs names all."""


def add_sorting_options(parser: argparse.ArgumentParser) -> None:
    """Adds --copy-into and --move-into DIR, --dry-run, --yes."""
    kinds = parser.add_mutually_exclusive_group()
    for kind in ("copy", "move"):
        kinds.add_argument(
            f"--{kind}-into",
            metavar="DIR",
            type=Path,
            help=f"{kind} the images into a folder of their predicted class in DIR; "
            "`workbench undo` takes it back",
        )
    add_consent_options(parser)


def add_consent_options(parser: argparse.ArgumentParser) -> None:
    """Adds --dry-run, --yes."""
    parser.add_argument("--dry-run", action="store_true", help="print what would be done, only")
    parser.add_argument("--yes", action="store_true", help="do it without a question")


def refuse_unanswered(arguments: argparse.Namespace) -> None:
    """Before long work: raises UsageError where nobody could answer the question at its end."""
    if arguments.dry_run or arguments.yes or _has_reader(arguments):
        return
    raise UsageError(
        "Confirmation required: use --yes or --dry-run.",
    )


def _has_reader(arguments: argparse.Namespace) -> bool:
    return not arguments.json and sys.stdin.isatty() and sys.stderr.isatty()


def is_wanted(arguments: argparse.Namespace, question: str) -> bool:
    """Whether files are to be changed: as the options say, else as the user answers."""
    if arguments.dry_run or arguments.yes:
        return bool(arguments.yes and not arguments.dry_run)
    return prompt(question).casefold() in {"y", "yes"}


class Sorting:
    """Collects answers; then plans, reports and sorts."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._is_move = arguments.move_into is not None
        self._into: Path | None = arguments.move_into or arguments.copy_into
        self._answers: list[tuple[str, str]] = []
        if self._into is None:
            if arguments.dry_run or arguments.yes:
                expected = "--copy-into DIR or --move-into DIR beside --dry-run or --yes"
                raise UsageError("There is nothing to copy or move.", expected=expected)
            return
        if arguments.test:
            raise UsageError("Images of the test set are not copied or moved.")
        if any(map(is_web_address, arguments.images)):
            raise UsageError("Images at web addresses are not copied or moved.")
        refuse_unanswered(arguments)

    def add(self, file: str, label: str) -> None:
        """Takes an image and its class; "" where it could not be read, or is unknown."""
        if self._into is not None:
            self._answers.append((file, label))

    def finish(self) -> None:
        """Reports what would be done; and does it where it is wanted."""
        if self._into is None:
            return
        plan = make_plan(self._answers, self._into)
        self._report_plan(plan)
        if not plan.placements:
            return
        verb = "Move" if self._is_move else "Copy"
        if is_wanted(self._arguments, f"{verb} {plural(len(plan.placements), 'image')}?"):
            self._report_done(carry_out(plan, is_move=self._is_move, sealer=undo_key))

    def _report_plan(self, plan: Plan) -> None:
        if self._arguments.json:
            plain = {
                "into": str(plan.into),
                "is_move": self._is_move,
                "images": len(plan.placements),
                "bytes": plan.num_bytes,
                "classes": plan.counts(),
                "renamed": plan.num_renamed,
                "skipped": named(plan.skipped),
            }
            print_json({"plan": plain})
            return
        for line in plan_lines(plan):
            print_line(line)

    def _report_done(self, done: Sorted) -> None:
        if self._arguments.json:
            plain = {"images": done.num_done, "undo": str(done.undo_file)}
            print_json({"sorted": {**plain, "failed": named(done.failed)}})
        else:
            print_line(sorted_words(done, is_move=self._is_move))
            for line in failed_lines(done.failed):
                print_line(line)
            print_line(f"To take it back: workbench undo '{done.undo_file}'")
        if done.error is not None:
            raise done.error


def named(files: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """Files with reasons, for programs."""
    return [{"file": file, "reason": reason} for file, reason in files]


def plan_lines(plan: Plan) -> Iterator[str]:
    """What would be done, for people."""
    yield f"Into {plan.into}: {plural(len(plan.placements), 'image')}"
    for folder, number in plan.counts().items():
        yield f"  {folder:28} {count(number):>9}"
    yield from plan_notes(plan)


def failed_lines(failed: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Images that were left where they are, the first by name."""
    for file, reason in failed[:_MOST_NAMED]:
        yield f"{file}: {reason}"
    if len(failed) > _MOST_NAMED:
        yield f"and {plural(len(failed) - _MOST_NAMED, 'other image')}"
