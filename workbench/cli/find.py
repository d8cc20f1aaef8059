"""`workbench find`: the learning rate, or the batch size, that suits a project here."""

from __future__ import annotations

import argparse
from dataclasses import replace

from workbench.cli._options import add_json_option, add_project
from workbench.cli._output import print_json, print_line, print_text
from workbench.cli._project import add_data_option, typed_source
from workbench.cli._service import ask
from workbench.core.format import bytes_text, rate_text, share
from workbench.core.projects.project_file import project_text, read_project
from workbench.protocol.bases import Answer, Request
from workbench.protocol.find import (
    BatchSizeFound,
    BatchSizeTried,
    FindBatchSize,
    FindLearningRate,
    LearningRateFound,
    LearningRateTrial,
)

NAME = "find"
HELP = "find a good learning rate or batch size for a project"

_KINDS: dict[str, type[FindLearningRate | FindBatchSize]] = {
    "learning-rate": FindLearningRate,
    "batch-size": FindBatchSize,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds WHAT, PROJECT, --data, --json."""
    parser.add_argument("what", metavar="WHAT", choices=tuple(_KINDS), help=", ".join(_KINDS))
    add_project(parser)
    add_data_option(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints what was tried and what is suggested; the project is not changed."""
    for answer in ask(_request(arguments), is_quiet=arguments.json):
        if arguments.json:
            print_json(answer)
        else:
            _show(answer)
    return 0


def _request(arguments: argparse.Namespace) -> Request:
    project = read_project(arguments.project)
    if arguments.data is not None:
        source = typed_source(arguments.data)
        project = replace(project, dataset=source)
    request: Request = _KINDS[arguments.what](id=1, project=project_text(project))
    return request


def _show(answer: Answer) -> None:
    match answer:
        case BatchSizeTried(problem="") if answer.images_per_second and answer.memory_bytes:
            spread = f"  measured {answer.times} times, spread {share(answer.spread, 0)}"
            again = spread if answer.times > 1 else ""
            print_text(
                f"{answer.size:>8,} {answer.images_per_second:>12,.0f} images/s "
                f"{bytes_text(answer.memory_bytes):>8}{again}"
            )
        case BatchSizeTried():
            print_text(f"{answer.size:>8,} {answer.problem}")
        case LearningRateTrial():
            found = "diverges" if answer.accuracy is None else f"{share(answer.accuracy)} accuracy"
            print_text(f"{rate_text(answer.rate):>8} {answer.steps:>6,} steps {found:>14}")
        case LearningRateFound() | BatchSizeFound():
            changes = answer.changes if isinstance(answer, BatchSizeFound) else ()
            for line in (answer.words, *changes):
                print_line(line)
            if answer.suggested:
                print_text(f"{answer.suggested:g}")
