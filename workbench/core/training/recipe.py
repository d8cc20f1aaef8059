"""How to train: the recipe as a value, and what of it the optimizer is told."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from workbench.core.params import check_all
from workbench.core.training.recipe_params import OPTIMIZERS, RECIPE_PARAMS
from workbench.errors import ParamError

__all__ = [
    "OPTIMIZERS",
    "RECIPE_PARAMS",
    "TrainingRecipe",
    "recipe_from",
    "recipe_to_plain",
    "value_from_text",
]

_FIRST_FIELDS = frozenset(
    {
        "optimizer",
        "learning_rate",
        "schedule",
        "batch_size",
        "epochs",
        "steps_per_epoch",
        "validation",
        "validation_share",
        "test_share",
        "keep",
        "momentum",
        "nesterov",
        "weight_decay",
        "precision",
        "seed",
    }
)
"""Fields of the first project files, which are always written."""


FEW_PER_REPLICA = 32
"""Pictures whose statistics are too uncertain to normalize by."""


class TrainingRecipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """One way to train; fields are the parameters above, same names, same defaults."""

    optimizer: str = "adam"
    learning_rate: float = 0.001
    schedule: str = "constant"
    batch_size: int = 64
    epochs: int = 10
    steps_per_epoch: int | None = None
    validation: str = "split"
    validation_share: float = 0.1
    test_share: float = 0.1
    keep: str = "last"
    momentum: float = 0.9
    nesterov: bool = False
    weight_decay: float | None = None
    precision: str = "auto"
    seed: int = 7
    warmup_epochs: float | None = None
    final_share: float = 0.01
    decay_every_epochs: float = 10.0
    decay_factor: float = 0.1
    plateau_patience: int = 5
    loss: str = "cross_entropy"
    focal_gamma: float = 2.0
    label_smoothing: float = 0.0
    class_weights: str = "none"
    decay_biases: bool = True
    clip_norm: float | None = None
    ema_decay: float | None = None
    mixing: str = "none"
    mixing_alpha: float = 0.2
    random_erasing: float = 0.0
    top_k: int = 1
    early_stopping_patience: int | None = None
    keep_by: str = "val_accuracy"
    xla: str = "auto"
    steps_per_call: int | None = None
    pipeline: str = "auto"
    threads: int | None = None
    sync_batch_norm: str = "auto"
    rate_scaling: str = "none"
    rate_base_batch: int = 256

    @property
    def peak_rate(self) -> float:
        """The learning rate at its full size for this batch; what schedules are shares of."""
        share = self.batch_size / self.rate_base_batch
        return self.learning_rate * _SCALES[self.rate_scaling](share)

    @property
    def has_weight_decay(self) -> bool:
        """The weights are pulled towards zero."""
        if self.weight_decay is None:
            return self.optimizer in _DECAYING
        return self.weight_decay > 0

    def syncs_batch_norm(self, batch_size: int, replicas: int) -> bool:
        """Whether replicas normalize by the whole batch rather than by their part of it."""
        if self.sync_batch_norm == "auto":
            return replicas > 1 and batch_size // replicas < FEW_PER_REPLICA
        return replicas > 1 and self.sync_batch_norm == "on"

    def is_used(self, key: str) -> bool:
        """False for a parameter that changes nothing beside the values of the others."""
        uses = _USES.get(key)
        return uses is None or uses(self)

    def with_values(self, **values: Any) -> TrainingRecipe:
        """A recipe with some values changed; raises ParamError for a wrong one."""
        recipe, errors = recipe_from({**msgspec.structs.asdict(self), **values})
        if errors:
            raise errors[0]
        return recipe

    def optimizer_arguments(self) -> dict[str, Any]:
        """What the Keras optimizer is given beside the learning rate; nothing that is its
        own default.
        """
        arguments: dict[str, Any] = {}
        if self.optimizer in _WITH_MOMENTUM and self.momentum:
            arguments["momentum"] = self.momentum
        if self.optimizer == "sgd" and self.nesterov:
            arguments["nesterov"] = True
        # These have a decay of their own, which a 0 must be able to turn off.
        if self.weight_decay or (self.weight_decay == 0 and self.optimizer in _DECAYING):
            arguments["weight_decay"] = self.weight_decay
            if self.optimizer == "muon":  # what is no matrix is trained by its own AdamW
                arguments["adam_weight_decay"] = self.weight_decay
        if self.optimizer == "adafactor":
            arguments["relative_step"] = False  # the learning rate is the schedule's
        if self.ema_decay is not None:
            arguments |= {"use_ema": True, "ema_momentum": self.ema_decay}
        return arguments


def recipe_from(values: Mapping[str, Any]) -> tuple[TrainingRecipe, list[ParamError]]:
    """A recipe from plain values, and what is wrong with them (defaults stand in)."""
    checked, errors = check_all(RECIPE_PARAMS, values)
    return TrainingRecipe(**checked), errors


def value_from_text(key: str, text: str) -> Any:
    """A parameter's value as typed: 0.1, 1e-3, yes, cosine; "none" for leaving it open.

    Raises:
        ParamError: there is no such parameter, or the value is not allowed.
    """
    param = next((param for param in RECIPE_PARAMS if param.key == key), None)
    if param is None:
        raise ParamError(
            f'A recipe has no "{key}".',
            where=key,
            received=key,
            expected="one of " + ", ".join(param.key for param in RECIPE_PARAMS),
            fix="Correct the name.",
        )
    return param.check(_READ.get(param.kind, str)(text.strip()))


def _number(text: str) -> float | str | None:
    if text.lower() in {"none", "automatic"}:
        return None
    try:
        return float(text)
    except ValueError:
        return text  # refused by the parameter, in its words


def _truth(text: str) -> bool | str:
    return {"yes": True, "true": True, "no": False, "false": False}.get(text.lower(), text)


_READ: Mapping[str, Callable[[str], Any]] = {"int": _number, "float": _number, "bool": _truth}


def recipe_to_plain(recipe: TrainingRecipe) -> dict[str, Any]:
    """The values for a file: those that came later only where they are not their default, so
    that files stay short and those of earlier versions stay as they are.
    """
    values = msgspec.structs.asdict(recipe)
    defaults = msgspec.structs.asdict(TrainingRecipe())
    return {
        key: value
        for key, value in values.items()
        if key in _FIRST_FIELDS or value != defaults[key]
    }


_WITH_MOMENTUM = frozenset({"sgd", "rmsprop", "lars"})
"""Optimizers that take a momentum."""

_DECAYING = frozenset({"adamw", "muon"})
"""Optimizers whose Keras default is a weight decay above zero."""

_SCALES: Mapping[str, Callable[[float], float]] = {
    "none": lambda _share: 1.0,
    "linear": lambda share: share,
    "square_root": math.sqrt,
}
"""Scaling -> what a rate is multiplied with for so many times the batch it is meant for."""

_USES: Mapping[str, Callable[[TrainingRecipe], bool]] = {
    "momentum": lambda recipe: recipe.optimizer in _WITH_MOMENTUM,
    "nesterov": lambda recipe: recipe.optimizer == "sgd",
    "validation_share": lambda recipe: recipe.validation == "split",
    "final_share": lambda recipe: recipe.schedule in {"cosine", "one_cycle"},
    "decay_every_epochs": lambda recipe: recipe.schedule in {"step", "exponential"},
    "decay_factor": lambda recipe: recipe.schedule in {"step", "exponential", "plateau"},
    "plateau_patience": lambda recipe: recipe.schedule == "plateau",
    "decay_biases": lambda recipe: recipe.has_weight_decay,
    "focal_gamma": lambda recipe: recipe.loss == "focal",
    "mixing_alpha": lambda recipe: recipe.mixing != "none",
    "rate_base_batch": lambda recipe: recipe.rate_scaling != "none",
}
"""When a parameter matters; those that are not here always do."""
