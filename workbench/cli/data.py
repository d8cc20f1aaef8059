"""`workbench data`: what a source holds, what is wrong with its images, and settling that."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from workbench.cli._data import (
    Checked,
    add_moved,
    add_versions,
    checked,
    finding_as_json,
    findings_as_json,
    inference_as_json,
    print_findings,
)
from workbench.cli._options import add_json_option, add_project
from workbench.cli._output import print_json, print_line, print_text
from workbench.cli._project import source_words, typed_source
from workbench.cli.new import start_of
from workbench.core.data_check.findings import Action, Finding, with_actions
from workbench.core.format import count, plural
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import project_bytes, read_project, read_stamped
from workbench.core.storage.save import OnlyOver, save_bytes
from workbench.data_checks import all_data_checks
from workbench.errors import UsageError
from workbench.protocol.describe_data import DataDescription
from workbench.runs.home import data_home

NAME = "data"
HELP = "inspect a data set, and settle what is wrong with it"

_PARTS = ("train", "validation", "test")
_PROJECT_ENDING = ".workbench"

_MOST_UNUSED = 20
"""Files and lines that cannot be used, as far as they are printed."""

_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")

Settled = list[tuple[Finding, Action]]
"""Findings, each with the action that was applied."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds `check SOURCE|PROJECT`, `fix PROJECT [FINDING... [ACTION]]`, `versions PROJECT`, `moved
    OLD NEW`.
    """
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    check = commands.add_parser(
        "check",
        help="counts, unreadable files, duplicates, leaks and more",
        epilog="Exit code: 0 no open findings but hints, 1 open findings, 3 unreadable data set.",
    )
    check.add_argument(
        "source", metavar="SOURCE", help=f"{source_words()}; or a project file, with its edits"
    )
    _add_labels(check)
    add_json_option(check)
    check.set_defaults(run_data=_check)
    fix = commands.add_parser("fix", help="apply an action to a finding, in the project file")
    add_project(fix)
    fix.add_argument(
        "finding",
        nargs="*",
        metavar="FINDING",
        help="keys, numbers or ranges (3-9) of findings, and perhaps the key of one of their "
        "actions, by default the first; without any, findings are listed",
    )
    fix.add_argument(
        "--all",
        metavar="KIND",
        dest="kind",
        choices=tuple(all_data_checks()),
        help="apply the first action to every open finding of a kind: "
        + ", ".join(all_data_checks()),
    )
    _add_labels(fix)
    add_json_option(fix)
    fix.set_defaults(run_data=_fix)
    add_versions(commands)
    add_moved(commands)


def _add_labels(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--labels",
        action="store_true",
        help="also look for label errors, by the features of a pretrained network",
    )


def run(arguments: argparse.Namespace) -> int:
    """Checks or settles; 1 while findings are left that are more than hints."""
    code: int = arguments.run_data(arguments)
    return code


# check -------------------------------------------------------------------------------------


def _check(arguments: argparse.Namespace) -> int:
    project = _project_of(arguments.source, is_quiet=arguments.json)
    description, found = checked(project, labels=arguments.labels, is_quiet=arguments.json)
    if arguments.json:
        print_json({**_as_json(description, found), **findings_as_json(found)})
    else:
        _print_table(description)
        print_findings(found)
    return 0 if found.is_ok else 1


def _project_of(text: str, *, is_quiet: bool) -> Project:
    """The project in a file, or the one that `new --from` makes of a source: with its split."""
    if Path(text).suffix == _PROJECT_ENDING and not text.partition(":")[1]:
        return read_project(Path(text))
    choice = typed_source(text)
    return Project(dataset=choice, recipe=start_of(choice, is_quiet=is_quiet).project.recipe)


def _as_json(description: DataDescription, found: Checked) -> dict[str, object]:
    return {
        "ok": found.is_ok,
        "title": description.title,
        "train": description.num_train,
        "test": description.num_test,
        "shape": description.shape or None,
        "classes": [
            {
                "class": c.name,
                "train": c.num_train,
                "test": c.num_test,
                "split": dict(zip(_PARTS, c.split, strict=True)),
            }
            for c in description.classes
        ],
        "bad_files": [{"file": file, "reason": why} for file, why in description.bad_files],
        "notes": description.notes,
        "inferences": [inference_as_json(each) for each in description.inferences],
    }


def _print_table(description: DataDescription) -> None:
    for c in description.classes:
        print_text(f"{c.name:28} {_split_words(c.split)}")
    total = [sum(numbers) for numbers in zip(*(c.split for c in description.classes), strict=True)]
    print_text(f"{'total':28} {_split_words(total)}")
    for inference in description.inferences:
        print_line(inference.sentence)
    for note in description.notes:
        print_line(note)
    for file, why in description.bad_files[:_MOST_UNUSED]:
        print_line(f"not used: {file}: {why}")
    if (more := len(description.bad_files) - _MOST_UNUSED) > 0:
        print_line(f"not used: {count(more)} more, which --json lists")


def _split_words(counts: Sequence[int]) -> str:
    """How many images train, validate and test; parts that there are not are left out."""
    named = zip(counts, _PARTS, strict=True)
    return " ".join(f"{number:>9,} {part}" for number, part in named if number or part != _PARTS[1])


# fix ---------------------------------------------------------------------------------------


def _fix(arguments: argparse.Namespace) -> int:
    if arguments.kind and arguments.finding:
        raise UsageError("FINDING and --all are given.", fix="Give one of them.")
    path = Path(arguments.project)
    before, stamp = read_stamped(path)
    asked = [arguments.kind] if arguments.kind else arguments.finding
    labels = arguments.labels or any(map(_needs_labels, asked))
    _, found = checked(before, labels=labels, is_quiet=arguments.json)
    if not (arguments.kind or arguments.finding):
        return _list(found, as_json=arguments.json)
    settled = _chosen(found, arguments)
    after = with_actions(before, settled)
    if after != before:
        guard = OnlyOver(path, [stamp], data_home() / "open")
        save_bytes(path, project_bytes(after, path), guard=guard)
    return _report(path, replace(found, project=after), settled, as_json=arguments.json)


def _needs_labels(finding: str) -> bool:
    rule = all_data_checks().get(finding.partition(":")[0])
    return rule is not None and rule.needs_features


def _list(found: Checked, *, as_json: bool) -> int:
    if as_json:
        print_json({"ok": found.is_ok, **findings_as_json(found)})
    else:
        print_findings(found)
    return 0 if found.is_ok else 1


def _chosen(found: Checked, arguments: argparse.Namespace) -> Settled:
    if arguments.kind:
        return [(each, each.actions[0]) for each in found.open if each.rule == arguments.kind]
    *words, last = arguments.finding
    key = last if words and not _names_finding(last) else ""
    words += [] if key else [last]
    findings = {each.key: each for word in words for each in _findings(found, word)}
    return [(each, _action(each, key)) for each in findings.values()]


def _action(finding: Finding, key: str) -> Action:
    action = finding.action(key) if key else finding.actions[0]
    if action is None:
        raise UsageError(
            "There is no such action.",
            where=finding.title,
            received=key,
            expected="one of " + ", ".join(each.key for each in finding.actions),
        )
    return action


def _names_finding(word: str) -> bool:
    """Whether a word is a number, a range or a key of findings; else it is an action's key."""
    return ":" in word or _RANGE.fullmatch(word) is not None


def _findings(found: Checked, text: str) -> Sequence[Finding]:
    """Findings that are chosen by key, by number or by a range of numbers."""
    by_key = [each for each in found.findings if each.key == text]
    numbers = _RANGE.fullmatch(text)
    if numbers and not by_key:
        first, last = int(numbers[1]), int(numbers[2] or numbers[1])
        if 0 < first <= last <= len(found.findings):
            return found.findings[first - 1 : last]
    if by_key:
        return by_key
    raise UsageError(
        "There is no such finding.",
        received=text,
        expected="a key or number of `workbench data check PROJECT`",
        fix="Findings of label errors need --labels." if found.findings else "",
    )


def _report(path: Path, found: Checked, settled: Settled, *, as_json: bool) -> int:
    if as_json:
        applied = [
            {**finding_as_json(finding, found.project), "applied": action.key}
            for finding, action in settled
        ]
        print_json({"project": str(path), "ok": found.is_ok, "applied": applied})
    else:
        for finding, action in settled:
            print_line(f"{finding.title}: {action.title}.")
        left = plural(len(found.open), "finding")
        print_line(f"Settled {plural(len(settled), 'finding')} in {path}; {left} left.")
    return 0 if found.is_ok else 1
