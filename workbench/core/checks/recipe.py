"""Findings about a recipe whose values do not go together; none stops training."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.checks.problems import Fix, Problem, recipe_fix, recipe_problem
from workbench.core.format import epochs_text
from workbench.core.specs import TargetLimits
from workbench.core.training.learning_rates import warm_up_steps
from workbench.core.training.optimizers import all_optimizers
from workbench.core.training.progress_rules import phases_of
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.schedules import all_schedules
from workbench.core.training.specs import OptimizerSpec

# replicas ------------------------------------------------------------------------------------
# Findings about a batch that replicas share, and about batches of thousands; none stops
# training.
#
# The figures are those of Goyal et al. (2017): rates in proportion and a warm-up of five epochs
# carry SGD up to 8,192 images per step; beyond, layers need rates of their own (LARS, LAMB).

LEAST_PER_REPLICA = 8
"""Images: a TPU computes in rows of eight, and fills up what is missing."""

MOST_WITHOUT_LAYER_RATES = 8_192
"""Images per step that SGD and its like learn from as well as from few."""

_LARGE = 4  # times the batch that the rate is meant for
_WARM_UP_EPOCHS = 5.0


def check_split(recipe: TrainingRecipe, limits: TargetLimits) -> Iterator[Problem]:
    """Findings about the batch that matter before training on a target."""
    if limits.replicas > 1:
        yield from _check_sharing(recipe, limits.replicas)
    yield from _check_large(recipe)
    yield from _check_rate(recipe)


def _set_batch(batch_size: int) -> Fix:
    return recipe_fix(f"Set the batch size to {batch_size:,}", batch_size=batch_size)


def _check_sharing(recipe: TrainingRecipe, replicas: int) -> Iterator[Problem]:
    batch_size = recipe.batch_size
    each = batch_size // replicas
    if each < LEAST_PER_REPLICA:
        fewer = f"{each:,} of {batch_size:,} images" if each else "less than one image"
        yield recipe_problem(
            "warning",
            "Few images per replica",
            f"Each of the {replicas:,} replicas gets {fewer}. Below {LEAST_PER_REPLICA}, "
            "synchronization takes longer than computing.",
            _set_batch(LEAST_PER_REPLICA * replicas),
        )
    elif batch_size % replicas:
        lower, upper = each * replicas, (each + 1) * replicas
        yield recipe_problem(
            "warning",
            "Batch not divisible by the replicas",
            f"{batch_size:,} does not divide by {replicas:,} replicas: {lower:,} of each "
            "batch would be used.",
            _set_batch(lower),
            _set_batch(upper),
        )


def _check_large(recipe: TrainingRecipe) -> Iterator[Problem]:
    batch_size, warms_up = recipe.batch_size, _warms_up(recipe)
    has_layer_rates = recipe.optimizer_spec.has_layer_rates
    if batch_size > MOST_WITHOUT_LAYER_RATES and not (has_layer_rates and warms_up):
        missing = [] if has_layer_rates else ["an optimizer with layer-wise rates"]
        missing += [] if warms_up else ["warm-up"]
        other = next(spec for spec in all_optimizers().values() if spec.has_layer_rates)
        yield recipe_problem(
            "warning",
            "Very large batch",
            f"With {batch_size:,} images per step, most models lose accuracy or diverge "
            f"without {' and '.join(missing)}.",
            *_ways_to_warm_up(recipe, None if has_layer_rates else other),
            _set_batch(MOST_WITHOUT_LAYER_RATES),
        )
    elif batch_size > _LARGE * recipe.rate_base_batch and not warms_up:
        yield recipe_problem(
            "hint",
            "Large batch without warm-up",
            f"A batch of {batch_size:,} is more than {_LARGE} times the reference batch "
            f"size of {recipe.rate_base_batch:,}. The higher learning rate it needs is "
            "unstable in the first steps.",
            *_ways_to_warm_up(recipe),
            *_ways_to_scale(recipe),
        )


def _warms_up(recipe: TrainingRecipe) -> bool:
    # Of a long run: how many steps there are is not known here.
    return warm_up_steps(recipe, total_steps=100_000, steps_per_epoch=1_000) > 0


def _ways_to_warm_up(
    recipe: TrainingRecipe, optimizer: OptimizerSpec | None = None
) -> tuple[Fix, ...]:
    """Climbing for five epochs, or half of a training that is short."""
    epochs = min(_WARM_UP_EPOCHS, recipe.epochs / 2)
    values: dict[str, object] = {}
    titles = []
    if optimizer is not None:
        values, titles = {"optimizer": optimizer.key}, [f"Use {optimizer.title}"]
    if not _warms_up(recipe):
        values["warmup_epochs"] = epochs
        titles.append(f"warm up for {epochs_text(epochs)}")
    title = " and ".join(titles)
    return (recipe_fix(title[0].upper() + title[1:], **values),)


def _ways_to_scale(recipe: TrainingRecipe) -> tuple[Fix, ...]:
    if recipe.rate_scaling != "none":
        return ()
    scaling = recipe.optimizer_spec.rate_scaling
    how = "linearly" if scaling == "linear" else "by the square root"
    return (recipe_fix(f"Scale the learning rate with the batch, {how}", rate_scaling=scaling),)


def _check_rate(recipe: TrainingRecipe) -> Iterator[Problem]:
    spec, low = recipe.optimizer_spec, recipe.optimizer_spec.low_rate
    if low is not None and recipe.peak_rate < low.below:
        yield recipe_problem(
            "hint",
            f"Low learning rate for {spec.title}",
            low.reason(recipe.peak_rate),
            recipe_fix(
                f"Set the learning rate to {low.suggested:g}",
                learning_rate=low.suggested,
                rate_scaling="none",
            ),
        )


# recipe --------------------------------------------------------------------------------------

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
