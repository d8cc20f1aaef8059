"""The training of exported programs: a recipe in Keras's own terms.

What Keras has a name for is called by it; what it has none for (a warm-up before any
schedule) is a small class in the program; what differs is named in a comment.
"""

from __future__ import annotations

from typing import Any

from workbench.core.training.fields.schedule import SCALINGS
from workbench.core.training.optimizers import NOT_DECAYED
from workbench.core.training.recipe import RECIPE_PARAMS, TrainingRecipe
from workbench.core.training.specs import Code, TrainingSpec
from workbench.programs.code import call, literal
from workbench.programs.texts import sections

_EPOCHS = frozenset(param.key for param in RECIPE_PARAMS if param.unit == "epochs")


class TrainingText:
    """Writes the training of one recipe.

    Args:
        recipe: The recipe.
        is_logits: The network ends without softmax.
        has_own_loop: The program has a loop of its own instead of Keras's fit: it sets
            the optimizer's `steps` per epoch, and clips gradients itself.
    """

    def __init__(
        self, recipe: TrainingRecipe, *, is_logits: bool, has_own_loop: bool = False
    ) -> None:
        self._recipe = recipe
        self._is_logits = is_logits
        self._has_own_loop = has_own_loop

    def values(self) -> dict[str, Any]:
        """What the programs are filled with, by the names in their texts."""
        recipe, smoothing = self._recipe, self._recipe.label_smoothing
        is_cutmix = recipe.mixing == "cutmix"
        return {
            "seed": recipe.seed,
            "batch_size": recipe.batch_size,
            "validation_share": literal(recipe.validation_share),
            "top_k": recipe.top_k,
            "has_top_k": recipe.top_k > 1,
            "is_balanced": recipe.class_weights == "balanced",
            "is_one_hot": self.is_one_hot,
            "is_smoothed": smoothing,
            "kept": literal(1 - smoothing),
            "spread": literal(smoothing),
            "erases": recipe.random_erasing,
            "erase": self._erase() if recipe.random_erasing else "",
            "mixes": recipe.mixing != "none",
            "mix": self._mix() if recipe.mixing != "none" else "",
            "cuts_other_share": is_cutmix and recipe.mixing_alpha != 1.0,
            "alpha": literal(recipe.mixing_alpha),
            "follows_metric": recipe.schedule_spec.follows_metric,
            "helpers": self._helpers(),
            "optimizer": self.optimizer,
        }

    @property
    def is_one_hot(self) -> bool:
        """Whether the loss gets shares of classes instead of class numbers."""
        recipe = self._recipe
        is_sparse = recipe.loss_spec.compute_sparse is not None and not recipe.label_smoothing
        return not is_sparse or recipe.mixing != "none"

    @property
    def loss_code(self) -> Code:
        """The loss: a class of Keras, or a function of the helpers."""
        spec = self._recipe.loss_spec
        return spec.code(
            self._sources(spec), is_logits=self._is_logits, is_sparse=not self.is_one_hot
        )

    @property
    def _indent(self) -> int:
        """Indentation, in spaces, of the lines that make layers for the batches: inside a function
        where Keras fits.
        """
        return 0 if self._has_own_loop else 4

    def _erase(self) -> str:
        share = literal(self._recipe.random_erasing)
        words = [f"({share}, {share})", "fill_value=127.5", f"seed={self._recipe.seed}"]
        return call("erase = layers.RandomErasing", words, indent=self._indent)

    def _mix(self) -> str:
        seed = f"seed={self._recipe.seed}"
        if self._recipe.mixing == "mixup":
            words = [literal(self._recipe.mixing_alpha), seed]
            return call("mix = layers.MixUp", words, indent=self._indent)
        return call("mix = layers.CutMix", [seed], indent=self._indent)

    def _helpers(self) -> str:
        """Classes and functions that the training needs, above it."""
        needs_class = self._climbs and not self._recipe.schedule_spec.has_keras_warm_up
        texts = [
            self._recipe.optimizer_spec.definition,
            sections("parts.py")["warm_up"] if needs_class else "",
            self._schedule.definition if self._schedule is not None else "",
            self.loss_code.definition,
        ]
        return "".join(f"{text}\n\n" for text in texts if text)

    def _sources(self, spec: TrainingSpec) -> dict[str, str]:
        """The values that a plug-in uses, as source."""
        values = self._recipe.values_of(spec)
        return {key: (_short if key in _EPOCHS else literal)(values[key]) for key in values}

    @property
    def _climbs(self) -> bool:
        recipe = self._recipe
        if recipe.schedule_spec.follows_metric:
            return False
        if recipe.warmup_epochs is None:
            return recipe.schedule_spec.warm_up_share > 0
        return recipe.warmup_epochs > 0

    @property
    def optimizer(self) -> str:
        """The schedule and the optimizer, in lines of a function."""
        recipe = self._recipe
        rate, lines = self._rate()
        if recipe.rate_scaling != "none":
            how = SCALINGS[recipe.rate_scaling]
            meant = f"{literal(recipe.learning_rate)} for a batch of {recipe.rate_base_batch}"
            lines.insert(0, f"    # The rate is {meant}; its scaling is {how}.")
        words = [f"{key}={literal(value)}" for key, value in recipe.optimizer_arguments().items()]
        if recipe.clip_norm is not None and not self._has_own_loop:
            words.append(f"global_clipnorm={literal(recipe.clip_norm)}")
        start = f"optimizer = {recipe.optimizer_spec.source_name}"
        lines.append(call(start, [rate, *words], indent=4))
        if not recipe.decay_biases and recipe.has_weight_decay:
            names = ", ".join(literal(name) for name in NOT_DECAYED)
            exclude = "optimizer.exclude_from_weight_decay"
            lines.append(call(exclude, [f"var_names=[{names}]"], indent=4))
        return "\n".join(lines)

    @property
    def _schedule(self) -> Code | None:
        """The schedule behind the warm-up; None for a constant rate."""
        spec = self._recipe.schedule_spec
        if spec.code is None:
            return None
        total = "max(1, total - warm_up)" if self._climbs else "total"
        return spec.code(self._sources(spec), literal(self._recipe.peak_rate), total)

    def _rate(self) -> tuple[str, list[str]]:
        """The learning rate as an argument, and the lines that make it."""
        recipe, spec, code = self._recipe, self._recipe.schedule_spec, self._schedule
        rate = literal(recipe.peak_rate)
        if code is None and not self._climbs:
            lines = []
            if spec.follows_metric and recipe.warmup_epochs:
                lines = ["    # Without the warm-up: ReduceLROnPlateau changes plain rates only."]
            return rate, lines
        lines, follow = self._sizes(), f"lambda step: {rate}"
        if code is not None:
            kind = f"{'' if code.definition else 'keras.optimizers.schedules.'}{code.name}"
            if not self._climbs or spec.has_keras_warm_up:
                words = self._with_warm_up(code, rate) if self._climbs else code.arguments
                return "rate", [*lines, call(f"rate = {kind}", words, indent=4)]
            lines.append(call(f"falling = {kind}", code.arguments, indent=4))
            is_whole = spec.counts_warm_up
            follow = "falling" if is_whole else "lambda step: falling(step - warm_up)"
        start = f"{rate} / {spec.start_divisor or '(warm_up + 1)'}"
        return "rate", [*lines, call("rate = WarmUp", [start, rate, "warm_up", follow], indent=4)]

    def _with_warm_up(self, code: Code, rate: str) -> list[str]:
        """The arguments of a schedule of Keras that has a warm-up of its own."""
        start = [f"{rate} / (warm_up + 1)", *code.arguments[1:]]
        return [*start, f"warmup_target={rate}", "warmup_steps=warm_up"]

    def _sizes(self) -> list[str]:
        recipe, spec = self._recipe, self._recipe.schedule_spec
        steps = recipe.steps_per_epoch or f"-(-len(x_train) // {recipe.batch_size})"
        lines = [] if self._has_own_loop else [f"    steps = {steps}  # of an epoch"]
        if self._climbs or spec.spans_training:
            lines.append(f"    total = {recipe.epochs} * steps")
        if self._climbs and recipe.warmup_epochs is None:
            lines.append(f"    warm_up = int({spec.warm_up_share} * total)")
        elif self._climbs:
            epochs = _short(recipe.warmup_epochs or 0.0)
            lines.append(f"    warm_up = min(total, round({epochs} * steps))")
        return lines


def _short(number: float) -> str:
    """A number of epochs, without a point where it is whole."""
    return literal(int(number) if number == int(number) else number)
