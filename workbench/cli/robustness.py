"""`workbench robustness`: accuracy of a run on altered test images."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from workbench.alterations import all_alterations, checked, strength_words
from workbench.cli._options import RUN_WORDS, add_json_option
from workbench.cli._output import print_json, printable
from workbench.cli._service import ask_one
from workbench.core.format import count, share
from workbench.core.projects.project_file import read_project
from workbench.errors import UsageError
from workbench.protocol.trained.evaluate import MeasureRobustness, NamedStrengths, Robustness
from workbench.runs.library.find import find_model

NAME = "robustness"
HELP = "accuracy of a run on altered test images: rotated, blurred, darker, noisy ..."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """RUN, --alter, --project, --images, --json."""
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
        "--project",
        metavar="FILE",
        type=Path,
        help="project file whose robustness tests are used (default: as the run was trained)",
    )
    parser.add_argument(
        "--images",
        metavar="N",
        type=int,
        default=1_000,
        help="test images to use at most, evenly spread; 0 for all (default: %(default)s)",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the accuracies, which are kept with the run."""
    if arguments.images < 0:
        raise UsageError(
            "There is no such number of images.",
            received=str(arguments.images),
            expected="0 or more",
        )
    request = MeasureRobustness(
        id=1,
        model=find_model(arguments.model),
        tests=_tests(arguments),
        images=arguments.images,
    )
    answer = ask_one(request, Robustness, is_quiet=arguments.json)
    if arguments.json:
        print_json(
            {name: getattr(answer, name) for name in answer.__struct_fields__ if name != "id"}
        )
    else:
        _print_table(answer)
    return 0


def _tests(arguments: argparse.Namespace) -> list[NamedStrengths]:
    """What the user has chosen; none for what the run's project has."""
    if arguments.alter and arguments.project is not None:
        raise UsageError("Choose alterations or a project, not both.")
    if arguments.alter:
        strengths = checked(_strengths(arguments.alter))
        return [NamedStrengths(name=strength_words(strengths), strengths=strengths)]
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


def _strengths(words: Sequence[str]) -> dict[str, float]:
    strengths: dict[str, float] = {}
    for word in words:
        key, _, value = word.partition("=")
        try:
            strengths[key.strip()] = float(value)
        except ValueError:
            example = "rotation=15"
            raise UsageError(
                "This is no alteration with a strength.", received=word, expected=example
            ) from None
    return strengths


def _print_table(answer: Robustness) -> None:
    images = count(answer.count)
    if answer.count < answer.total:
        images += f" of {count(answer.total)}"
    print(f"{'test images':48} {'accuracy':>9} {'points':>9}")
    print(f"{'unaltered':48} {share(answer.accuracy):>9}")
    test = ""
    for case in answer.measured:
        if case.test != test:
            test = case.test
            print(printable(f"\n{test}"))
        change = 100 * (case.accuracy - answer.accuracy)
        words = strength_words(case.strengths)
        print(printable(f"  {words:46} {share(case.accuracy):>9} {change:>+9.1f}"))
    print(f"\n{images} test images")
