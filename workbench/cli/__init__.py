"""The command line: every button of the window has a command. One file per sub-command,
each with NAME, HELP, `add_arguments(parser)` and `run(arguments) -> exit code`.

Exit codes: 0 done, 1 the thing asked about has problems, 2 wrong usage, 3 unreadable or
wrong input file, 4 the run failed, 130 interrupted.

Commands print through `cli._output` alone: results on stdout, messages on stderr, names made safe
for a terminal, broken standard streams handled. Modules whose names begin with "_" are shared by
commands. Nothing of the window is imported here, except by `gui`, which starts it.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from workbench import __version__
from workbench.cli._output import output_problem, own_streams, report_error
from workbench.errors import UsageError, WorkbenchError

_WINDOW = "gui"
"""The command without a name."""


def main(words: Sequence[str] | None = None) -> int:
    """Runs one command; `words` are those of the process unless given."""
    words = list(sys.argv[1:] if words is None else words)
    with own_streams(is_json="--json" in words):
        try:
            code = _run(words)
        except SystemExit as end:  # argparse has printed a help
            code = end.code if isinstance(end.code, int) else 0
            if output_problem() is None:
                raise
        if (problem := output_problem()) is not None:
            report_error(problem, as_json=False)
            return code or problem.exit_code
    return code


def _run(words: list[str]) -> int:
    commands = _commands(words)
    try:
        if not _names_a_command(words, commands):
            _refuse_unknown(words, commands)
            words = [_WINDOW, *words]
        arguments = _parser(commands).parse_args(words)
        code: int = arguments.run(arguments)
    except WorkbenchError as error:
        report_error(error, as_json="--json" in words)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output went away: nothing more to say
        return 0
    return code


def _commands(words: Sequence[str] | None = None) -> dict[str, Any]:
    """All commands by name; of words only the one that they begin with, or the window's where they
    are none or begin with a file: to import the others takes as long as to classify an image.
    """
    found = (info.name for info in pkgutil.iter_modules(__path__))
    names = {name.replace("_", "-"): name for name in found if not name.startswith("_")}
    if words is not None:
        first = words[0] if words else _WINDOW
        if first not in names and Path(first).is_file():
            first = _WINDOW
        if first in names:
            names = {first: names[first]}
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names.values())
    return {module.NAME: module for module in modules}


def _names_a_command(words: Sequence[str], commands: dict[str, Any]) -> bool:
    return bool(words) and (words[0] in commands or words[0] in {"-h", "--help", "--version"})


def _refuse_unknown(words: Sequence[str], commands: dict[str, Any]) -> None:
    """Names a mistyped command, whatever follows it."""
    if not words or words[0].startswith("-") or Path(words[0]).exists():
        return
    near = get_close_matches(words[0], commands)
    raise UsageError(
        "There is no such command or project file.",
        received=words[0],
        expected="a command, or the path of a .workbench file",
        fix=f"Did you mean `workbench {near[0]}`?"
        if near
        else "`workbench --help` lists all commands.",
    )


class _Parser(argparse.ArgumentParser):
    """Wrong words become a UsageError, which programs read as JSON like every other; options may
    stand anywhere between the other arguments; no text and no path is empty, which a path would
    read as the current folder, but where `type=str` says that it may be.
    """

    def error(self, message: str) -> NoReturn:
        raise UsageError(
            f"{message[:1].upper()}{message[1:]}.",
            expected=" ".join(self.format_usage().removeprefix("usage:").split()),
            fix=f"`{self.prog} --help` lists all options.",
        )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        words = list(sys.argv[1:] if args is None else args)
        if not any(action.nargs == argparse.PARSER for action in self._actions):
            words = self._options_first(words)
        return super().parse_known_args(words, namespace)

    def _options_first(self, words: list[str]) -> list[str]:
        """The words with all options and their values before the others: argparse divides those
        that stand before an option among all positional arguments, and has none left for the rest.
        """
        options, others, rest = [], [], list(words)
        while rest:
            word = rest.pop(0)
            if word == "--":
                others += [word, *rest]
                break
            found: Any = self._parse_optional(word)
            if found is None:
                others.append(word)
                continue
            options.append(word)
            # Of later Pythons it is a list, and has the separator before the value.
            action, *_, value = found[0] if isinstance(found, list) else found
            if action is not None and action.nargs is None and value is None:
                if not rest or rest[0] == "--":
                    return words  # no value: argparse says so
                options.append(rest.pop(0))
        return options + others

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError:
            if (expected := _NUMBERS.get(action.type)) is None:
                raise
            raise UsageError(
                f"{_name(action)} cannot be “{arg_string}”.",
                received=arg_string or '""',
                expected=expected,
            ) from None

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        is_text = action.type in {None, Path} and action.choices is None
        if is_text and not all(text.strip() for text in arg_strings):
            raise UsageError(
                f"{_name(action)} is empty.",
                received='""',
                expected=(action.help or "a text") % {**vars(action), "prog": self.prog},
                fix='In a script, a variable that is not set is empty, as in "$FILE". The current '
                'folder is written ".".',
            )
        return super()._get_values(action, arg_strings)


_NUMBERS: Mapping[Any, str] = {int: "a whole number", float: "a number"}


def _name(action: argparse.Action) -> str:
    return "/".join(action.option_strings) or str(action.metavar or action.dest)


def _parser(commands: dict[str, Any]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="workbench",
        description="Assemble, train and use image classification networks.",
        epilog="Without a command, `workbench [PROJECT]` opens the window.",
    )
    parser.add_argument("--version", action="version", version=f"workbench {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, module in sorted(commands.items()):
        sub = subparsers.add_parser(name, help=module.HELP, description=module.HELP)
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return parser
