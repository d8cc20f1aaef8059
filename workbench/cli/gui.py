"""`workbench [PROJECT]`: opens the window."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from pathlib import Path

from workbench.cli._options import PROJECT_WORDS
from workbench.errors import UsageError
from workbench.parts import WINDOW
from workbench.window_libraries import refuse_without_libraries

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")

NAME = "gui"
HELP = "open the window (what `workbench [PROJECT]` does)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds an optional PROJECT."""
    parser.add_argument("project", metavar="PROJECT", nargs="?", help=PROJECT_WORDS)


def run(arguments: argparse.Namespace) -> int:
    """Runs the window until it is closed.

    Raises:
        UsageError: no such project, or no display to show a window on.
        MissingPartError: the window is not installed.
        RunError: system libraries of the window are missing.
    """
    if arguments.project is not None and not Path(arguments.project).exists():
        raise UsageError(
            "There is no such project file.",
            received=arguments.project,
            expected="the path of a .workbench file",
        )
    WINDOW.require()
    _refuse_without_display()
    refuse_without_libraries()
    gc.disable()  # searching for garbage takes a tenth of the time that the import takes
    # Late, so that commands for the terminal never load Qt; the frame before all the rest.
    from workbench.first_frame import FirstFrame, make_application  # noqa: PLC0415

    make_application()
    frame = FirstFrame()
    frame.show_now()
    from workbench.app import run_window  # noqa: PLC0415

    gc.enable()
    return run_window(arguments.project, frame)


def _refuse_without_display() -> None:
    """Qt aborts the process where there is no display: refused before it can."""
    has_display = any(os.environ.get(name) for name in _DISPLAYS)
    if sys.platform.startswith("linux") and not has_display:
        raise UsageError(
            "No display is available for the window.",
            expected=f"one of the environment variables {', '.join(_DISPLAYS)}",
            fix="`workbench tour` does the same in the terminal; `workbench --help` lists all "
            "commands.",
        )
