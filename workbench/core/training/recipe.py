"""How to train: the recipe as a value, and what of it the optimizer is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from workbench.core.params import Param, check_all, read_value
from workbench.core.training.fields.basics import BasicFields, CheckpointFields, DividingFields
from workbench.core.training.fields.schedule import (
    SCALES,
    AugmentationFields,
    ExecutionFields,
    FineTuningFields,
    RegularizationFields,
    ScheduleFields,
)
from workbench.core.training.fields.setting import PLUG_INS, declared
from workbench.core.training.losses import all_losses
from workbench.core.training.optimizers import all_optimizers
from workbench.core.training.schedules import all_schedules
from workbench.core.training.specs import LossSpec, OptimizerSpec, ScheduleSpec, TrainingSpec
from workbench.errors import ParamError

FINE_TUNING_SHARE = 0.01
"""Learning rate of fine-tuning as a share of the learning rate, where the recipe has none."""

SPLIT_KEYS = (
    "validation",
    "validation_share",
    "test_share",
    "seed",
    *(each.name for each in fields(DividingFields)),
)
"""The fields that decide how the images are divided."""

FEW_PER_REPLICA = 32
"""Images whose statistics are too uncertain to normalize by."""


@dataclass(frozen=True, kw_only=True)
class TrainingRecipe(
    # From the last section to the first: so a dataclass has its fields in the order of the form.
    ExecutionFields,
    CheckpointFields,
    FineTuningFields,
    AugmentationFields,
    RegularizationFields,
    ScheduleFields,
    DividingFields,
    BasicFields,
):
    """One way to train. Its fields are declared in `fields/`, section by section."""

    @property
    def optimizer_spec(self) -> OptimizerSpec:
        """The optimizer's plug-in."""
        return all_optimizers()[self.optimizer]

    @property
    def schedule_spec(self) -> ScheduleSpec:
        """The schedule's plug-in."""
        return all_schedules()[self.schedule]

    @property
    def loss_spec(self) -> LossSpec:
        """The loss's plug-in."""
        return all_losses()[self.loss]

    def values_of(self, spec: TrainingSpec) -> dict[str, Any]:
        """The values of the parameters that a plug-in uses, by key."""
        return {key: getattr(self, key) for key in spec.uses}

    @property
    def peak_rate(self) -> float:
        """The learning rate at its full size for this batch; what schedules are shares of."""
        share = self.batch_size / self.rate_base_batch
        return self.learning_rate * SCALES[self.rate_scaling](share)

    @property
    def head_epochs(self) -> int:
        """Epochs before fine-tuning: all of them where there is none."""
        return min(self.fine_tuning_after or self.epochs, self.epochs)

    def validates(self, epoch: int) -> bool:
        """Whether there is a validation after an epoch, numbered from 1."""
        return self.validation != "none" and epoch % self.validation_freq == 0

    @property
    def judged_every(self) -> int:
        """Epochs from one value of `keep_by` to the next."""
        is_of_training = self.validation == "none" or self.keep_by == "loss"
        return 1 if is_of_training else self.validation_freq

    @property
    def has_fine_tuning(self) -> bool:
        """Whether the last epochs are fine-tuning."""
        return self.head_epochs < self.epochs

    @property
    def may_cache_features(self) -> bool:
        """Whether frozen layers may be computed ahead: mixtures of images are new in each step."""
        is_mixed = self.mixing != "none" or self.random_erasing > 0
        return self.feature_cache == "auto" and not is_mixed

    def in_fine_tuning(self) -> TrainingRecipe:
        """The recipe of the fine-tuning phase alone."""
        rate = self.fine_tuning_rate or self.learning_rate * FINE_TUNING_SHARE
        epochs = self.epochs - self.head_epochs
        return replace(self, learning_rate=rate, epochs=epochs, fine_tuning_after=None)

    def split_values(self) -> dict[str, Any]:
        """The values that decide how the images are divided, by key."""
        return {key: getattr(self, key) for key in SPLIT_KEYS}

    @property
    def has_weight_decay(self) -> bool:
        """The weights are pulled towards zero."""
        if self.weight_decay is None:
            return self.optimizer_spec.default_decay > 0
        return self.weight_decay > 0

    def syncs_batch_norm(self, batch_size: int, replicas: int) -> bool:
        """Whether replicas normalize by the whole batch rather than by their part of it."""
        if self.sync_batch_norm == "auto":
            return replicas > 1 and batch_size // replicas < FEW_PER_REPLICA
        return replicas > 1 and self.sync_batch_norm == "on"

    def is_used(self, key: str) -> bool:
        """False for a parameter that changes nothing beside the values of the others."""
        setting, _ = _DECLARED[key]
        if setting.used_if is not None:
            return setting.used_if(self)
        specs = (self.optimizer_spec, self.schedule_spec, self.loss_spec)
        return key not in _PLUG_IN_KEYS or any(key in spec.uses for spec in specs)

    def with_values(self, **values: Any) -> TrainingRecipe:
        """A recipe with some values changed; raises ParamError for a wrong one."""
        recipe, errors = recipe_from({**asdict(self), **values})
        if errors:
            raise errors[0]
        return recipe

    def optimizer_arguments(self) -> dict[str, Any]:
        """What the Keras optimizer is given beside the learning rate; nothing that is its
        own default.
        """
        spec = self.optimizer_spec
        arguments = spec.arguments(self.values_of(spec))
        # An optimizer with a decay of its own must be able to do without: 0 turns it off.
        if self.weight_decay or (self.weight_decay == 0 and spec.default_decay):
            arguments |= dict.fromkeys(spec.decay_arguments, self.weight_decay)
        if self.ema_decay is not None:
            arguments |= {"use_ema": True, "ema_momentum": self.ema_decay}
        return arguments


_DECLARED = declared(
    BasicFields,
    DividingFields,
    ScheduleFields,
    RegularizationFields,
    AugmentationFields,
    FineTuningFields,
    CheckpointFields,
    ExecutionFields,
)
_PLUG_IN_KEYS = frozenset(key for specs in PLUG_INS for spec in specs.values() for key in spec.uses)

RECIPE_PARAMS: tuple[Param, ...] = tuple(param for _, param in _DECLARED.values())
"""The parameters of all fields, in the order of the form."""


def recipe_from(values: Mapping[str, Any]) -> tuple[TrainingRecipe, list[ParamError]]:
    """A recipe from plain values, and what is wrong with them (defaults replace those)."""
    checked, errors = check_all(RECIPE_PARAMS, values)
    return TrainingRecipe(**checked), errors


def value_from_text(key: str, text: str) -> Any:
    """A parameter's value as typed: 0.1, 1e-3, yes, cosine; "none" for leaving it open.

    Raises:
        ParamError: there is no such parameter, or the value is not allowed.
    """
    if key not in _DECLARED:
        raise ParamError(
            f'There is no training setting "{key}".',
            where=key,
            received=key,
            expected="one of " + ", ".join(_DECLARED),
            fix="Correct the name.",
        )
    _, param = _DECLARED[key]
    return read_value(param, text)


def recipe_to_plain(recipe: TrainingRecipe) -> dict[str, Any]:
    """The values for a file: those that came later only where they are not their default, so
    that files stay short and those of earlier versions stay as they are.
    """
    first = sorted((setting.place, key) for key, (setting, _) in _DECLARED.items() if setting.place)
    values = {key: getattr(recipe, key) for _, key in first}
    for key, (_, param) in _DECLARED.items():
        value = getattr(recipe, key)
        if value != param.default:
            values[key] = value
    return values
