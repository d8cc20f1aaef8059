"""Words for a run's events, its figures and the weights that they are of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from workbench.core.format import count, duration, plural, share, within_sentence
from workbench.protocol.events import (
    BestEpoch,
    CheckpointKept,
    DataReady,
    EpochFinished,
    LogLine,
    PhaseChanged,
    RunEvent,
    RunFinished,
    RunStarted,
    TimeSpent,
)
from workbench.protocol.trained.evaluate import Evaluation, ImageSet
from workbench.protocol.weights import KeptWeights
from workbench.targets import target_title

# event text ----------------------------------------------------------------------------------
# A run's events in words: the one table of them, for the window's log and for terminals.


class TimePart(NamedTuple):
    """A part of a trainer's time.

    Attributes:
        name: For programs and terminals.
        field: Name of the field of TimeSpent.
        title: What it is, in a few words.
        meaning: What is done in it.
    """

    name: str
    field: str
    title: str
    meaning: str


TIME_PARTS = (
    TimePart(
        "compute", "compute_s", "Training steps", "Forward and backward passes, weight updates"
    ),
    TimePart(
        "input", "input_s", "Input wait", "The steps wait for images: reading, decoding, augmenting"
    ),
    TimePart(
        "host",
        "host_s",
        "Host overhead",
        "Python between the steps: starting them, reading their results, writing the log",
    ),
    TimePart(
        "features",
        "features_s",
        "Frozen layers, once",
        "Outputs of the frozen layers for all images, kept for every epoch",
    ),
    TimePart(
        "compile",
        "compile_s",
        "Graph build and XLA compile",
        "The network is made into a program for this hardware, once per run",
    ),
    TimePart(
        "validation", "validation_s", "Validation", "Loss and accuracy on the validation images"
    ),
    TimePart("saving", "saving_s", "Checkpointing", "Weights and checkpoints are written"),
)

AFTER = "After training"
"""Calibration, comparison and test: beside the parts."""

BAD_FILES = 5
"""How many skipped images are named."""

_CLASSES = 30
"""Most classes of which the held-out images are listed."""


def event_text(event: RunEvent, epochs: int = 0) -> str:
    """An event as a line of the log or of a terminal, without its time.

    Args:
        event: Any event of a run.
        epochs: The planned ones; 0 when unknown.

    Returns:
        One line, or a few where files or an error are named; "" for events that have no text.
    """
    make = _TEXTS.get(type(event))
    return make(event, epochs) if make is not None else ""


def resumed_words(started: RunStarted | None) -> str:
    """Sentence with the step at which a resumed run went on, and whether its figures are those of
    one never stopped: "Resumed at step 3,121, bit-exact (as if never stopped)", by the step that
    was trained next; "" for a run from its start.
    """
    if started is None or started.resumed_at_step is None:
        return ""
    words = f"Resumed at step {started.resumed_at_step + 1:,}"
    if started.bit_exact is True:
        return f"{words}, bit-exact (as if never stopped)"
    if started.bit_exact:
        return f"{words}, not bit-exact: {'; '.join(started.bit_exact)}"
    return words


def ended_words(
    outcome: str, epochs_done: int, *, has_begun: bool = True, is_within: bool = False
) -> str:
    """How a run ended, by the epochs it has finished: "Paused after 3 epochs", or, within an epoch,
    "Stopped in epoch 4".

    Args:
        outcome: "completed", "stopped", "paused", "failed" or another word.
        epochs_done: Finished epochs, validation included.
        has_begun: Whether it has trained at all.
        is_within: It was stopped within an epoch, some steps of which are done.
    """
    word = outcome.capitalize()
    if not epochs_done:
        place = "in the first epoch" if has_begun else "before the first epoch"
        return f"{word} {place}" if outcome in ("stopped", "paused") else word
    if is_within:
        return f"{word} in epoch {count(epochs_done + 1)}"
    epochs = plural(epochs_done, "epoch")
    return f"{word} {epochs}" if outcome == "completed" else f"{word} after {epochs}"


def time_shares(spent: TimeSpent) -> list[tuple[str, float, float]]:
    """(name, seconds, share 0..1) of each part that took any time, as `TIME_PARTS`. What follows
    the last step is none of them.
    """
    parts = [(name, max(0.0, getattr(spent, field))) for name, field, *_ in TIME_PARTS]
    total = sum(seconds for _, seconds in parts)
    return [(name, seconds, seconds / total) for name, seconds in parts if total and seconds]


def time_words(spent: TimeSpent) -> str:
    """The shares, the largest first: "compute 86% · input 9% · host 5%"; or ""."""
    shares = sorted(time_shares(spent), key=lambda part: -part[2])
    words = [f"{name} {_percent(part)}" for name, _, part in shares]
    return " · ".join([*words, *filter(None, [after_words(spent)])])


def after_words(spent: TimeSpent) -> str:
    """Time after the last step in words: "after training 1 min 33 s"; "" where nothing followed."""
    return f"{AFTER.lower()} {duration(spent.after_s)}" if spent.after_s else ""


def _percent(part: float) -> str:
    return "< 1%" if part < 0.005 else f"{part * 100:.0f}%"


def _started(event: RunStarted, _epochs: int) -> str:
    on = f"on {within_sentence(target_title(event.target))}"
    resumed = resumed_words(event)
    words = f"{resumed}, {on}" if resumed else f"Started {on}, seed {event.seed}"
    return f"{words}: {event.plan.words or event.precision}"


def _data(event: DataReady, _epochs: int) -> str:
    parts = [
        plural(event.num_train, "training image"),
        f"{count(event.num_validation)} validation",
        f"{count(event.num_test)} test",
        plural(len(event.class_names), "class", "classes"),
        f"{plural(event.steps_per_epoch, 'step')} per epoch",
    ]
    lines = [", ".join(parts)]
    if event.split and len(event.per_class) <= _CLASSES:
        lines += _classes(event)
    if event.bad_files:
        lines.append(f"{plural(len(event.bad_files), 'image')} skipped:")
        lines += [f"  {path}: {reason}" for path, reason in event.bad_files[:BAD_FILES]]
    if len(event.bad_files) > BAD_FILES:
        lines.append(f"  and {count(len(event.bad_files) - BAD_FILES)} more")
    return "\n".join(lines)


def _classes(event: DataReady) -> Iterator[str]:
    """What is held out of each class."""
    for name, counts in zip(event.class_names, event.per_class, strict=False):
        named = zip(counts, ("training", "validation", "test"), strict=False)
        yield f"  {name}: {', '.join(f'{count(number)} {part}' for number, part in named)}"


def _epoch(event: EpochFinished, epochs: int) -> str:
    of = f" of {count(epochs)}" if epochs else ""
    parts = [f"Epoch {count(event.epoch)}{of}", f"loss {_loss(event.loss)}"]
    if event.accuracy is not None:
        parts.append(f"accuracy {share(event.accuracy)}")
    if event.val_accuracy is not None:
        parts.append(f"validation loss {_loss(event.val_loss)}")
        parts.append(f"validation accuracy {share(event.val_accuracy)}")
    if event.top_k_accuracy is not None:
        parts.append(f"top-k accuracy {share(event.top_k_accuracy)}")
    speed = f"{count(round(event.images_per_second))} images/s"
    return " · ".join([*parts, duration(event.seconds), speed])


def _loss(value: float | None) -> str:
    return "NaN" if value is None else f"{value:.4f}"


def _time(event: TimeSpent, _epochs: int) -> str:
    words = time_words(event)
    return ". ".join(filter(None, (words and f"Time: {words}", event.advice)))


def _checkpoint(event: CheckpointKept, _epochs: int) -> str:
    if event.problem is None:
        return f"Checkpoint saved at step {event.step:,}, epoch {event.epoch:,}"
    return " ".join(filter(None, ("No checkpoint:", event.problem.what, event.problem.fix)))


def _finished(event: RunFinished, _epochs: int) -> str:
    outcome = "paused" if event.is_paused else event.outcome
    begun, within = event.seconds > 0.0, event.ended_within
    ended = ended_words(outcome, event.epochs_done, has_begun=begun, is_within=within)
    words = f"{ended}, {duration(event.seconds)}"
    if event.test is not None and event.test.accuracy is not None:
        words += f" · test accuracy {share(event.test.accuracy)}"
    if event.verdict:
        words += f"\n{event.verdict}."
    if event.error is not None:
        return f"{words}\n{event.error.words}"
    return f"{words} · can be resumed" if event.can_resume else words


def _log_line(event: LogLine, _epochs: int) -> str:
    return event.text if event.level == "info" else f"{event.level}: {event.text}"


def _phase(event: PhaseChanged, _epochs: int) -> str:
    return event.text


_TEXTS: dict[type[RunEvent], Callable[[Any, int], str]] = {
    RunStarted: _started,
    PhaseChanged: _phase,
    DataReady: _data,
    EpochFinished: _epoch,
    TimeSpent: _time,
    CheckpointKept: _checkpoint,
    LogLine: _log_line,
    RunFinished: _finished,
}


# scores --------------------------------------------------------------------------------------
# Words for the figures of a run and the weights that they are of: the one table of them, for
# window and terminal.

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
