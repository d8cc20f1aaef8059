"""`workbench agree`: do two targets train a project alike?"""

from __future__ import annotations

import argparse
import time
from functools import partial

from workbench.checkup.parity import agreement_of, train_pair, without_chance
from workbench.cli._options import add_json_option, add_project
from workbench.cli._output import print_json, print_line, print_text
from workbench.core.projects.project_file import read_project
from workbench.core.projects.texts import parse_target
from workbench.errors import UsageError
from workbench.runs.environment import refuse_unready
from workbench.targets import all_targets

NAME = "agree"
HELP = "train the first steps on two targets and compare them"

_POLL_S = 0.1
_MOST_STEPS = 10_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds PROJECT, two TARGETs and how many steps."""
    add_project(parser)
    for side in ("left", "right"):
        parser.add_argument(side, metavar="TARGET", help="see `workbench targets`")
    parser.add_argument("--steps", type=int, default=50, metavar="N", help="default 50")
    parser.add_argument(
        "--without-chance",
        action="store_true",
        help="turn off Dropout and noise, which are random per replica",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Trains on both, one after another; 1 when they do not train alike."""
    if not 1 <= arguments.steps <= _MOST_STEPS:
        raise UsageError(
            "Invalid number of steps.",
            received=str(arguments.steps),
            expected=f"1 to {_MOST_STEPS:,}",
        )
    project = read_project(arguments.project)
    if arguments.without_chance:
        project = without_chance(project)
    left, right = (parse_target(text, all_targets()) for text in (arguments.left, arguments.right))
    for target in (left, right):
        refuse_unready(target)
    wait = partial(time.sleep, _POLL_S)
    found = agreement_of(
        train_pair(project, (left, right), arguments.steps, on_progress=print_line, wait=wait)
    )
    if arguments.json:
        print_json(found.to_dict())
    else:
        print_text(*found.words.splitlines())
    return 1 if found.verdict == "differ" else 0
