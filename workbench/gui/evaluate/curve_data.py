"""What the panel of the curves knows: the kept probabilities, and those that thresholds are chosen
on. Qt-free; what takes long is called in a thread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.core.evaluation.ranking import (
    Curve,
    Drawn,
    Point,
    Refusal,
    Wish,
    chosen_point,
    curve_of,
    drawn_class,
    drawn_macro,
    micro_curve,
    point_of,
    ranks_of,
    refusal_at,
    refusal_of,
)
from workbench.core.format import count, plural, share
from workbench.runs.folder import RunFolder
from workbench.runs.log.texts import SET_IMAGES
from workbench.runs.store.evaluation import KeptEvaluation, KnownScores, read_class_scores
from workbench.runs.store.image_scores import ClassScores

MACRO, MICRO = -1, -2
"""Stand for averages in place of the number of a class."""


@dataclass(frozen=True)
class Loaded:
    """The probabilities of an evaluation.

    Attributes:
        kept: The evaluation.
        rows: Probabilities of its images.
        chosen_on: Probabilities of the run's validation images, by the same weights; None where
            they are not kept, or are the same images.
    """

    kept: KeptEvaluation
    rows: ClassScores
    chosen_on: ClassScores | None


def load(run: RunFolder, known: KnownScores, kept: KeptEvaluation) -> Loaded | None:
    """Reads them; None where they were not kept. Raises RunFolderError."""
    rows = read_class_scores(run, kept)
    other = known.evaluations.get("validation")
    is_other = other is not None and not is_validation(kept)
    is_same_model = other is not None and other.checksum == kept.checksum
    chosen_on = read_class_scores(run, other) if other and is_other and is_same_model else None
    return Loaded(kept, rows, chosen_on) if rows is not None else None


def is_validation(kept: KeptEvaluation) -> bool:
    """Whether its images are those that thresholds are chosen on."""
    return kept.part == "validation" or kept.result.is_validated_on_test


@dataclass(frozen=True)
class Shown:
    """The curves of a class, and what its threshold gives.

    Attributes:
        drawn: The curves.
        words: What the threshold gives, in sentences.
        marked: Its place on the ROC curve, and on the other one; None without it.
    """

    drawn: Drawn
    words: str = ""
    marked: tuple[tuple[float, float], tuple[float, float]] | None = None


def shown_class(found: Loaded, number: int, wish: Wish) -> Shown:
    """The curves of a class, with the threshold that meets a wish best on the validation images."""
    curve = _curve(found.rows, number)
    drawn = drawn_class(curve)
    if found.chosen_on is None:
        return Shown(drawn)
    chosen = chosen_point(_curve(found.chosen_on, number), wish)
    if chosen is None:
        return Shown(drawn, _no_threshold(found.chosen_on, number, wish))
    is_own = found.rows.actual == number
    tried = point_of(found.rows.probabilities[:, number], is_own, chosen.threshold)
    words = (
        f"{_from_words(chosen.threshold)}. Validation images, which chose it: "
        f"{point_words(chosen, wish)}. {_images(found)}: {point_words(tried, wish)}."
    )
    recall, precision = tried.recall or 0.0, tried.precision
    rate = tried.wrong / max(1, curve.negatives)
    return Shown(drawn, words, ((rate, recall), (recall, 1.0 if precision is None else precision)))


def _curve(rows: ClassScores, number: int) -> Curve:
    return curve_of(rows.probabilities[:, number], rows.actual == number)


def _from_words(threshold: float) -> str:
    if not np.isfinite(threshold):
        return "No threshold is worth it: no image is taken for the class"
    return f"Taken for the class from a probability of {threshold:.3f} on"


def _no_threshold(rows: ClassScores, number: int, wish: Wish) -> str:
    if not (rows.actual == number).any():
        return "There is no validation image of this class to choose a threshold on."
    return f"No threshold has a precision of {share(wish.precision)} on the validation images."


def point_words(point: Point, wish: Wish) -> str:
    """What a threshold gives: "precision 91.0%, recall 80.0%, F1 0.851"."""
    parts = [f"precision {share(point.precision)}", f"recall {share(point.recall)}"]
    if wish.goal == "cost":
        parts.append(f"cost {point.cost(wish):,.6g}")
    else:
        parts.append(f"F1 {point.f1:.3f}")
    return ", ".join(parts)


def _images(found: Loaded) -> str:
    return SET_IMAGES[found.kept.part].capitalize()


def shown_average(found: Loaded, number: int, costs: tuple[float, float]) -> Shown:
    """The average of all classes, with the probability below which "unknown" costs least."""
    rows = found.rows
    drawn = (
        drawn_macro(rows.probabilities, rows.actual)
        if number == MACRO
        else drawn_class(micro_curve(rows.probabilities, rows.actual))
    )
    if found.chosen_on is None:
        return Shown(drawn)
    chosen = refusal_of(*found.chosen_on.answers(), costs)
    tried = refusal_at(*rows.answers(), costs, chosen.threshold)
    before = (
        "No answer is “unknown”: that costs least"
        if not chosen.unknown
        else f"“Unknown” below {chosen.threshold:.3f} costs least"
        if np.isfinite(chosen.threshold)
        else "Every answer “unknown” costs least"
    )
    words = (
        f"{before}. Validation images, which chose it: {refusal_words(chosen)}. "
        f"{_images(found)}: {refusal_words(tried)}."
    )
    return Shown(drawn, words)


def refusal_words(found: Refusal) -> str:
    """What a threshold costs: "12 unknown, 3 wrong, 0.4 an image instead of 0.9"."""
    return (
        f"{count(found.unknown)} unknown, {count(found.wrong)} wrong, cost "
        f"{found.cost:.3g} an image instead of {found.cost_without:.3g}"
    )


def top_k_words(found: Loaded, k: int) -> str:
    """The top-k accuracy of an evaluation, with its images."""
    rows = found.rows
    num_classes = rows.probabilities.shape[1]
    if k >= num_classes:
        return f"always: there are {count(num_classes)} classes"
    right, total = int((ranks_of(rows.probabilities, rows.actual) < k).sum()), len(rows.actual)
    return f"{share(right / total)} ({count(right)} of {plural(total, 'image')})"
