"""The training of exported programs: a recipe in Keras's own terms.

What Keras has a name for is called by it; what it has none for (a warm-up before any
schedule) is a small class in the program; what differs is named in a comment.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.core.specs import Role
from workbench.core.training.fields.schedule import SCALINGS
from workbench.core.training.optimizers import NOT_DECAYED
from workbench.core.training.recipe import RECIPE_PARAMS, TrainingRecipe
from workbench.core.training.specs import Code, TrainingSpec
from workbench.programs.texts import call, fill, literal, sections, square, variable_names

# network -------------------------------------------------------------------------------------
# The network of an exported program: one line a layer, called on one another.

_TAKEN = (*dir(builtins), "inputs", "front", "keras", "layer", "layers", "np", "prepared", "tf")
"""Names that the programs use otherwise."""


def names_of(calls: Sequence[Any]) -> dict[str, str]:
    """The variable that holds what comes out of each layer, by the layer's name.

    Args:
        calls: KerasCall-like objects of the whole network, in the order that data flows.
    """
    names = variable_names((call.name for call in calls), taken=_TAKEN)
    return names | {call.name: "inputs" for call in calls if call.spec.role is Role.INPUT}


def layer_lines(
    calls: Sequence[Any],
    names: Mapping[str, str],
    *,
    more: Callable[[Any], list[str]] = lambda layer: [],
    is_keras2: bool = False,
) -> list[str]:
    """A line of a function body for each layer but Input.

    Args:
        calls: The layers to write.
        names: From `names_of`, or with other variables for what is not written here.
        more: Gives a layer's further arguments, as source.
        is_keras2: The program is one for Keras 2.
    """
    return [
        _line(call, names, [*layer_words(call, is_keras2=is_keras2), *more(call)])
        for call in calls
        if call.spec.role is not Role.INPUT
    ]


def _line(layer: Any, names: Mapping[str, str], words: list[str]) -> str:
    sources = ", ".join(names[source] for source in layer.inputs)
    end = f"([{sources}])" if len(layer.inputs) > 1 else f"({sources})"
    return call(f"{names[layer.name]} = layers.{layer.spec.title}", words, end, indent=4)


def layer_words(layer: Any, *, is_keras2: bool = False) -> list[str]:
    """The arguments that a layer is made with, as source."""
    renamed = layer.spec.keras2_names if is_keras2 else {}
    words = [literal(square(key, value)) for key, value in layer.required.items()]
    return words + [
        f"{renamed.get(key, key)}={literal(square(key, value))}"
        for key, value in layer.arguments.items()
    ]


def without(calls: Sequence[Any], is_left_out: Callable[[Any], bool]) -> list[Any]:
    """A network without some layers of one input: what they are called on takes their place."""
    source: dict[str, str] = {}
    for each in calls:
        if is_left_out(each):
            (before,) = each.inputs
            source[each.name] = source.get(before, before)
    return [
        replace(each, inputs=tuple(source.get(name, name) for name in each.inputs))
        for each in calls
        if each.name not in source
    ]


def tuned_name(recipe: TrainingRecipe, layer: Any) -> list[str]:
    """A name as an argument of layers that learn in the fine-tuning phase alone, to find them by:
    one that Keras makes for no layer.
    """
    is_named = layer.is_tuned and recipe.has_fine_tuning
    return [f"name={literal(f'tuned_{layer.name}')}"] if is_named else []


def output_of(calls: Sequence[Any], names: Mapping[str, str]) -> str:
    """The variable of the network's answer: what no other layer is called on."""
    used = {source for call in calls for source in call.inputs}
    return next(names[call.name] for call in reversed(calls) if call.name not in used)


# training ------------------------------------------------------------------------------------

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


# fit -----------------------------------------------------------------------------------------
# The exported script's calls of Keras's compile, fit and evaluate.


def fit_values(recipe: TrainingRecipe, *, is_logits: bool) -> dict[str, Any]:
    """What the script is filled with, by the names in its text: `phases` are those of its training,
    each compiled and fitted by itself.
    """
    whole = FitText(recipe, is_logits=is_logits).values()
    if not recipe.has_fine_tuning:
        return {**whole, "phases": _phase(whole)}
    head = recipe.with_values(epochs=recipe.head_epochs, keep="last", fine_tuning_after=None)
    first = FitText(head, is_logits=is_logits).values()
    then = FitText(recipe.in_fine_tuning(), is_logits=is_logits).values()
    phases = [
        _phase(first, is_best_later=recipe.keep == "best"),
        _phase(then, is_fine_tuning=True),
    ]
    return {**whole, "phases": "\n".join(phases)}


def _phase(
    values: Mapping[str, Any], *, is_fine_tuning: bool = False, is_best_later: bool = False
) -> str:
    more = {"is_fine_tuning": is_fine_tuning, "is_best_later": is_best_later}
    return fill(sections("parts.py")["phase"], {**values, **more})


class FitText:
    """Writes the calls for one phase of a training.

    Args:
        recipe: The recipe of the phase.
        is_logits: The network ends without softmax.
    """

    def __init__(self, recipe: TrainingRecipe, *, is_logits: bool) -> None:
        self._recipe = recipe
        self._training = TrainingText(recipe, is_logits=is_logits)

    def values(self) -> dict[str, Any]:
        """What the script is filled with, by the names in its text."""
        recipe, is_one_hot = self._recipe, self._training.is_one_hot
        splits = self._is_validated and recipe.validation == "split"
        repeat = "" if recipe.steps_per_epoch is None else ".repeat()"
        callbacks = self._callbacks()
        return {
            **self._training.values(),
            "splits_validation": splits,
            "holds_out": recipe.validation == "split",
            "validation_seed": recipe.seed + 1,
            "splits_one_hot": splits and is_one_hot,
            "loss": self._loss(),
            "metrics": self._metrics(),
            "needs_tensorflow": self._needs_tensorflow,
            "changes_batches": self._changes_batches,
            "shuffled": f"data.shuffle(len(x_train)){repeat}",
            "has_callbacks": callbacks,
            "callbacks": "\n".join(callbacks),
            "fit": self._fit(has_callbacks=bool(callbacks)),
            "evaluation": self._evaluation(),
        }

    @property
    def _changes_batches(self) -> bool:
        return self._recipe.mixing != "none" or self._recipe.random_erasing > 0

    @property
    def _needs_tensorflow(self) -> bool:
        """Whether the batches are made by tf.data."""
        return self._recipe.steps_per_epoch is not None or self._changes_batches

    @property
    def _is_validated(self) -> bool:
        recipe = self._recipe
        stops = recipe.early_stopping_patience is not None
        follows = stops or recipe.keep == "best" or recipe.schedule_spec.follows_metric
        is_seen = follows or recipe.top_k > 1 or recipe.validation_freq > 1
        return is_seen and recipe.validation != "none"

    def _loss(self) -> str:
        """An argument of compile."""
        code = self._training.loss_code
        if code.definition:
            return f"        loss={code.name},"
        return call(f"loss=keras.losses.{code.name}", code.arguments, ",", indent=8)

    def _metrics(self) -> str:
        """An argument of compile."""
        k, kind = self._recipe.top_k, "TopK" if self._training.is_one_hot else "SparseTopK"
        if k == 1:
            return 'metrics=["accuracy"],'
        top_k = f'keras.metrics.{kind}CategoricalAccuracy({k}, name="top_{k}")'
        return f'metrics=[\n    "accuracy",\n    {top_k},\n],'

    def _fit(self, *, has_callbacks: bool) -> str:
        recipe, words = self._recipe, [f"epochs={self._recipe.epochs}"]
        if self._needs_tensorflow:
            words.insert(0, "data")
            if recipe.steps_per_epoch is not None:
                words.append(f"steps_per_epoch={recipe.steps_per_epoch}")
            words.append("shuffle=False")  # done by tf.data; Keras warns otherwise
        else:
            words = ["x_train", "y_train", f"batch_size={recipe.batch_size}", *words]
        if self._is_validated:
            part = "validation" if recipe.validation == "split" else "test"
            words.append(f"validation_data=(x_{part}, y_{part})")
            if recipe.validation_freq > 1:
                words.append(f"validation_freq={recipe.validation_freq}")
        if recipe.class_weights == "balanced":
            words.append("class_weight=class_weight")
        if has_callbacks:
            words.append("callbacks=callbacks")
        return call("model.fit", words, indent=4)

    def _callbacks(self) -> list[str]:
        recipe, keeps_best = self._recipe, self._recipe.keep == "best"
        found: list[tuple[str, list[str]]] = []
        if recipe.ema_decay is not None and (self._is_validated or keeps_best):
            found.append(("SwapEMAWeights", ["swap_on_epoch=True"] * keeps_best))
        mode = "min" if recipe.keep_by in {"loss", "val_loss"} else "max"
        monitor = [f'"{self._monitor()}"', f'mode="{mode}"']
        if recipe.early_stopping_patience is not None or keeps_best:
            patience = recipe.early_stopping_patience or recipe.epochs
            words = [f"patience={patience}", *["restore_best_weights=True"] * keeps_best]
            found.append(("EarlyStopping", [*monitor, *words]))
        if recipe.schedule_spec.follows_metric:
            words = [f"factor={literal(recipe.decay_factor)}"]
            words += [f"patience={recipe.plateau_patience}", "min_delta=0.0"]
            found.append(("ReduceLROnPlateau", [*monitor, *words]))
        return [call(f"keras.callbacks.{name}", words, ",", indent=8) for name, words in found]

    def _monitor(self) -> str:
        """The value that the recipe's `keep_by` means, as Keras names it."""
        recipe = self._recipe
        if recipe.keep_by == "loss":
            return "loss"
        top_k = "accuracy" if recipe.top_k == 1 else f"top_{recipe.top_k}"
        name = {"val_loss": "loss", "val_accuracy": "accuracy", "top_k": top_k}[recipe.keep_by]
        return f"val_{name}" if self._is_validated else name

    def _evaluation(self) -> str:
        """The test, and what is printed of it."""
        names, shown, k = "loss, accuracy", "", self._recipe.top_k
        if k > 1:
            names, shown = f"loss, accuracy, top_{k}", f", top-{k} {{top_{k}:.4f}}"
        words = ["x_test", "y_test", "batch_size=256"]
        printed = f'f"test loss {{loss:.4f}}, accuracy {{accuracy:.4f}}{shown}"'
        evaluate = call(f"{names} = model.evaluate", words, indent=8)
        return f"{evaluate}\n{call('print', [printed], indent=8)}"
