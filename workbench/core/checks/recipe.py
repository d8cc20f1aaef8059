"""Findings about a recipe whose values do not go together; none stops training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.core.checks.problems import Fix, Problem, Severity
from workbench.core.training.recipe import TrainingRecipe

_MUCH_SMOOTHING = 0.5


def check_recipe(recipe: TrainingRecipe, num_classes: int | None) -> Iterator[Problem]:
    """What a person would want to know before training.

    Args:
        recipe: How it will be trained.
        num_classes: Number of classes; None while it is not known.
    """
    yield from _check_judging(recipe)
    yield from _check_top_k(recipe, num_classes)
    yield from _check_lengths(recipe)
    yield from _check_labels(recipe)


def _problem(severity: Severity, title: str, message: str, *fixes: Fix) -> Problem:
    return Problem(None, severity, title, message, fixes)


def _set(title: str, **values: Any) -> Fix:
    key = "_".join(["set", *values])
    return Fix(key, title, lambda graph: graph, values)


def _check_judging(recipe: TrainingRecipe) -> Iterator[Problem]:
    """Values that are decided by, and are not measured."""
    users = {
        "the best epoch": recipe.keep == "best",
        "the early end": recipe.early_stopping_patience is not None,
        "the learning rate": recipe.schedule == "plateau",
    }
    decided = " and ".join(words for words, is_on in users.items() if is_on)
    if decided and recipe.validation == "none" and recipe.keep_by != "loss":
        yield _problem(
            "warning",
            "Nothing validates",
            f"Without validation the training's own value decides on {decided}. It gets better "
            "also when the network only learns by heart.",
            _set("Validate on a part of the training pictures", validation="split"),
        )


def _check_top_k(recipe: TrainingRecipe, num_classes: int | None) -> Iterator[Problem]:
    if recipe.keep_by == "top_k" and recipe.top_k == 1:
        yield _problem(
            "hint",
            "Top-k accuracy is not counted",
            "The best epoch is by top-k accuracy, and top-k is 1: that is the plain accuracy.",
            _set("Go by validation accuracy", keep_by="val_accuracy"),
            _set("Count the five likeliest", top_k=5),
        )
    if num_classes is not None and num_classes <= recipe.top_k and recipe.top_k > 1:
        yield _problem(
            "warning",
            "Top-k accuracy is always 100 %",
            f"There are {num_classes:,} classes: each picture's own is always among the "
            f"{recipe.top_k:,} likeliest.",
            _set("Set top-k to 1", top_k=1),
        )


def _check_lengths(recipe: TrainingRecipe) -> Iterator[Problem]:
    """What is to happen after more epochs than there are."""
    epochs = f"there are only {recipe.epochs:,}" if recipe.epochs > 1 else "there is only one"
    patience, warm_up = recipe.early_stopping_patience, recipe.warmup_epochs
    if patience is not None and patience >= recipe.epochs:
        yield _problem(
            "hint",
            "Never stops early",
            f"Training stops after {patience:,} epochs without a better value, but {epochs}.",
            _set("Do not stop early", early_stopping_patience=None),
        )
    if warm_up is not None and warm_up >= recipe.epochs:
        yield _problem(
            "warning",
            "The warm-up never ends",
            f"The learning rate climbs for {warm_up:g} epochs, but {epochs}: it never reaches "
            "its full size.",
            _set("Set the warm-up to automatic", warmup_epochs=None),
        )
    falls_after = {"plateau": float(recipe.plateau_patience), "step": recipe.decay_every_epochs}
    after = falls_after.get(recipe.schedule)
    if after is not None and after >= recipe.epochs:
        yield _problem(
            "warning",
            "The learning rate never falls",
            f"It falls after {after:g} epochs at the earliest, but {epochs}.",
            _set("Let it fall along a cosine", schedule="cosine"),
        )


def _check_labels(recipe: TrainingRecipe) -> Iterator[Problem]:
    if recipe.mixing != "none" and recipe.class_weights != "none":
        yield _problem(
            "hint",
            "Mixtures weaken class weights",
            "Most mixtures hold a picture of a common class, so rare classes count less than "
            "the class weights mean them to.",
            _set("Do not mix pictures", mixing="none"),
            _set("Let all pictures count alike", class_weights="none"),
        )
    if recipe.label_smoothing >= _MUCH_SMOOTHING:
        yield _problem(
            "warning",
            "Much label smoothing",
            f"{recipe.label_smoothing:.0%} of each answer is spread over all classes: little is "
            "left of what the labels say.",
            _set("Set label smoothing to 0.1", label_smoothing=0.1),
        )
