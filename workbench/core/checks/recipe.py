"""Findings about a recipe whose values do not go together; none stops training."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.checks.problems import Problem, recipe_fix, recipe_problem
from workbench.core.training.phases import phases_of
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.schedules import all_schedules

_MUCH_SMOOTHING = 0.5


def check_recipe(recipe: TrainingRecipe, num_classes: int | None) -> Iterator[Problem]:
    """Findings that matter before training; `num_classes` may be unknown."""
    yield from check_rate(recipe)
    yield from _check_judging(recipe)
    yield from _check_top_k(recipe, num_classes)
    yield from _check_lengths(recipe)
    yield from _check_labels(recipe)


def check_rate(recipe: TrainingRecipe) -> Iterator[Problem]:
    """A learning rate that the optimizer does not train with; also shown beside its field."""
    spec, high = recipe.optimizer_spec, recipe.optimizer_spec.high_rate
    if high is not None and recipe.learning_rate > high.above:
        yield recipe_problem(
            "warning",
            f"Learning rate far too high for {spec.title}",
            f"{high.reason} Rates above {high.above:g} are hardly ever used with {spec.title}.",
            recipe_fix(
                f"Set the learning rate to {high.suggested:g}", learning_rate=high.suggested
            ),
        )


def _check_judging(recipe: TrainingRecipe) -> Iterator[Problem]:
    """Values that are decided by, and are not measured."""
    users = {
        "the best epoch": recipe.keep == "best",
        "early stopping": recipe.early_stopping_patience is not None,
        "the learning rate": recipe.schedule_spec.follows_metric,
    }
    decided = " and ".join(words for words, is_on in users.items() if is_on)
    if decided and recipe.validation == "none" and recipe.keep_by != "loss":
        yield recipe_problem(
            "warning",
            "No validation",
            f"Without validation, a training metric decides on {decided}. It also "
            "improves when the model overfits.",
            recipe_fix("Hold out a validation split", validation="split"),
        )


def _check_top_k(recipe: TrainingRecipe, num_classes: int | None) -> Iterator[Problem]:
    if recipe.keep_by == "top_k" and recipe.top_k == 1:
        yield recipe_problem(
            "hint",
            "Top-k accuracy is not measured",
            "The monitored metric is top-k accuracy with k = 1, which is plain accuracy.",
            recipe_fix("Monitor validation accuracy", keep_by="val_accuracy"),
            recipe_fix("Set top-k to 5", top_k=5),
        )
    if num_classes is not None and num_classes <= recipe.top_k and recipe.top_k > 1:
        yield recipe_problem(
            "warning",
            "Top-k accuracy is always 100%",
            f"With {num_classes:,} classes, the label is always among the top {recipe.top_k:,}.",
            recipe_fix("Set top-k to 1", top_k=1),
        )


def _check_lengths(recipe: TrainingRecipe) -> Iterator[Problem]:
    """What is to happen after more epochs than there are."""
    epochs = f"there are only {recipe.epochs:,}" if recipe.epochs > 1 else "there is only one"
    patience, warm_up = recipe.early_stopping_patience, recipe.warmup_epochs
    longest = max(phase.end_epoch - phase.first_epoch for phase in phases_of(recipe))
    if patience is not None and patience >= longest:
        fewer = f"no phase has more than {longest:,}" if recipe.has_fine_tuning else epochs
        yield recipe_problem(
            "hint",
            "Early stopping has no effect",
            f"The patience is {patience:,} epochs, but {fewer}.",
            recipe_fix("Turn early stopping off", early_stopping_patience=None),
        )
    if recipe.validation != "none" and recipe.validation_freq > recipe.epochs:
        yield recipe_problem(
            "warning",
            "No epoch is validated",
            f"Validation comes every {recipe.validation_freq:,} epochs, but {epochs}.",
            recipe_fix("Validate after each epoch", validation_freq=1),
        )
    if warm_up is not None and warm_up >= recipe.epochs:
        yield recipe_problem(
            "warning",
            "Warm-up longer than the training",
            f"The warm-up takes {warm_up:g} epochs, but {epochs}: the learning rate "
            "never reaches its full value.",
            recipe_fix("Set the warm-up to automatic", warmup_epochs=None),
        )
    spec = recipe.schedule_spec
    after = None if spec.first_decay is None else spec.first_decay(recipe.values_of(spec))
    if after is not None and after >= recipe.epochs:
        other = next(spec for spec in all_schedules().values() if spec.spans_training)
        yield recipe_problem(
            "warning",
            "The learning rate never decays",
            f"The first decay comes after {after:g} epochs, but {epochs}.",
            recipe_fix(f"Use {other.text}", schedule=other.key),
        )


def _check_labels(recipe: TrainingRecipe) -> Iterator[Problem]:
    if recipe.mixing != "none" and recipe.class_weights != "none":
        yield recipe_problem(
            "hint",
            "Mixup weakens class weights",
            "Most mixed images contain a common class, so rare classes count less than "
            "their class weights say.",
            recipe_fix("Turn mixup off", mixing="none"),
            recipe_fix("Remove the class weights", class_weights="none"),
        )
    if recipe.label_smoothing >= _MUCH_SMOOTHING:
        yield recipe_problem(
            "warning",
            "Very high label smoothing",
            f"{recipe.label_smoothing:.0%} of each label is spread over all classes: "
            "little of the label remains.",
            recipe_fix("Set label smoothing to 0.1", label_smoothing=0.1),
        )
