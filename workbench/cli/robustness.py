"""`workbench robustness`: accuracy of a run on altered test images."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from workbench.alterations import all_alterations, checked, strength_words, suite
from workbench.cli._options import RUN_WORDS, add_json_option
from workbench.cli._output import print_json, print_text
from workbench.cli._service import ask_one
from workbench.core.format import count, share
from workbench.core.projects.project import (
    MAX_NAME,
    MAX_TESTS,
    Project,
    RobustnessTest,
    is_name,
    with_test,
)
from workbench.core.projects.project_file import project_bytes, read_project, read_stamped
from workbench.core.storage.save import FileStamp, OnlyOver, save_bytes
from workbench.errors import UsageError
from workbench.protocol.trained.robustness import MeasureRobustness, NamedStrengths, Robustness
from workbench.runs.home import data_home
from workbench.runs.library.index import find_model

NAME = "robustness"
HELP = "accuracy of a run on altered test images: rotated, blurred, darker, noisy ..."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds RUN, --suite, --alter, --project, --save, --name, --images, --json."""
    parser.add_argument("model", metavar="RUN", help=f"{RUN_WORDS}, or .keras file")
    keys = ", ".join(
        f"{spec.key} ({spec.words(spec.least)} to {spec.words(spec.greatest)})"
        for spec in all_alterations().values()
    ).replace("%", "%%")
    parser.add_argument(
        "--alter",
        metavar="KEY=STRENGTH",
        action="append",
        default=[],
        help=f"alteration in place of the project's robustness tests; may be repeated: {keys}",
    )
    parser.add_argument(
        "--suite",
        action="store_true",
        help="the ready suite in place of the project's tests: "
        f"{', '.join(suite())} at five strengths each".replace("%", "%%"),
    )
    _add_project_options(parser)
    parser.add_argument(
        "--images",
        metavar="N",
        type=int,
        default=1_000,
        help="test images to use at most, evenly spread; 0 for all (default: %(default)s)",
    )
    add_json_option(parser)


def _add_project_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--project",
        metavar="FILE",
        type=Path,
        help="project file whose robustness tests are used (default: as the run was trained)",
    )
    parser.add_argument(
        "--save",
        metavar="FILE",
        type=Path,
        help="project file to save the alterations in, as a robustness test of its later runs",
    )
    parser.add_argument(
        "--name", default="", help="name of the test that is saved (default: its alterations)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints the accuracies, which are kept with the run."""
    if arguments.images < 0:
        raise UsageError(
            "There is no such number of images.",
            received=str(arguments.images),
            expected="0 or more",
        )
    tests = _tests(arguments)
    request = MeasureRobustness(
        id=1,
        model=find_model(arguments.model),
        tests=tests,
        images=arguments.images,
        is_suite=arguments.suite,
    )
    if arguments.save is not None:
        _with_test(arguments.save, tests[0])  # refused before it is measured, not after
    answer = ask_one(request, Robustness, is_quiet=arguments.json)
    if arguments.save is not None:
        _save(arguments.save, tests[0])
    if arguments.json:
        print_json(
            {name: getattr(answer, name) for name in answer.__struct_fields__ if name != "id"}
        )
    else:
        _print_table(answer)
    return 0


def _tests(arguments: argparse.Namespace) -> list[NamedStrengths]:
    """What the user has chosen; none for what the run's project has."""
    if arguments.suite:
        if arguments.alter or arguments.project or arguments.save or arguments.name:
            raise UsageError("The suite takes no alterations, project or name.")
        return []
    if arguments.alter and arguments.project is not None:
        raise UsageError("Choose alterations or a project, not both.")
    if arguments.alter:
        strengths = checked(_strengths(arguments.alter))
        if not strengths:
            raise UsageError(
                "These strengths alter nothing.",
                received=" ".join(arguments.alter),
                expected="at least one strength that is not neutral, such as rotation=15",
            )
        name = arguments.name.strip() or strength_words(strengths)[:MAX_NAME]
        return [NamedStrengths(name=name, strengths=strengths)]
    if arguments.save is not None or arguments.name:
        raise UsageError("Nothing to save.", fix="Choose what to alter: --alter KEY=STRENGTH.")
    if arguments.project is None:
        return []
    tests = read_project(arguments.project).robustness
    if not tests:
        raise UsageError(
            "This project has no robustness test.",
            where=str(arguments.project),
            fix="Save one with What-if in the Classify view, or use --alter.",
        )
    return [NamedStrengths(name=test.name, strengths=dict(test.strengths)) for test in tests]


def _with_test(path: Path, test: NamedStrengths) -> tuple[Project, FileStamp]:
    """A project file with a test added, in place of one of its name; and its stamp."""
    project, stamp = read_stamped(path)
    if not is_name(test.name):
        raise UsageError(
            "The name of a robustness test cannot be saved.",
            received=test.name,
            expected=f"1 to {MAX_NAME} visible characters",
        )
    tests = with_test(project.robustness, RobustnessTest(test.name, test.strengths))
    if len(tests) > MAX_TESTS:
        raise UsageError(f"A project has at most {MAX_TESTS} robustness tests.", where=str(path))
    return replace(project, robustness=tests), stamp


def _save(path: Path, test: NamedStrengths) -> None:
    project, stamp = _with_test(path, test)
    guard = OnlyOver(path, [stamp], data_home() / "open")  # a window may be saving it just now
    save_bytes(path, project_bytes(project, path), guard=guard)


def _strengths(words: Sequence[str]) -> dict[str, float]:
    strengths: dict[str, float] = {}
    for word in words:
        key, _, value = word.partition("=")
        try:
            strengths[key.strip()] = float(value)
        except ValueError:
            example = "rotation=15"
            raise UsageError(
                "An alteration needs a strength.", received=word, expected=example
            ) from None
    return strengths


def _print_table(answer: Robustness) -> None:
    images = count(answer.count)
    if answer.count < answer.total:
        images += f" of {count(answer.total)}"
    print_text(f"{'test images':48} {'accuracy':>9} {'points':>9}")
    print_text(f"{'unaltered':48} {share(answer.accuracy):>9}")
    test = ""
    for case in answer.measured:
        if case.test != test:
            test = case.test
            print_text("", f"{test}")
        change = 100 * (case.accuracy - answer.accuracy)
        words = strength_words(case.strengths)
        print_text(f"  {words:46} {share(case.accuracy):>9} {change:>+9.1f}")
    if answer.mean_accuracy is not None:
        change = 100 * (answer.mean_accuracy - answer.accuracy)
        print_text(
            "", f"{'mean corruption accuracy':48} {share(answer.mean_accuracy):>9} {change:>+9.1f}"
        )
    print_text("", f"{images} test images")
