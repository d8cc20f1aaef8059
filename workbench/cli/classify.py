"""`workbench classify`: names what is on pictures, with a run's weights."""

from __future__ import annotations

import argparse
import csv
import io
from pathlib import Path

import msgspec

from workbench.cli._options import RUN_WORDS, add_json_option
from workbench.cli._output import print_json, printable, report
from workbench.cli._service import ask
from workbench.core.storage.save import save_bytes
from workbench.errors import PictureError
from workbench.pictures.folders import list_pictures
from workbench.protocol.messages import Classified, Classify
from workbench.runs.library.find import find_model

NAME = "classify"
HELP = "classify images, or folders of them"

_PRINTED = ("file", "label", "scores", "milliseconds")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """RUN_OR_MODEL, IMAGE..., --top, --csv, --json."""
    parser.add_argument("model", metavar="RUN_OR_MODEL", help=f"{RUN_WORDS}, or .keras file")
    parser.add_argument("images", metavar="IMAGE", nargs="+", type=Path)
    parser.add_argument(
        "--top", type=int, default=5, metavar="K", help="classes per image, 0 for all (default 5)"
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write a CSV table")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints a line a picture; 3 when none could be read."""
    files = [file for image in arguments.images for file in _files(image)]
    if not files:
        raise PictureError(
            "No images to classify.",
            where=", ".join(map(str, arguments.images)),
            received="no image files in the folder or its subfolders",
        )
    request = Classify(
        id=1, model=find_model(arguments.model), pictures=files, top=max(0, arguments.top)
    )
    answers = []
    for answer in ask(request, is_quiet=arguments.json):
        if isinstance(answer, Classified):
            answers.append(answer)
            _print_answer(answer, as_json=arguments.json)
    if arguments.csv is not None:
        save_bytes(arguments.csv, csv_text(answers).encode())
    return 3 if all(answer.error is not None for answer in answers) else 0


def _files(image: Path) -> list[str]:
    files = list_pictures(image, is_deep=True) if image.is_dir() else [image]
    return [str(file) for file in files]


def _print_answer(answer: Classified, *, as_json: bool) -> None:
    if answer.error is not None:
        value = {"file": answer.file, "error": msgspec.structs.asdict(answer.error)}
        report(value, f"{answer.file}: {answer.error.what}", as_json=as_json)
    elif as_json:
        print_json({key: getattr(answer, key) for key in _PRINTED})
    else:
        scores = "  ".join(f"{score.name} {score.probability:.1%}" for score in answer.scores)
        print(printable(f"{answer.file}: {scores}"), flush=True)


def csv_text(answers: list[Classified]) -> str:
    """The answers as a CSV table: file, label, probability, error."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["file", "label", "probability", "error"])
    for answer in answers:
        probability = f"{answer.scores[0].probability:.6f}" if answer.scores else ""
        error = answer.error.what if answer.error else ""
        writer.writerow([_cell(answer.file), _cell(answer.label), probability, _cell(error)])
    return out.getvalue()


def _cell(text: str) -> str:
    """Text that a spreadsheet will not take for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
