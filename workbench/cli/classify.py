"""`workbench classify`: names what is on images, with a run's weights."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from workbench.cli._options import RUN_WORDS, add_force, add_json_option, refuse_existing
from workbench.cli._output import print_json, print_line, printable, report
from workbench.cli._service import answers_of, only, open_service
from workbench.core.calibration.verdict import unknown_words
from workbench.core.format import count, plural
from workbench.core.storage.save import save_bytes
from workbench.errors import PictureError, UsageError
from workbench.pictures.folders import list_pictures
from workbench.protocol.classify import Classified, Classify
from workbench.protocol.evaluate import PickTestPictures, TestPictures
from workbench.protocol.service_call import ServiceCall
from workbench.runs.export.image_tables import classified_csv
from workbench.runs.library.find import find_model

NAME = "classify"
HELP = "classify images, or folders of them"

_PRINTED = ("file", "label", "scores", "milliseconds")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """RUN_OR_MODEL, IMAGE..., --test, --top, --csv, --force, --json."""
    parser.add_argument("model", metavar="RUN_OR_MODEL", help=f"{RUN_WORDS}, or .keras file")
    parser.add_argument("images", metavar="IMAGE", nargs="*", type=Path, help="file or folder")
    parser.add_argument(
        "--test",
        metavar="N",
        type=int,
        action="append",
        default=[],
        help="image N of the model's test set, from 0; repeat for more",
    )
    parser.add_argument(
        "--top", type=int, default=5, metavar="K", help="classes per image, 0 for all (default 5)"
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write a CSV table")
    add_force(parser, "the CSV file")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints a line an image; 3 when none could be read."""
    if not arguments.images and not arguments.test:
        raise UsageError("No image was given.", expected="IMAGE..., or --test N")
    files = [_Shown(file) for image in arguments.images for file in _files(image)]
    if not files and not arguments.test:
        raise PictureError(
            "No images to classify.",
            where=", ".join(map(str, arguments.images)),
            received="no image files in the folder or its subfolders",
        )
    if arguments.csv is not None:
        refuse_existing(arguments.csv, force=arguments.force)
    model = find_model(arguments.model)
    with open_service() as service:
        files += _test_images(service, model, arguments)
        answers = list(_print_answers(service, model, files, arguments))
    if arguments.csv is not None:
        save_bytes(arguments.csv, classified_csv(answers).encode())
    num_bad = sum(answer.error is not None for answer in answers)
    if not arguments.json and len(answers) > 1:
        print_line(_total(len(answers), num_bad))
    return 3 if num_bad == len(answers) else 0


@dataclass(frozen=True)
class _Shown:
    """An image to classify.

    Attributes:
        path: Its file.
        name: What is printed for it, where that is not the path.
        label: Its true class, where it is known.
    """

    path: str
    name: str = ""
    label: str = ""


def _test_images(service: ServiceCall, model: str, arguments: argparse.Namespace) -> list[_Shown]:
    """Images of the model's test set, by their numbers.

    Raises:
        UsageError: a number is beyond the test set.
    """
    if not arguments.test:
        return []
    request = PickTestPictures(id=1, model=model, indices=arguments.test)
    picked = only(answers_of(service, request, is_quiet=arguments.json), TestPictures)
    found = {each.index: each for each in picked.pictures}
    missing = [number for number in arguments.test if number not in found]
    if missing:
        raise UsageError(
            "The test set has no image of this number.",
            received=", ".join(map(str, missing)),
            expected=f"numbers from 0 to {picked.total - 1:,}",
        )
    images = (found[number] for number in arguments.test)
    return [_Shown(each.path, f"test image {each.index}", each.label) for each in images]


def _print_answers(
    service: ServiceCall, model: str, files: Sequence[_Shown], arguments: argparse.Namespace
) -> Iterator[Classified]:
    """Prints each answer as it comes, under the name of its image."""
    paths = [each.path for each in files]
    request = Classify(id=2, model=model, pictures=paths, top=max(0, arguments.top))
    answers = answers_of(service, request, is_quiet=arguments.json)
    classified = (answer for answer in answers if isinstance(answer, Classified))
    for shown, answer in zip(files, classified, strict=True):
        named = msgspec.structs.replace(answer, file=shown.name or answer.file)
        _print_answer(named, shown.label, as_json=arguments.json)
        yield named


def _total(num_images: int, num_bad: int) -> str:
    words = f"{plural(num_images - num_bad, 'image')} classified"
    return f"{words}, {count(num_bad)} could not be read." if num_bad else f"{words}."


def _files(image: Path) -> list[str]:
    files = list_pictures(image, is_deep=True) if image.is_dir() else [image]
    return [str(file) for file in files]


def _print_answer(answer: Classified, label: str, *, as_json: bool) -> None:
    if answer.error is not None:
        value = {"file": answer.file, "error": msgspec.structs.asdict(answer.error)}
        report(value, f"{answer.file}: {answer.error.what}", as_json=as_json)
    elif as_json:
        value = {key: getattr(answer, key) for key in _PRINTED}
        # "unknown" is no class: programs that know nothing of it find no label.
        print_json({**value, "label": None, "unknown": answer.unknown} if answer.unknown else value)
    else:
        unknown = f"{unknown_words(answer.unknown)}: " if answer.unknown else ""
        scores = "  ".join(f"{score.name} {score.probability:.1%}" for score in answer.scores)
        truth = f" (label: {label})" if label else ""
        print(printable(f"{answer.file}{truth}: {unknown}{scores}"), flush=True)
