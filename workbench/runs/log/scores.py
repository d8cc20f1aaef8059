"""Words for the figures of a run and the weights that they are of: the one table of them, for
window and terminal.
"""

from __future__ import annotations

from workbench.core.format import count, plural, share
from workbench.protocol.events import BestEpoch, EpochFinished
from workbench.protocol.trained.evaluate import Evaluation, ImageSet
from workbench.protocol.weights import KeptWeights

_BEST = {
    "val_accuracy": "best val. accuracy",
    "val_loss": "lowest val. loss",
    "top_k": "best top-k accuracy",
    "loss": "lowest training loss",
}
"""What the best epoch is the best by, for each value of the recipe's `keep_by`."""


def metric_words(best_by: str, *, is_validated: bool = True, is_on_test: bool = False) -> str:
    """What the best epoch is the best by: "best val. accuracy".

    Args:
        best_by: The recipe's `keep_by`.
        is_validated: Without validation the training metric decides.
        is_on_test: The validation images are the test images.
    """
    words = _BEST.get(best_by, "best")
    if not is_validated:
        return words.replace("val. ", "")
    return words.replace("val. ", "test ") if is_on_test else words


def best_words(best: BestEpoch | None, best_by: str, *, is_on_test: bool = False) -> str:
    """The best epoch: "Best val. accuracy 90.8% (epoch 32)"; "" where there is none.

    The accuracy is of the best epoch, whatever it is the best by; then its metric is named.
    """
    if best is None or best.val_accuracy is None:
        return ""
    metric = metric_words(best_by, is_on_test=is_on_test)
    accuracy, epoch = share(best.val_accuracy), f"epoch {count(best.epoch)}"
    chosen = ", chosen on the test set" if is_on_test else ""
    if best_by == "val_accuracy":
        return f"{metric[:1].upper()}{metric[1:]} {accuracy} ({epoch}{chosen})"
    where = "Test" if is_on_test else "Val."
    return f"{where} accuracy {accuracy} ({epoch}, {metric}{chosen})"


def weights_words(kept: KeptWeights | None) -> str:
    """Which weights answer: "last epoch (40)", "best epoch (32), averaged (EMA)"; "" if unknown."""
    if kept is None:
        return ""
    if kept.is_partial:
        words = f"last step, in epoch {count(kept.epoch + 1)}"
    else:
        words = f"{kept.kind} epoch ({count(kept.epoch)})"
    if kept.is_averaged:
        words += ", averaged (EMA)"
    return f"{words}, chosen on the test set" if kept.is_chosen_on_test else words


def chosen_words(kept: KeptWeights | None) -> str:
    """The weights in words, as of `weights_words`, with the images that chose the epoch: "best
    epoch (32), chosen on the validation images".
    """
    words = weights_words(kept)
    if kept is None or kept.kind != "best" or kept.is_chosen_on_test or kept.val_accuracy is None:
        return words
    return f"{words}, chosen on the validation images"


SET_IMAGES: dict[ImageSet, str] = {
    "test": "test images",
    "validation": "validation images",
    "train": "training images",
    "other": "images",
}
"""What the images of an evaluation are called within a sentence."""

SET_TITLES: dict[ImageSet, str] = {
    "test": "Test set",
    "validation": "Validation set",
    "train": "Training set",
}
"""The parts of a run's own split."""


def _is_chosen_here(result: Evaluation) -> bool:
    """Whether the validation images that are evaluated have chosen the epoch of the weights."""
    kept = result.weights
    is_best = kept is not None and kept.kind == "best" and kept.val_accuracy is not None
    return result.part == "validation" and is_best


def set_words(result: Evaluation, source: str = "") -> str:
    """Which images an evaluation is of, for the line next to each figure: "Test set, 361 images",
    "Training set, 3,000 images (seen in training)".

    Args:
        result: The evaluation.
        source: The data set, where it is another one than the run's own.
    """
    images = plural(result.count, "image")
    words = f"{source or SET_TITLES.get(result.part, 'Other images')}, {images}"
    if result.part == "train" and not result.is_from_elsewhere:
        return f"{words} (seen in training)"
    if result.is_validated_on_test:
        return f"{words} (used for validation, too)"
    return f"{words} (chose the saved weights)" if _is_chosen_here(result) else words


def area_words(area: float | None) -> str:
    """An area under a curve; a dash where there is none."""
    return "–" if area is None else f"{area:.3f}"


def remark_words(result: Evaluation) -> str:
    """What qualifies all scores of an evaluation, in sentences; "" for nothing."""
    words = (*result.class_notes, _changed_words(result), _seen_words(result))
    return " ".join(filter(None, words))


def _changed_words(result: Evaluation) -> str:
    """That the run was trained with another data set than the one that is there now."""
    before = result.num_in_training
    if not before or before == result.count:
        return ""
    one, many = SET_IMAGES[result.part].removesuffix("s"), SET_IMAGES[result.part]
    return f"The data set has changed: when the run was trained it had {plural(before, one, many)}."


def _seen_words(result: Evaluation) -> str:
    if result.is_from_elsewhere:
        return "The model was trained elsewhere: it may have seen these images in training."
    if result.part == "train":
        return "The model was trained on these images: on new images the scores are usually lower."
    if _is_chosen_here(result) and not result.is_validated_on_test:
        return (
            "The saved weights are those that did best on these validation images: on new images "
            "the scores may be lower."
        )
    return test_set_words(is_validated_on_test=result.is_validated_on_test)


def test_set_words(*, is_validated_on_test: bool) -> str:
    """What qualifies the scores of an evaluation, as a sentence; "" for nothing."""
    if not is_validated_on_test:
        return ""
    return (
        "These test images were also the validation images of the training: on new images the "
        "scores may be lower."
    )


def saved_words(kept: KeptWeights | None) -> str:
    """The saved weights in words: "Saved weights: val. accuracy 89.9%, last epoch (40)"; "" where
    it is not known. The figure is first: it stays where the rest has no room.
    """
    words = weights_words(kept)
    if kept is not None and kept.val_accuracy is not None:
        words = f"val. accuracy {share(kept.val_accuracy)}, {words}"
    return f"Saved weights: {words}" if words else ""


def plan_words(keep: str) -> str:
    """Which weights a run will save: "Saves the weights of the last epoch"; "" if unknown."""
    return f"Saves the weights of the {keep} epoch" if keep in ("last", "best") else ""


def saved_val_accuracy(
    kept: KeptWeights | None, keep: str, best: BestEpoch | None, last: EpochFinished | None
) -> float | None:
    """Validation accuracy 0..1 of the weights that the test accuracy is of: those that are saved,
    else those that would be now; None where it was not measured for them.

    Args:
        kept: The saved weights; None where none are, or it was not logged.
        keep: The recipe's value for the weights to save, "last" or "best".
        best: The best epoch so far.
        last: The last epoch so far.
    """
    if kept is not None:
        return kept.val_accuracy
    epoch = best if keep == "best" else last
    return epoch.val_accuracy if epoch is not None else None


def figure_words(test: float | None, val: float | None) -> str:
    """A run's one figure with its name, of the saved weights: "test 89.3%", while it trains
    "val. 90.8%".
    """
    if test is not None:
        return f"test {share(test)}"
    return f"val. {share(val)}" if val is not None else ""
