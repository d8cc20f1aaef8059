"""`workbench calibrate`: temperature, distance and thresholds of a run that is trained."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from workbench.cli._options import RUN_WORDS, add_json_option
from workbench.cli._output import print_json, print_line
from workbench.cli._service import ask_one
from workbench.core.format import share
from workbench.errors import UsageError
from workbench.protocol.messages import Done
from workbench.protocol.trained.calibration import Calibrate, Calibration, calibration_words
from workbench.runs.folder import RunFolder
from workbench.runs.library.index import find_model
from workbench.runs.store.image_features import keep_thresholds

NAME = "calibrate"
HELP = "fit the temperature of a run, or set when it answers “unknown”"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds RUN, --threshold, --distance, --json."""
    parser.add_argument("model", metavar="RUN", help=RUN_WORDS)
    parser.add_argument(
        "--threshold",
        metavar="P",
        help="answer “unknown” below this probability, 0 to 1; “none” for never",
    )
    parser.add_argument(
        "--distance",
        choices=["on", "off"],
        help="answer “unknown” for images that are unlike the training images",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Fits what is missing, unless only a threshold is set; prints what the run has then."""
    run_folder = RunFolder(Path(find_model(arguments.model)))
    if arguments.threshold is None and arguments.distance is None:
        request = Calibrate(id=1, model=str(run_folder.path))
        ask_one(request, Done, is_quiet=arguments.json)
        found = run_folder.model_card().calibration or Calibration()
    else:
        found = _set(run_folder, arguments)
    if arguments.json:
        print_json(msgspec.to_builtins(found))
    else:
        for line in _lines(found):
            print_line(line)
    return 0


def _set(run_folder: RunFolder, arguments: argparse.Namespace) -> Calibration:
    known = run_folder.model_card().calibration or Calibration()
    mark = known.distance
    if arguments.distance == "on" and mark is None:
        raise UsageError(
            "The run has no references to measure the distance by.",
            received=known.no_distance,
            fix="Run `workbench calibrate RUN` without options first.",
        )
    least, check = arguments.threshold, arguments.distance
    return keep_thresholds(
        run_folder,
        least_probability=msgspec.UNSET if least is None else _threshold(least),
        checks_distance=msgspec.UNSET if check is None else check == "on",
    )


def _threshold(text: str) -> float | None:
    if text == "none":
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UsageError("The threshold must be 0 to 1 or none.", received=text)
    return value


def _lines(found: Calibration) -> list[str]:
    least, mark = found.least_probability, found.distance
    confident = "never" if least is None else f"below {share(least)}"
    far = f"off: {found.no_distance}" if found.no_distance else "off"
    if mark is not None and mark.is_on:
        far = ": ".join(filter(None, (f"on, for a distance above {mark.limit:.3f}", mark.words)))
    elif mark is not None and mark.count:
        far = f"off, as so few images say little of the limit: {mark.words}"
    return [
        calibration_words(found),
        f"Unknown where not confident enough: {confident}.",
        f"Unknown where unlike the training images: {far}.",
    ]
