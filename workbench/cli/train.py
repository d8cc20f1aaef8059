"""`workbench train`: trains a project and prints its events."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from workbench.checkup.analysed import analysed
from workbench.cli._follow import CtrlC, PastEvents, follow, wait_for_turn
from workbench.cli._options import add_json_option, add_project, add_run_option, recipe_value
from workbench.cli._output import end_if_unread, print_json, print_line
from workbench.cli._progress import RunPrinter
from workbench.cli._project import (
    add_connect_option,
    add_data_option,
    agree_on,
    changed,
    keep_listed,
    list_keys_in_help,
    typed_source,
    typed_target,
)
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import read_project
from workbench.core.projects.texts import AUTO, automatic_target
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import NoRoomError, ParamError, ProjectFileError, UsageError
from workbench.protocol.events import RunFinished, RunStarted
from workbench.runs.environment import refuse_unready
from workbench.runs.folder import RunFolder
from workbench.runs.home import runs_home
from workbench.runs.library.index import open_run
from workbench.runs.log.coaching import advice_lines, advice_on
from workbench.runs.start import start_trainer
from workbench.runs.state.preparing import refuse_no_room, with_remembered_split
from workbench.runs.state.queue import enqueue
from workbench.runs.store.weights_file import create_run_from
from workbench.targets import all_targets

NAME = "train"
HELP = "train a project; Ctrl+C stops and saves the weights"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds arguments for what to train, and how to go about it."""
    add_project_arguments(parser)
    parser.add_argument(
        "--wait", action="store_true", help="start when no other run in its folder is training"
    )
    add_json_option(parser)


def add_project_arguments(parser: argparse.ArgumentParser, *, has_folder: bool = True) -> None:
    """Adds PROJECT, what of its recipe to change for this run, and its folder and initial weights
    where those are of its own choice.
    """
    parser.add_argument(
        "--target", metavar="TARGET", help="where to train: auto, or one of `workbench targets`"
    )
    add_connect_option(parser)
    add_data_and_recipe_arguments(parser)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="values",
        metavar="KEY=VALUE",
        help="change a setting for this run, e.g. schedule=cosine; repeat for more",
    )
    list_keys_in_help(parser)
    if has_folder:
        add_run_option(parser)
        parser.add_argument(
            "--initial-weights",
            metavar="RUN",
            help="start from a run's weights, where names and shapes of layers are the same",
        )


def add_data_and_recipe_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds PROJECT, its data, and the settings that have an option of their own."""
    add_project(parser)
    add_data_option(parser)
    parser.add_argument(
        "--epochs", type=recipe_value("epochs"), metavar="N", help="epochs to train"
    )
    parser.add_argument(
        "--batch",
        type=recipe_value("batch_size"),
        metavar="N",
        dest="batch_size",
        help="images per step, over all cores",
    )
    parser.add_argument(
        "--seed",
        type=recipe_value("seed"),
        metavar="N",
        help="seed of split, initial weights and order",
    )
    parser.add_argument(
        "--precision",
        choices=("auto", "float32", "bfloat16"),
        help="auto benchmarks both and takes the faster one",
    )


def run(arguments: argparse.Namespace) -> int:
    """Trains in a process of its own; 4 when the run fails, 130 when Ctrl+C stopped it."""
    project = project_for(arguments)
    agree_on(arguments, project.target, project.dataset)
    refuse_unready(project.target)
    try:
        refuse_no_room(project, arguments.folder or runs_home())
    except NoRoomError as problem:  # estimated: the run itself says more where it is right
        print_line(f"{problem.what} {problem.fix}")
    folder = new_run(arguments, project)
    with CtrlC(folder) as ctrl_c:
        if arguments.wait:
            enqueue(folder)
            wait_for_turn(folder, ctrl_c, is_quiet=arguments.json)
        else:
            start_trainer(folder)
        try:
            reason = getattr(arguments, "target_reason", "")
            return print_run(folder, ctrl_c, as_json=arguments.json, target_reason=reason)
        finally:
            if not arguments.json:
                print_line(f"Run folder: {folder.path}")


def new_run(arguments: argparse.Namespace, project: Project) -> RunFolder:
    """Makes the folder of the run that the command line describes; nothing is started."""
    source = arguments.initial_weights
    run = create_run_from(
        open_run(source) if source is not None else None,
        with_remembered_split(project),
        title=project.title or arguments.project.stem,
        project_path=str(arguments.project.resolve()),
        path=arguments.folder,
    )
    keep_listed(run)
    return run


def print_run(
    folder: RunFolder,
    ctrl_c: CtrlC,
    *,
    as_json: bool,
    past: PastEvents | None = None,
    target_reason: str = "",
) -> int:
    """Follows a started run to its end and prints its events; returns the exit code.

    Args:
        folder: The run.
        ctrl_c: Handler of Ctrl+C, installed before the run was started.
        as_json: A line an event, for programs.
        past: Events of a resumed run from before.
        target_reason: Why the target was chosen, where `auto` has chosen it.
    """
    event = None
    with nullcontext() if as_json else RunPrinter() as printer:
        for event in follow(folder, ctrl_c, past):
            if printer is None and target_reason and isinstance(event, RunStarted):
                print_json(to_builtins(event) | {"target_reason": target_reason})
            elif printer is None:
                print_json(event)
                end_if_unread()
            else:
                printer.show(event)
    if not as_json:
        for advice in advice_on(folder):
            for line in advice_lines(advice):
                print_line(line)
    failed = isinstance(event, RunFinished) and event.outcome == "failed"
    return 4 if failed else 0


def project_for(arguments: argparse.Namespace) -> Project:
    """The project with the changes of the command line; rejects one that cannot train."""
    project = read_project(arguments.project)
    changes: dict[str, Any] = {
        key: getattr(arguments, key)
        for key in ("epochs", "batch_size", "seed", "precision")
        if getattr(arguments, key) is not None
    }
    project = replace(project, recipe=_changed(project.recipe, changes))
    if arguments.data is not None:
        project = replace(project, dataset=typed_source(arguments.data))
    if arguments.target == AUTO:
        choice, arguments.target_reason = automatic_target(all_targets())
        print_line(arguments.target_reason)
        project = replace(project, target=choice)
    elif arguments.target is not None:
        project = replace(project, target=typed_target(arguments.target))
    project = changed(project, arguments.values)
    _refuse_problems(project, arguments.project)
    return project


def _changed(recipe: TrainingRecipe, changes: dict[str, Any]) -> TrainingRecipe:
    """The recipe with values of options."""
    try:
        return recipe.with_values(**changes)
    except ParamError as error:  # typed on the command line: wrong usage, not a wrong file
        raise UsageError(**error.to_dict()) from error


def _refuse_problems(project: Project, path: Path) -> None:
    analysis = analysed(project)
    if analysis.errors and not analysis.network_errors:
        first = analysis.errors[0]
        (fix,) = first.fixes
        is_data = bool(fix.data_param)
        raise ProjectFileError(
            first.message,
            where=str(path),
            expected="a data set with images" if is_data else "the pretrained weights",
            fix="Add --data SOURCE, for example --data folder:../my_images."
            if is_data
            else f"Run `{fix.command}` once.",
        )
    if analysis.errors:
        raise ProjectFileError(
            " ".join(f"{problem.title}: {problem.message}" for problem in analysis.errors),
            where=str(path),
            expected="a network without errors",
            fix=f"`workbench fix {path}` lists the errors and their fixes, and applies them.",
        )
