"""`workbench classify`: names what is on images, with a run's weights."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import msgspec

from workbench.cli._classify import add_watch_option, open_classifier, watch_folder
from workbench.cli._options import (
    RUN_WORDS,
    add_force,
    add_json_option,
    refuse_existing,
    whole_number,
)
from workbench.cli._output import end_if_unread, print_json, print_line, print_text, report
from workbench.cli._service import Call, answers_of, only, open_service
from workbench.cli._sorting import Sorting, add_sorting_options
from workbench.core.calibration import unknown_words
from workbench.core.format import count, plural, share
from workbench.downloads.download import is_web_address
from workbench.errors import UsageError
from workbench.protocol.classify import (
    Agreement,
    Classified,
    ClassifiedRows,
    ClassifyMany,
    ImageSource,
    ManyClassified,
)
from workbench.protocol.service_call import ServiceCall
from workbench.protocol.trained.evaluate import PickTestPictures, TestPictures
from workbench.runs.export.classified_table import is_unfinished
from workbench.runs.export.tables import shown_label
from workbench.runs.library.index import find_model

NAME = "classify"
HELP = "classify images, or folders of them"

_PRINTED = ("file", "label", "scores", "milliseconds")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds RUN_OR_MODEL, IMAGE..., --test, --top, --csv, --class-folders, --truth, --watch, ..."""
    parser.add_argument("model", metavar="RUN_OR_MODEL", help=f"{RUN_WORDS}, or .keras file")
    parser.add_argument(
        "images",
        metavar="IMAGE",
        nargs="*",
        help="file or folder, or web address of an image",
    )
    parser.add_argument(
        "--test",
        metavar="N",
        type=int,
        action="append",
        default=[],
        help="image N of the model's test set, from 0; repeat for more",
    )
    parser.add_argument(
        "--top",
        type=partial(whole_number, least=0),
        default=5,
        metavar="K",
        help="classes per image, 0 for all (default 5)",
    )
    _add_table_options(parser)
    add_watch_option(parser)
    add_sorting_options(parser)
    add_force(parser, "the table")
    add_json_option(parser)


def _add_table_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--csv",
        "--table",
        type=Path,
        metavar="FILE",
        dest="table",
        help="also write a table, .csv or .parquet; one that is unfinished is continued",
    )
    parser.add_argument(
        "--class-folders",
        action="store_true",
        help="the images are in folders named like their classes: count the correct ones",
    )
    parser.add_argument(
        "--truth",
        metavar="TABLE",
        type=Path,
        help="CSV file with the images and their true classes: count the correct ones; columns are "
        'chosen as for data sets, "list.csv?image=file&label=breed"',
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints a line an image; 3 when none could be read, 1 when some could not."""
    if arguments.watch is not None:
        model = find_model(arguments.model)
        return watch_folder(arguments, model, partial(_print_answer, as_json=arguments.json))
    if not arguments.images and not arguments.test:
        raise UsageError("No image was given.", expected="IMAGE..., --test N or --watch FOLDER")
    sorting, table = Sorting(arguments), arguments.table
    if table is not None and not is_unfinished(table):
        refuse_existing(table, force=arguments.force)
    model = find_model(arguments.model)
    sources = list(map(_source, arguments.images))
    with ExitStack() as images, open_classifier(model) as service:
        if arguments.test:
            sources += _test_images(images.enter_context(open_service()), model, arguments)
        request = ClassifyMany(
            id=2,
            model=model,
            sources=sources,
            table="" if table is None else str(table),
            starts_over=arguments.force,
            top=arguments.top,
            truth="" if arguments.truth is None else str(arguments.truth),
            has_class_folders=arguments.class_folders,
        )
        try:
            done = _print_answers(service, request, sorting, as_json=arguments.json)
        except KeyboardInterrupt:
            if table is not None:
                print_line("The table is unfinished: the same command continues it.")
            raise
    _print_end(done, as_json=arguments.json)
    sorting.finish()
    if done.num_bad == done.num_images:
        return 3
    return 1 if done.num_bad else 0


def _source(image: str) -> ImageSource:
    """A file, a folder or a web address; raises UsageError."""
    is_address = is_web_address(image)
    if not is_address and image.lower().startswith(("http://", "https://")):
        what, expected = "This is not a web address that can be downloaded.", "no user name in it"
        raise UsageError(what, where=image[:200], expected=expected)
    return ImageSource(path=image if is_address else str(Path(image)), is_address=is_address)


def _test_images(
    service: ServiceCall, model: str, arguments: argparse.Namespace
) -> Iterator[ImageSource]:
    """Images of the model's test set, by their numbers.

    Raises:
        UsageError: a number is beyond the test set.
    """
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
    for image in (found[number] for number in arguments.test):
        yield ImageSource(path=image.path, name=f"test image {image.index}", label=image.label)


def _print_answers(
    service: Call[ClassifyMany], request: ClassifyMany, sorting: Sorting, *, as_json: bool
) -> ManyClassified:
    """Prints each answer as it comes, but those that an unfinished table had."""
    for answer in answers_of(service, request, is_quiet=as_json):
        if isinstance(answer, ManyClassified):
            return answer
        if not isinstance(answer, ClassifiedRows):
            continue
        for row in answer.rows:
            sorting.add(row.file, shown_label(row))
            if not answer.is_earlier:
                _print_answer(row, as_json=as_json)
                end_if_unread()
    raise AssertionError("the last answer is ManyClassified, or an error was raised")


def _print_answer(answer: Classified, *, as_json: bool) -> None:
    if answer.error is not None:
        value = {"file": answer.file, "error": msgspec.structs.asdict(answer.error)}
        report(value, f"{answer.file}: {answer.error.what}", as_json=as_json)
    elif as_json:
        row: dict[str, object] = {key: getattr(answer, key) for key in _PRINTED}
        if answer.unknown:
            # "unknown" is no class: programs that know nothing of it find no label.
            row |= {"label": None, "unknown": answer.unknown}
        print_json({**row, "truth": answer.truth} if answer.truth else row)
    else:
        unknown = f"{unknown_words(answer.unknown)}: " if answer.unknown else ""
        scores = "  ".join(f"{score.name} {score.probability:.1%}" for score in answer.scores)
        truth_words = f" (label: {answer.truth})" if answer.truth else ""
        print_text(f"{answer.file}{truth_words}: {unknown}{scores}")


def _print_end(done: ManyClassified, *, as_json: bool) -> None:
    """Prints how many there were, and how many answers are correct, where that is known."""
    if not as_json and done.num_images > 1:
        print_line(_total(done))
    if done.blind and not as_json:
        print_line(done.blind)
    if done.agreement is None:
        return
    if as_json:
        print_json({"agreement": done.agreement, "reading": done.reading})
    else:
        for line in (*done.reading, *_agreement_lines(done.agreement)):
            print_line(line)


def _total(done: ManyClassified) -> str:
    words = f"{plural(done.num_images - done.num_bad, 'image')} classified"
    if done.num_bad:
        words += f", {count(done.num_bad)} could not be read"
    if done.num_earlier:
        words += f"; {count(done.num_earlier)} of them were in the table already"
    return f"{words}."


def _agreement_lines(agreement: Agreement) -> Iterator[str]:
    yield f"{'class':28} {'precision':>9} {'recall':>9} {'F1':>9} {'images':>9}"
    for score in agreement.per_class:
        yield (
            f"{score.name:28} {score.precision:9.3f} {score.recall:9.3f} "
            f"{score.f1:9.3f} {score.count:9,}"
        )
    labeled = agreement.num_right + agreement.num_wrong
    part = f" ({share(agreement.accuracy)})" if agreement.accuracy is not None else ""
    yield f"correct: {count(agreement.num_right)} of {count(labeled)}{part}"
    if agreement.num_unknown:
        yield f"with a label, but unknown: {plural(agreement.num_unknown, 'image')}"
    if agreement.num_foreign:
        yield f"label is no class of the model: {plural(agreement.num_foreign, 'image')}"
    if agreement.num_unlabeled:
        yield f"without a label: {plural(agreement.num_unlabeled, 'image')}"
