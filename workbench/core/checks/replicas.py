"""Findings about a batch that replicas share, and about batches of thousands; none stops
training.

The figures are those of Goyal et al. (2017): rates in proportion and a warm-up of five epochs
carry SGD up to 8,192 pictures a step; beyond, layers need rates of their own (LARS, LAMB).
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.checks.problems import Fix, Problem, Severity
from workbench.core.specs import TargetLimits
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.schedules import warm_up_steps

LEAST_PER_REPLICA = 8
"""Pictures: a TPU computes in rows of eight, and fills up what is missing."""

MOST_WITHOUT_LAYER_RATES = 8_192
"""Pictures a step that SGD and its like learn from as well as from few."""

_LAYER_RATES = frozenset({"lamb", "lars"})
_LARGE = 4  # times the batch that the rate is meant for
_WARM_UP_EPOCHS = 5.0
_LARS_LEAST_RATE = 0.5
_LARS_RATE = 2.0


def check_split(recipe: TrainingRecipe, limits: TargetLimits) -> Iterator[Problem]:
    """What a person would want to know of the batch before training on a target.

    Args:
        recipe: How it will be trained.
        limits: What the target says of itself.
    """
    if limits.replicas > 1:
        yield from _check_sharing(recipe, limits.replicas)
    yield from _check_large(recipe)
    yield from _check_lars(recipe)


def _problem(severity: Severity, title: str, message: str, *fixes: Fix) -> Problem:
    return Problem(None, severity, title, message, fixes)


def _set(title: str, **values: object) -> Fix:
    return Fix("_".join(["set", *values]), title, lambda graph: graph, values)


def _set_batch(batch_size: int) -> Fix:
    return _set(f"Set the batch size to {batch_size:,}", batch_size=batch_size)


def _check_sharing(recipe: TrainingRecipe, replicas: int) -> Iterator[Problem]:
    batch_size = recipe.batch_size
    each = batch_size // replicas
    if each < LEAST_PER_REPLICA:
        fewer = f"{each:,} of {batch_size:,} pictures" if each else "less than one picture"
        yield _problem(
            "warning",
            "Few pictures for each replica",
            f"{replicas:,} replicas share each batch: {fewer} for one. Below "
            f"{LEAST_PER_REPLICA} they wait for each other more than they compute.",
            _set_batch(LEAST_PER_REPLICA * replicas),
        )
    elif batch_size % replicas:
        lower, upper = each * replicas, (each + 1) * replicas
        yield _problem(
            "warning",
            "The batch cannot be shared evenly",
            f"{replicas:,} replicas share each batch of {batch_size:,} pictures, all alike: "
            f"{lower:,} would be trained with.",
            _set_batch(lower),
            _set_batch(upper),
        )


def _check_large(recipe: TrainingRecipe) -> Iterator[Problem]:
    batch_size, warms_up = recipe.batch_size, _warms_up(recipe)
    has_layer_rates = recipe.optimizer in _LAYER_RATES
    if batch_size > MOST_WITHOUT_LAYER_RATES and not (has_layer_rates and warms_up):
        missing = [] if has_layer_rates else ["an optimizer with a rate for each layer"]
        missing += [] if warms_up else ["a warm-up"]
        values = {} if has_layer_rates else {"optimizer": "lamb"}
        yield _problem(
            "warning",
            "A very large batch",
            f"With {batch_size:,} pictures a step most trainings end less accurate, or diverge, "
            f"without {' and '.join(missing)}.",
            *_ways_to_warm_up(recipe, **values),
            _set_batch(MOST_WITHOUT_LAYER_RATES),
        )
    elif batch_size > _LARGE * recipe.rate_base_batch and not warms_up:
        yield _problem(
            "hint",
            "A large batch without a warm-up",
            f"{batch_size:,} pictures a step are more than {_LARGE} times the "
            f"{recipe.rate_base_batch:,} that rates are usually meant for: larger steps are "
            "wanted, and the first ones then lead astray.",
            *_ways_to_warm_up(recipe),
            *_ways_to_scale(recipe),
        )


def _warms_up(recipe: TrainingRecipe) -> bool:
    # Of a long run: how many steps there are is not known here.
    return warm_up_steps(recipe, total_steps=100_000, steps_per_epoch=1_000) > 0


def _ways_to_warm_up(recipe: TrainingRecipe, **values: object) -> tuple[Fix, ...]:
    """Climbing for five epochs, or half of a training that is short."""
    epochs = min(_WARM_UP_EPOCHS, recipe.epochs / 2)
    words = "1 epoch" if epochs == 1 else f"{epochs:g} epochs"
    titles = ["Train with LAMB"] if "optimizer" in values else []
    if not _warms_up(recipe):
        values = {**values, "warmup_epochs": epochs}
        titles.append(f"warm up for {words}")
    title = " and ".join(titles)
    return (_set(title[0].upper() + title[1:], **values),)


def _ways_to_scale(recipe: TrainingRecipe) -> tuple[Fix, ...]:
    if recipe.rate_scaling != "none":
        return ()
    is_plain = recipe.optimizer in {"sgd", "lars"}
    scaling, how = ("linear", "in proportion") if is_plain else ("square_root", "by the root")
    return (_set(f"Scale the rate with the batch, {how}", rate_scaling=scaling),)


def _check_lars(recipe: TrainingRecipe) -> Iterator[Problem]:
    """A thousandth of the weights' size is a step of LARS at a rate of 1."""
    if recipe.optimizer == "lars" and recipe.peak_rate < _LARS_LEAST_RATE:
        yield _problem(
            "hint",
            "A small rate for LARS",
            f"At a rate of {recipe.peak_rate:g}, a step of LARS moves the weights by "
            f"{recipe.peak_rate / 10:.2g} % of their size. Rates of 1 to 30 are usual.",
            _set(
                f"Set the learning rate to {_LARS_RATE:g}",
                learning_rate=_LARS_RATE,
                rate_scaling="none",
            ),
        )
