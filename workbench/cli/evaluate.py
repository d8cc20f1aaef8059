"""`workbench evaluate`: how good a run is, class by class."""

from __future__ import annotations

import argparse
import math
from contextlib import suppress
from pathlib import Path
from typing import cast, get_args

import msgspec

from workbench.cli._confusion import confusion_lines
from workbench.cli._options import (
    RUN_WORDS,
    add_force,
    add_json_option,
    refuse_existing,
    whole_number,
)
from workbench.cli._output import print_json_rows, print_text
from workbench.cli._project import add_data_option, typed_source
from workbench.cli._service import ask_one
from workbench.core.evaluation.confusion import balanced_accuracy, cohen_kappa
from workbench.core.evaluation.ranking import Goal, Wish
from workbench.core.format import share
from workbench.protocol.trained.calibration import CalibrationScores, reliability_words
from workbench.protocol.trained.evaluate import Evaluate, Evaluation, SliceBy
from workbench.runs.library.index import find_model
from workbench.runs.log.texts import area_words, chosen_words, remark_words, set_words
from workbench.runs.store.image_scores import SLICE_TITLES

NAME = "evaluate"
LOSS, UNCALIBRATED_LOSS = "loss", "loss (uncalibrated)"
HELP = "loss, accuracy, per-class table and confusion matrix of a run"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds RUN, --part, --data, --by, --top, --threshold, --csv, --force, --json."""
    parser.add_argument("model", metavar="RUN", help=f"{RUN_WORDS}, or .keras file")
    images = parser.add_mutually_exclusive_group()
    images.add_argument(
        "--part",
        choices=("test", "validation", "train"),
        default="test",
        help="part of the run's own split (default: test)",
    )
    add_data_option(images, "data set other than the run's own")
    parser.add_argument(
        "--by",
        choices=get_args(SliceBy),
        help="accuracy by slice, with 95%% intervals: in ranges of the size of the original image "
        "or the brightness of the model's input, or, worst first, by folder, tag or class",
    )
    parser.add_argument(
        "--top",
        metavar="K",
        type=whole_number,
        action="append",
        default=[],
        help="also the top-K accuracy: the actual class is among the K most probable ones; may be "
        "repeated (3 and 5 are always there)",
    )
    parser.add_argument(
        "--threshold",
        metavar="GOAL",
        type=_wish,
        help="also a threshold for each class, chosen on the validation images, and what it gives "
        "here: f1, precision=0.95 (at least), cost=1:5 (a false alarm, a miss); or for all "
        "answers: unknown=10:1 (what an error costs, and an unknown answer)",
    )
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="also write a table of all images, worst first"
    )
    add_force(parser, "the CSV file")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the scores."""
    table = arguments.csv
    if table is not None:
        refuse_existing(table, force=arguments.force)
    model, part = find_model(arguments.model), arguments.part
    by, path = arguments.by, "" if table is None else str(table.absolute())
    request = Evaluate(id=1, model=model, part=part, by=by, table=path, top=arguments.top)
    request = msgspec.structs.replace(request, wish=arguments.threshold)
    if arguments.data is not None:
        choice = typed_source(arguments.data)
        request = msgspec.structs.replace(request, source=choice.key, params=dict(choice.params))
    answer = ask_one(request, Evaluation, is_quiet=arguments.json)
    if arguments.json:
        _print_json(answer, arguments)
    else:
        _print_table(answer)
        if by is not None:
            _print_slices(answer, by)
        _print_thresholds(answer)
    return 0


def _wish(text: str) -> Wish:
    """What thresholds are to be chosen for; raises ArgumentTypeError, which argparse reports."""
    goal, _, value = text.partition("=")
    numbers: list[float] = []
    with suppress(ValueError):
        numbers = [float(number) for number in value.split(":")] if value else []
    is_sound = all(math.isfinite(number) and number >= 0 for number in numbers)
    if goal == "f1" and not value:
        return Wish()
    if goal == "precision" and len(numbers) == 1 and 0 < numbers[0] <= 1:
        return Wish("precision", precision=numbers[0])
    if goal in {"cost", "unknown"} and len(numbers) == 2 and is_sound:
        return Wish(cast("Goal", goal), false_alarm=numbers[0], miss=numbers[1])
    expected = "f1, precision=0.95, cost=1:5 or unknown=10:1"
    raise argparse.ArgumentTypeError(f"{text!r} is none of {expected}")


def _print_thresholds(answer: Evaluation) -> None:
    """Prints what was chosen on the validation images, beside what it gives on these."""
    if answer.thresholds:
        heads = ("threshold", "precision", "recall", "F1", "val. F1")
        print_text(
            "", f"{'class, threshold by validation':32}" + "".join(f" {head:>9}" for head in heads)
        )
    for each in answer.thresholds:
        found, chosen = each.found, each.validation
        if found is None or chosen is None:
            print_text(f"{each.name:32} {'–':>9}")
            continue
        limit = "–" if each.threshold is None else f"{each.threshold:.4f}"
        shares = f"{share(found.precision):>9} {share(found.recall):>9}"
        print_text(f"{each.name:32} {limit:>9} {shares} {found.f1:9.3f} {chosen.f1:9.3f}")
    if (unknown := answer.unknown) is not None:
        limit = "everything" if unknown.threshold is None else f"below {unknown.threshold:.4f}"
        print_text(
            "",
            f"unknown: {limit}; {unknown.unknown:,} unknown, {unknown.wrong:,} wrong, cost "
            f"{unknown.cost:.4g} an image instead of {unknown.cost_without:.4g} (on the validation "
            f"images, which chose it, {unknown.validation_cost:.4g})",
        )


def _print_json(answer: Evaluation, arguments: argparse.Namespace) -> None:
    by: SliceBy | None = arguments.by
    apart = {"id", "slices", "confusion"}
    if arguments.threshold is None:
        apart |= {"thresholds", "unknown"}
    scores = {name: getattr(answer, name) for name in answer.__struct_fields__ if name not in apart}
    scores["calibration"] = _with_temperature(answer.calibration)
    averages = {
        "balanced_accuracy": balanced_accuracy(answer.matrix),
        "cohen_kappa": cohen_kappa(answer.matrix),
    }
    slices = {"by": by, "slices": answer.slices} if by is not None else {}
    print_json_rows(scores | averages | slices, "confusion", answer.matrix.rows())


def _with_temperature(found: CalibrationScores | None) -> CalibrationScores | None:
    """The figures with the temperature as a number: 1 where the model is not calibrated."""
    if found is None or found.temperature is not None:
        return found
    return msgspec.structs.replace(found, temperature=1.0)


def _print_slices(answer: Evaluation, by: SliceBy) -> None:
    print_text(
        "", f"{SLICE_TITLES[by].lower():28} {'accuracy':>9} {'95% interval':>17} {'images':>9}"
    )
    for each in answer.slices:
        interval = f"{each.low:.1%} to {each.high:.1%}"
        few = "  few images" if each.has_few else ""
        line = f"{each.name:28} {each.accuracy:9.1%} {interval:>17} {each.count:9,}{few}"
        print_text(line)


def _print_table(answer: Evaluation) -> None:
    heads = ("precision", "recall", "F1", "ROC AUC", "AP", "images")
    print_text(f"{'class':28}" + "".join(f" {head:>9}" for head in heads))
    for score in answer.per_class:
        areas = map(area_words, (score.roc_auc, score.average_precision))
        shown = "".join(f" {area:>9}" for area in areas)
        figures = f"{score.precision:9.3f} {score.recall:9.3f} {score.f1:9.3f}{shown}"
        print_text(f"{score.name:28} {figures} {score.count:9,}")
    print_text()
    for line in confusion_lines(answer.classes, answer.matrix):
        print_text(line)
    top_k = answer.top_k_accuracy.items()
    found = answer.calibration
    is_calibrated = found is not None and found.temperature is not None
    for title, value, form in (
        # The mean of the losses of the images, which are of the probabilities that are shown.
        *(((LOSS, answer.negative_log_likelihood, ".4f"),) if is_calibrated else ()),
        (UNCALIBRATED_LOSS if is_calibrated else LOSS, answer.loss, ".4f"),
        ("accuracy", answer.accuracy, ".1%"),
        ("balanced accuracy", balanced_accuracy(answer.matrix), ".1%"),
        *((f"top-{k} accuracy", value, ".1%") for k, value in top_k),
    ):
        print_text(f"{title}: {'NaN' if value is None else f'{value:{form}}'}")
    for title, averages in (
        ("ROC AUC", answer.roc_auc),
        ("average precision", answer.average_precision),
    ):
        if averages is not None:
            print_text(
                f"{title}: macro {area_words(averages.macro)}, micro {area_words(averages.micro)}"
            )
    if found is not None:
        print_text(f"calibration: {reliability_words(found)}")
    print_text(f"images: {set_words(answer)}")
    if words := chosen_words(answer.weights):
        print_text(f"weights: {words}")
    if words := remark_words(answer):
        print_text(words)
