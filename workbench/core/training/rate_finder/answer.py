"""What a search for a learning rate has found, in words."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.format import rate_text, share
from workbench.core.training.rate_finder.search import MARGIN, Outcome
from workbench.core.training.rate_finder.trial import Trial


def answer_words(outcome: Outcome, *, chance: float, has_fallen: bool) -> str:
    """The answer in two sentences: what to do, and what was measured.

    Args:
        outcome: What was found.
        chance: Accuracy of always naming the largest class, 0..1.
        has_fallen: The loss fell while the rate was raised.
    """
    present = outcome.present
    if outcome.best is None:
        return _unknown(present, chance, has_fallen=has_fallen)
    if outcome.images:
        return _too_few(outcome, outcome.best)
    best, rate = outcome.best, rate_text(present.rate)
    if outcome.verdict == "keep" and len(outcome.good) == 1:
        return f"Your rate {rate} is the best of the rates tried; keep it. {_measured(best)}."
    if outcome.verdict == "keep":
        words = f"Your rate {rate} is within the good range ({_range(outcome.good)}); keep it."
        if best is present:
            return f"{words} {_measured(best)}, the best of the rates tried."
        return f"{words} {_measured(present)}; {_beside(best)}, {_equal_words(outcome, best)}"
    words = f"{rate_text(best.rate)} is better than your rate {rate}. Good range: "
    return f"{words}{_range(outcome.good)}. {_measured(best)}; {_beside(present)}."


def _measured(trial: Trial) -> str:
    return f"{_beside(trial)} after {trial.steps:,} steps"


def _equal_words(outcome: Outcome, best: Trial) -> str:
    """Why a rate is kept that another was better than."""
    more, equal = best.accuracy - outcome.present.accuracy, max(MARGIN, outcome.error)
    return (
        f"{_points(more, 1)} more. Up to {_points(equal, 2)} count as equal, as differences shrink "
        f"until the end of a training (standard error {_error_words(outcome.error)})."
    )


def _error_words(error: float) -> str:
    return _points(error, 1) if error >= 0.0005 else "below 0.1 points"


def _too_few(outcome: Outcome, best: Trial) -> str:
    """Why the accuracies of few images, each seen again and again, show no best rate."""
    present, certain = outcome.present, 2 * outcome.error
    beside = "" if best is present else f"; {_beside(best)}"
    return (
        f"Too few images to tell: of {outcome.images:,} training images, a difference of up to "
        f"{_points(certain, 1)} may be chance, and they are memorized. Keep "
        f"{rate_text(present.rate)}, or compare rates by cross-validation. {_measured(present)}"
        f"{beside}."
    )


def _points(accuracy: float, digits: int) -> str:
    return f"{100 * accuracy:.{digits}f} points"


def _beside(trial: Trial) -> str:
    if trial.has_diverged:
        return f"{rate_text(trial.rate)} diverges"
    return f"{rate_text(trial.rate)}: {share(trial.accuracy)} training accuracy"


def _range(rates: Sequence[float]) -> str:
    low, high = rate_text(min(rates)), rate_text(max(rates))
    return low if low == high else f"{low} to {high}"


def _unknown(present: Trial, chance: float, *, has_fallen: bool) -> str:
    if not has_fallen:
        return "No learning rate lowered the loss. Check input scaling and labels."
    return (
        f"Inconclusive: in {present.steps:,} steps no learning rate was better than always "
        f"predicting the largest class ({share(chance)}). Keep {rate_text(present.rate)}, or "
        "check input scaling and labels."
    )
