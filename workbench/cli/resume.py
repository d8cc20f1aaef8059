"""`workbench resume`: continues a run exactly where it stopped, a completed one for more epochs,
and prints its events.
"""

from __future__ import annotations

import argparse

from workbench.cli._follow import CtrlC, PastEvents
from workbench.cli._options import add_json_option, add_run, recipe_value
from workbench.cli._output import print_line
from workbench.cli._project import add_connect_option, agree_on, typed_target
from workbench.cli.train import print_run
from workbench.errors import RunFolderError, UsageError
from workbench.runs.folder import RunFolder
from workbench.runs.library.index import open_run
from workbench.runs.start import start_trainer
from workbench.runs.state.outcome import RunOutcome, outcome_of
from workbench.runs.state.preparing import extension_to, go_on_with, is_moving, longer_training
from workbench.runs.state.queue import start_now
from workbench.runs.trust import places_of

NAME = "resume"
HELP = "continue a run that was paused, stopped or killed, or train a completed one longer"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds RUN: a folder or a name that `workbench runs` lists."""
    add_run(parser)
    parser.add_argument(
        "--target",
        metavar="TARGET",
        help="continue on another target, such as this_computer for a run whose TPU is gone",
    )
    parser.add_argument(
        "--epochs",
        type=recipe_value("epochs"),
        metavar="N",
        help="train to N epochs in total, also a completed run",
    )
    add_connect_option(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Trains on in a process of its own; 4 when the run fails, 130 when Ctrl+C stopped it."""
    folder = open_run(arguments.run_name)
    outcome = outcome_of(folder)
    target = typed_target(arguments.target) if arguments.target else None
    past = PastEvents(folder)
    agree_on(arguments, *([folder.project().dataset] if target else places_of(folder)))
    with CtrlC(folder) as ctrl_c:
        if arguments.epochs is not None:
            _train_longer(folder, outcome, arguments)
        elif target is not None and is_moving(folder, target):
            if not arguments.json and outcome.resumes:
                print_line(outcome.resumes)
            go_on_with(folder, target)
        elif outcome.kind == "waiting":
            start_now(folder)
        else:
            _refuse(folder, outcome)
            if not arguments.json:
                print_line(outcome.resumes)
            start_trainer(folder, resume=True)
        try:
            return print_run(folder, ctrl_c, as_json=arguments.json, past=past)
        finally:
            if not arguments.json:
                print_line(f"Run folder: {folder.path}")


def _train_longer(folder: RunFolder, outcome: RunOutcome, arguments: argparse.Namespace) -> None:
    """Continues a run that is over for more epochs, and prints what that means."""
    if arguments.target is not None:
        raise UsageError(
            "--epochs and --target cannot be used together.",
            expected="one of them",
            fix="Continue on the other target first, then train longer.",
        )
    if not outcome.is_over:
        _refuse(folder, outcome)
    extension = extension_to(folder, arguments.epochs)
    if not arguments.json:
        print_line(" ".join(longer_training(folder).words(arguments.epochs)))
    start_trainer(folder, resume=True, extension=extension)


def _refuse(folder: RunFolder, outcome: RunOutcome) -> None:
    """Says why a run cannot go on.

    Raises:
        RunFolderError: it is completed, a trainer works on it, or nothing is left to go on
            from.
    """
    if outcome.can_resume:
        return
    received = outcome.sentence()
    if outcome.kind == "away":
        what = "This run may still be training on another computer."
        fix = (
            f"`workbench attach {folder.name}` reconnects; --target this_computer continues "
            "here and abandons it there."
        )
    elif not outcome.is_over:
        what, received = "This run is already training.", ""
        fix = "Wait for it, or stop it with `workbench stop`."
    elif outcome.kind == "completed":
        what, received = "This run is completed.", ""
        fix = f"`workbench resume {folder.name} --epochs N` trains it to N epochs in total."
        if not outcome.can_train_longer:
            fix = "Increase the epochs in its project and train it again."
    else:
        what = "This run cannot be resumed: it has no checkpoint."
        fix = "Train its project again."
    raise RunFolderError(what, where=str(folder.path), received=received, fix=fix)
