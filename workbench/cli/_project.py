"""Projects in commands: settings, data source and target as typed, and the check before a run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from workbench.cli._output import prompt, report_error
from workbench.core.checks.problems import Problem
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.texts import (
    PlugIns,
    parse_source,
    parse_target,
    source_forms,
    with_assignments,
)
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.datasets import all_datasets
from workbench.errors import SaveError
from workbench.layers import all_layers
from workbench.runs.folder import RunFolder
from workbench.runs.state.queue import remember_outside
from workbench.runs.trust import UnknownPlaceError, check_known, remember
from workbench.targets import all_targets

# settings ------------------------------------------------------------------------------------
# The settings that `--set KEY=VALUE` and `workbench set` change, and their list in the help.

_OTHERS = """other keys:
  data=SOURCE              the data set; data.KEY=VALUE one of its settings
  target=TARGET            the target; target.KEY=VALUE one of its settings
  title=TEXT               the project's title
  LAYER.KEY=VALUE          a setting of a layer by its name, for example conv2d.filters=64
  LAYER.training=VALUE     when it learns: always, fine_tuning or never
  fine_tune_from=LAYER     it and the layers behind it in its group learn in fine-tuning;
                           train_from=LAYER: they learn in the whole training
"""


def changed(project: Project, texts: Iterable[str]) -> Project:
    """The project with values of KEY=VALUE texts; raises UsageError for wrong ones,
    SaveError.
    """
    texts = list(texts)
    plug_ins = PlugIns(layers=all_layers(), datasets=all_datasets(), targets=all_targets())
    result = with_assignments(project, texts, plug_ins)
    # A whole address was typed, not only a part of one that is in a file.
    keys = {text.partition("=")[0].strip() for text in texts}
    if "target" in keys:
        remember(result.target)
    if "data" in keys:
        remember(result.dataset)
    return result


def list_keys_in_help(parser: argparse.ArgumentParser) -> None:
    """Ends a command's help with all keys and what each accepts."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    keys = (f"  {param.key:24} {param.title}: {param.expected()}" for param in RECIPE_PARAMS)
    # A list of hundreds of choices would hide the others; argparse formats with %.
    parser.epilog = "\n".join(("training settings (KEY=VALUE):", *keys, "", _OTHERS))


# source words --------------------------------------------------------------------------------
# How data sets are written on the command line, in words.


def source_words() -> str:
    """The forms of all data sets."""
    return "data set: " + ", ".join(source_forms(all_datasets()))


def add_data_option(parser: argparse._ActionsContainer, words: str = "") -> None:
    """Adds `--data SOURCE`; for any data set unless the words name some."""
    parser.add_argument("--data", metavar="SOURCE", help=words or source_words())


# typed source --------------------------------------------------------------------------------
# SOURCE and TARGET texts that a person has typed: an address in them may be contacted from then
# on.


def typed_source(text: str) -> Choice:
    """The data set that a SOURCE text names; raises UsageError, SaveError."""
    choice = parse_source(text, all_datasets())
    remember(choice)
    return choice


def typed_target(text: str) -> Choice:
    """The target that a TARGET text names; errors as of `typed_source`."""
    choice = parse_target(text, all_targets())
    remember(choice)
    return choice


# analysis ------------------------------------------------------------------------------------
# The problems of a check, as commands print them for programs.


def problems_as_json(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """Problems for programs: what is not finished is an error, with a mark."""
    return [
        {
            "node": problem.node,
            "severity": problem.level,
            "unfinished": problem.severity == "unfinished",
            "title": problem.title,
            "message": problem.message,
            "fixes": [{"key": fix.key, "title": fix.title} for fix in problem.fixes],
        }
        for problem in problems
    ]


# connect -------------------------------------------------------------------------------------
# Asking before an address that came with a file is connected to.


def add_connect_option(parser: argparse.ArgumentParser) -> None:
    """Adds `--connect`."""
    parser.add_argument(
        "--connect",
        action="store_true",
        help="connect to the addresses that the project or run names, without a question",
    )


def agree_on(arguments: argparse.Namespace, *choices: Choice) -> None:
    """Lets targets and data sets be connected to, where the user agrees: by `--connect`, or by the
    answer to one question with all addresses.

    Raises:
        UnknownPlaceError: the user has not agreed, or cannot be asked.
        SaveError: the answer cannot be kept.
    """
    try:
        check_known(*choices)
    except UnknownPlaceError as error:
        if not (arguments.connect or _says_yes(arguments, error)):
            error.fix = f"Add --connect only if you know {error.where}. The answer is remembered."
            raise
    remember(*choices)


def _says_yes(arguments: argparse.Namespace, error: UnknownPlaceError) -> bool:
    if getattr(arguments, "json", False) or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return prompt(f"{error.what} It came with a file.").casefold() in {"y", "yes"}


# outside -------------------------------------------------------------------------------------
# Runs that are made with `--run DIR`.


def keep_listed(run: RunFolder) -> None:
    """Lets `workbench runs` list a run outside of the runs folder; it is there all the same where
    that cannot be kept.
    """
    try:
        remember_outside(run)
    except SaveError as error:
        report_error(error, as_json=False)  # on stderr
