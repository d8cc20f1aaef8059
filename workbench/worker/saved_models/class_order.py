"""The order of the classes of a network from elsewhere: given by the user, or found out on images.

A weights file names no classes. Programs sort them: this one naturally (1, 2, 10), Keras by the
codes of the characters (1, 10, 2; capitals first), others as they like.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from workbench.core.evaluation.significance import FITTED, Judged, judge
from workbench.core.format import plain_name, share
from workbench.core.outside_text import matched
from workbench.core.projects.data_edits import DataEdits, PartName
from workbench.core.projects.project import Project
from workbench.core.specs import ArrayPart, FilePart, LoadContext, LoadedData, Part
from workbench.core.specs.dataset import edited_classes
from workbench.core.training.recipe import TrainingRecipe
from workbench.datasets import all_datasets
from workbench.errors import ClassOrderError, UsageError, WorkbenchError
from workbench.pictures.edited import edited
from workbench.pictures.folders import natural_key
from workbench.pictures.prepare import prepare_part
from workbench.protocol.weights import ClassOrder, LoadFindings, LoadWeights
from workbench.runs.model_card import ModelCard
from workbench.worker.input.sources import fit_of
from workbench.worker.model.build import BuiltModel
from workbench.worker.saved_models.keras_runner import KerasRunner

Numbers = np.ndarray[Any, np.dtype[np.int64]]

MOST_IMAGES = 400
"""Enough to distinguish orders; measured within seconds."""

_TITLES = {
    "data": "the project's order",
    "natural": "numbers in order (1, 2, 10), without regard to case",
    "code_point": "sorted by character codes (1, 10, 2; capitals first), as Keras sorts them",
    "original": "sorted by character codes of the names in the data set, before they were edited",
    FITTED: "the order that fits these images best, counted on images it was not fitted to",
}
_MOST_SHOWN = 12


def class_orders(
    names: Sequence[str], originals: Sequence[str], edits: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """The orders that a program may have given the classes of a data set, by key; several may be
    equal.

    Args:
        names: The project's classes, in its order.
        originals: Those of the data set, before the user's edits.
        edits: New names by old ones, as `DataEdits.classes`.
    """
    return {
        "data": tuple(names),
        "code_point": tuple(sorted(names)),
        "original": edited_classes(sorted(originals), edits).names,
        "natural": tuple(sorted(names, key=natural_key)),
    }


@dataclass(frozen=True)
class Measured:
    """What a network answers for some images of a project.

    Attributes:
        predicted: Its most probable output for each, int64 (n,).
        truth: Their labels in the project's order, int64 (n,).
        part: Which images, in words.
    """

    predicted: Numbers
    truth: Numbers
    part: str


def measure(
    ctx: LoadContext, project: Project, data: LoadedData, built: BuiltModel, card: ModelCard
) -> Measured | None:
    """The answers of a network for some images of its project, about as many of each class; None
    where they cannot be read, or the answers are no numbers.

    Args:
        ctx: For the progress.
        project: The project.
        data: Its data set, before the user's edits of it.
        built: The network with its weights.
        card: Its model card.
    """
    try:
        loaded = edited(data, DataEdits(classes=project.edits.classes), ctx, TrainingRecipe())
        has_test = loaded.test is not None and len(loaded.test) > 0
        part = _sample(loaded.test if has_test and loaded.test else loaded.train)
        name: PartName = "test" if has_test else "train"
        ctx.progress("Comparing orders of the classes")
        fit = fit_of(project.dataset.params)
        images = prepare_part(part, name, shape=built.input_shape, fit=fit, ctx=ctx)
        if not len(images):
            return None
        scores, _ = KerasRunner(card, built, project.graph).outputs(np.asarray(images.x[:]))
    except WorkbenchError as error:  # weights load without images, too
        ctx.progress(f"The labels cannot be checked on images: {error.what}")
        return None
    words = "test images" if has_test else "images of the data set"
    return Measured(np.argmax(scores, axis=1).astype(np.int64), images.y, words)


def _sample(part: Part) -> Part:
    """At most `MOST_IMAGES` images of a part, first one of each class, then the second ones."""
    labels = np.asarray(part.labels, np.int64)
    random = np.random.default_rng(1)
    shuffled = random.permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    starts = np.searchsorted(labels[by_class], labels[by_class])
    turns = np.argsort(np.arange(len(labels)) - starts, kind="stable")
    chosen = np.sort(by_class[turns[:MOST_IMAGES]])
    if isinstance(part, FilePart):
        return FilePart(tuple(part.paths[number] for number in chosen), labels[chosen])
    return ArrayPart(np.asarray(part.pictures[chosen]), labels[chosen])


def find_order(
    request: LoadWeights,
    orders: Mapping[str, tuple[str, ...]],
    measured: Measured | None,
    *,
    has_one: bool,
) -> LoadFindings:
    """Which of the orders the classes of a file have: what the user says, else what the images
    confirm. `chosen` is "" where neither says it.

    Args:
        request: The request.
        orders: The orders that they may have, by key; the project's is "data".
        measured: The network's answers for images; None without any.
        has_one: Only the project's order comes into question, unless the user says otherwise.

    Raises:
        UsageError: the user names an order that there is not.
    """
    told = request.class_order
    likely = {"data": orders["data"]} if has_one else dict(orders)
    likely |= {told: orders[told]} if told in orders else {}
    found = {key: order for order, key in _first_keys(likely).items()}
    judged, count = Judged({}, "data" if len(found) == 1 else ""), 0
    if measured is not None:
        judged, count = _judged(found, orders["data"], measured), len(measured.truth)
        if judged.fitted:
            found[FITTED] = tuple(orders["data"][number] for number in judged.fitted)
    if told and told not in {*orders, *found}:
        raise UsageError(
            "There is no such order of classes.", received=told[:80], expected=", ".join(found)
        )
    return LoadFindings(
        id=request.id,
        orders=_rows(found, judged, count),
        chosen=_first_keys(found)[{**orders, **found}[told]] if told else judged.chosen,
        num_images=count,
        part=measured.part if measured is not None else "",
    )


def given_names(given: Sequence[str], of_data: Sequence[str]) -> tuple[list[str], str]:
    """The user's names of the outputs as the project's classes are written, and a note on those
    that were written otherwise, or are no class of its images.

    Args:
        given: A name for each output.
        of_data: The classes of the project's images; empty where they are not known. Numbers
            that stand for names may be given any names.

    Raises:
        UsageError: there are as many classes as outputs, and a name is none of them.
    """
    found = matched(given, of_data)
    names = [found.names.get(name, name) for name in given]
    are_numbers = all(name.isdecimal() for name in of_data) and not found.names
    if not found.unknown or are_numbers:
        return names, " ".join(found.notes)
    unknown = ", ".join(f"“{plain_name(name)}”" for name in found.unknown[:_MOST_SHOWN])
    if len(of_data) != len(given):
        note = f"No classes of the project's images: {unknown}."
        return names, " ".join((*found.notes, note))
    free = [name for name in of_data if name not in names]
    meant = [
        f"“{near}” in place of “{plain_name(name)}”"
        for name in found.unknown
        for near in get_close_matches(name, free, n=1)
    ]
    raise UsageError(
        "The project's images have no class of this name. Nothing was changed.",
        received=unknown,
        expected=_listed(of_data),
        fix=f"Did you mean {', '.join(meant[:_MOST_SHOWN])}?"
        if meant
        else "Name the classes as the project has them; they can be renamed in its data set.",
    )


def _rows(
    orders: Mapping[str, tuple[str, ...]], judged: Judged, num_images: int
) -> list[ClassOrder]:
    return [
        ClassOrder(
            key=key,
            title=_TITLES[key],
            names=list(order),
            accuracy=judged.right[key] / num_images if num_images else None,
        )
        for key, order in orders.items()
    ]


def _judged(
    orders: Mapping[str, tuple[str, ...]], names: Sequence[str], measured: Measured
) -> Judged:
    """The orders judged by images, whose labels are places in `names`."""
    places = {name: number for number, name in enumerate(names)}
    numbers = {key: [places[name] for name in order] for key, order in orders.items()}
    return judge(numbers, measured.predicted, measured.truth)


def _first_keys(orders: Mapping[str, tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """The first key of each order."""
    found: dict[tuple[str, ...], str] = {}
    for key, order in orders.items():
        found.setdefault(order, key)
    return found


def ask_order(found: LoadFindings, path: str) -> ClassOrderError:
    """The error that asks the user for the order of the classes, with all that was found out."""
    about = f"{found.num_images} {found.part}" if found.num_images else "no images to measure on"
    return ClassOrderError(
        "The order of the classes in the file is not known. Nothing was changed.",
        where=path,
        received="; ".join(map(order_words, found.orders)) + f" ({about})",
        expected="an order that the images of the project clearly confirm, or one that you give",
        fix="Choose one: --class-order KEY with one of these words, or --classes NAME,NAME,...",
    )


def order_words(order: ClassOrder) -> str:
    """An order by its key, with its accuracy: "code_point (1, 10, 2): 81.0% correct"."""
    return f"{order.key} ({_names_words(order)}){_accuracy_words(order)}"


def _names_words(order: ClassOrder) -> str:
    return _listed(order.names)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_SHOWN
    return ", ".join(names[:_MOST_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _accuracy_words(order: ClassOrder) -> str:
    return "" if order.accuracy is None else f": {share(order.accuracy)} correct"


def chosen_words(found: LoadFindings) -> str:
    """What is said of the order that was taken; "" where there was only one to take, and no image
    to measure it on.
    """
    if not found.chosen or (len(found.orders) < 2 and not found.num_images):
        return ""
    rows = {order.key: order for order in found.orders}
    taken = rows.pop(found.chosen)
    words = f"The classes are in the order {_names_words(taken)}{_accuracy_words(taken)}"
    if found.num_images:
        words += f" of {found.num_images} {found.part}"
    others = "; ".join(f"{_names_words(each)}{_accuracy_words(each)}" for each in rows.values())
    return f"{words}; not {others}." if others else f"{words}."


def has_one_order(project: Project) -> bool:
    """Whether every program has the classes of the project's data set in the same order."""
    spec = all_datasets().get(project.dataset.key)
    return spec is None or bool(spec.class_names) or spec.has_numbered_labels
