"""Findings about a batch that replicas share, and about batches of thousands; none stops
training.

The figures are those of Goyal et al. (2017): rates in proportion and a warm-up of five epochs
carry SGD up to 8,192 images per step; beyond, layers need rates of their own (LARS, LAMB).
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.checks.problems import Fix, Problem, recipe_fix, recipe_problem
from workbench.core.format import epochs_text
from workbench.core.specs import TargetLimits
from workbench.core.training.learning_rates import warm_up_steps
from workbench.core.training.optimizers import all_optimizers
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.specs import OptimizerSpec

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
