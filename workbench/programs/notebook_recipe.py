"""The training of a program for notebook services: the recipe in a loop of its own.

The loop is written out, as Keras's `fit` cannot run many steps in one call on several cores.
What the recipe does not ask for is not in the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.core.training.recipe import TrainingRecipe
from workbench.programs.code import call, literal
from workbench.programs.texts import fill, sections
from workbench.programs.training import TrainingText

_STEPS_PER_CALL = 50
"""Calls cost the host's time; between them it looks at the values. 20 to 200 is usual."""

_PRECISIONS = {
    "auto": '"bfloat16" if HAS_TPU else "float32"',
    "bfloat16": '"bfloat16"',
    "float32": '"float32"',
}

_VALIDATION = {
    "split": ("scoring_batches(x_validation, y_validation)", "y_validation"),
    "test": ("test_batches", "y_test"),
    "none": ("", "y_train[:0]"),
}
"""Batches and labels of the images that a network is validated on."""


def recipe_values(
    recipe: TrainingRecipe, *, is_logits: bool, has_penalty: bool = False
) -> dict[str, Any]:
    """What the notebook is filled with for a recipe, by the names in its text.

    Args:
        recipe: The recipe.
        is_logits: The network ends without softmax.
        has_penalty: Some layer adds to the loss.
    """
    text = TrainingText(recipe, is_logits=is_logits, has_own_loop=True)
    values = text.values()
    return {
        **values,
        **_phase_values(recipe, values, is_logits=is_logits, has_penalty=has_penalty),
        **_split_values(recipe),
        **_step_values(recipe, text, has_penalty=has_penalty),
        **_loop_values(recipe),
        "epochs": recipe.epochs,
        "steps_per_call": min(200, recipe.steps_per_call or _STEPS_PER_CALL),
        "steps": recipe.steps_per_epoch or "max(1, len(x_train) // BATCH_SIZE)",
        "precision": _PRECISIONS[recipe.precision],
        "may_be_bfloat16": recipe.precision != "float32",
        "loss": _loss(text),
    }


def _phase_values(
    recipe: TrainingRecipe, values: Mapping[str, Any], *, is_logits: bool, has_penalty: bool
) -> dict[str, Any]:
    """Values of the phases: an optimizer for each, and what else changes between them."""
    is_tuned, parts = recipe.has_fine_tuning, sections("parts.py")
    head = recipe.with_values(epochs=recipe.head_epochs, fine_tuning_after=None)
    first, then = (
        TrainingText(phase, is_logits=is_logits, has_own_loop=True).optimizer
        for phase in (head, recipe.in_fine_tuning() if is_tuned else head)
    )
    of_head = {**values, "optimizer": first, "is_tuned": is_tuned}
    return {
        "is_tuned": is_tuned,
        "head_epochs": recipe.head_epochs,
        "make_optimizer": fill(parts["make_optimizer"], of_head),
        "make_tuning_optimizer": fill(parts["make_tuning_optimizer"], {"optimizer": then}),
        "tunes_penalty": is_tuned and has_penalty,
        **_watched_values(recipe),
    }


def _watched_values(recipe: TrainingRecipe) -> dict[str, Any]:
    """Values of what looks at the epochs of one phase alone: early stopping, and a rate that is
    reduced on a plateau.
    """
    is_tuned, stops = recipe.has_fine_tuning, recipe.early_stopping_patience is not None
    follows = recipe.schedule_spec.follows_metric
    counts_phases = is_tuned and (stops or follows)
    last_best = "phase_best" if counts_phases else "best_epoch"
    return {
        "counts_phases": counts_phases,
        "waited_best": _waited(recipe, last_best),
        "waited_fall": _waited(recipe, f"max({last_best}, last_fall)"),
        "tunes_plateau": is_tuned and follows,
        "stops_early": stops,
        "stops_head": is_tuned and stops,
        "stops_whole": stops and not is_tuned,
    }


def _waited(recipe: TrainingRecipe, since: str) -> str:
    """How many values of the metric have been seen since an epoch."""
    if recipe.judged_every == 1:
        return f"epoch - {since}"
    return f"epoch // VALIDATION_FREQ - {since} // VALIDATION_FREQ"


def _split_values(recipe: TrainingRecipe) -> dict[str, Any]:
    validation_batches, validation_labels = _VALIDATION[recipe.validation]
    return {
        "is_validated": recipe.validation != "none",
        "validates_each": recipe.validation != "none" and recipe.validation_freq == 1,
        "validates_some": recipe.validation != "none" and recipe.validation_freq > 1,
        "judges_some": recipe.judged_every > 1,
        "judges_each": recipe.judged_every == 1,
        "validation_freq": recipe.validation_freq,
        "splits_validation": recipe.validation == "split",
        "validation_seed": recipe.seed + 1,
        "validation_batches": validation_batches,
        "validation_labels": validation_labels,
    }


def _step_values(
    recipe: TrainingRecipe, text: TrainingText, *, has_penalty: bool
) -> dict[str, Any]:
    """Values of what is done for one batch."""
    is_balanced = recipe.class_weights == "balanced"
    return {
        "sample_weights": _weights(is_balanced=is_balanced, is_one_hot=text.is_one_hot),
        "labels": "tf.argmax(y, axis=-1)" if text.is_one_hot else "y",
        "targets": "tf.one_hot(y, NUM_CLASSES)" if text.is_one_hot else "y",
        "has_penalty": has_penalty,
        "penalty": sections("parts.py")["penalty"] + "\n\n" if has_penalty else "",
        "clips": recipe.clip_norm is not None,
        "clip_norm": literal(recipe.clip_norm),
    }


def _loop_values(recipe: TrainingRecipe) -> dict[str, Any]:
    """Values of the epochs, and of what is kept of them."""
    keeps_best, averages = recipe.keep == "best", recipe.ema_decay is not None
    best_value, best_loss = _best(recipe)
    return {
        "averages": averages,
        "keeps_averages": averages and not keeps_best,
        "swap_averages": sections("parts.py")["swap_averages"] + "\n\n" if averages else "",
        "keeps_best": keeps_best,
        "best_value": best_value,
        "best_loss": best_loss,
        "plateau_patience": recipe.plateau_patience,
        "decay_factor": literal(recipe.decay_factor),
        "patience": recipe.early_stopping_patience,
    }


def _weights(*, is_balanced: bool, is_one_hot: bool) -> str:
    """The weights of a batch's images in the loss."""
    if not is_balanced:
        return "tf.ones(BATCH_SIZE)"
    return "tf.linalg.matvec(y, balanced)" if is_one_hot else "tf.gather(balanced, y)"


def _loss(text: TrainingText) -> str:
    """The line that names the loss of each image."""
    code = text.loss_code
    if code.definition:
        return f"loss_of = {code.name}"
    return call(f"loss_of = keras.losses.{code.name}", [*code.arguments, "reduction=None"])


def _best(recipe: TrainingRecipe) -> tuple[str, str]:
    """What makes an epoch the best, greater is better: the recipe's value, of equals the loss."""
    is_validated = recipe.validation != "none"
    start = "val_" if is_validated else ""
    loss = f'-entry["{start}loss"]'
    if recipe.keep_by == "loss":
        return '-entry["loss"]', loss
    if recipe.keep_by == "val_loss":
        return loss, loss
    has_top_k = recipe.keep_by == "top_k" and recipe.top_k > 1 and is_validated
    return f'entry["{"top_k_" if has_top_k else start}accuracy"]', loss
