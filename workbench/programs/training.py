"""The training of the exported script: a recipe said in Keras's own words.

What Keras has a name for is called by it; what it has none for (a warm-up before any
schedule) is a small class in the script; what comes out otherwise is told in a comment.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.core.training.fields.schedule import SCALINGS
from workbench.core.training.optimizers import NOT_DECAYED
from workbench.core.training.recipe import RECIPE_PARAMS, TrainingRecipe
from workbench.core.training.specs import Code, TrainingSpec
from workbench.programs.code import call, literal

_EPOCHS = frozenset(param.key for param in RECIPE_PARAMS if param.unit == "epochs")

_WARM_UP = '''\
class WarmUp(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warm-up to the peak learning rate, then another schedule."""

    def __init__(self, start, peak, steps, after):
        self.start, self.peak, self.steps, self.after = start, peak, steps, after

    def __call__(self, step):
        step = keras.ops.cast(step, "float32")
        climbing = self.start + (self.peak - self.start) * step / max(1, self.steps)
        return keras.ops.where(step < self.steps, climbing, self.after(step))
'''

_SPLIT = """    # A fraction of each class is held out for validation.
    random = np.random.default_rng({seed})
    is_kept = np.zeros(len(y_train), bool)
    for label in np.unique(y_train):
        places = random.permutation(np.flatnonzero(y_train == label))
        is_kept[places[: max(1, round({share} * len(places)))]] = True
    x_validation, y_validation = x_train[is_kept], y_train[is_kept]
    x_train, y_train = x_train[~is_kept], y_train[~is_kept]
"""


class TrainingText:
    """Writes the training of one recipe.

    Args:
        recipe: The recipe.
        is_logits: The network ends without softmax.
        has_own_loop: The program has a loop of its own instead of Keras's fit: it tells
            the optimizer how many `steps` an epoch has, and clips gradients itself.
    """

    def __init__(
        self, recipe: TrainingRecipe, *, is_logits: bool, has_own_loop: bool = False
    ) -> None:
        self._recipe = recipe
        self._is_logits = is_logits
        self._has_own_loop = has_own_loop

    @property
    def needs_tensorflow(self) -> bool:
        """Whether the batches are made by tf.data."""
        return self._recipe.steps_per_epoch is not None or self._changes_batches

    @property
    def _changes_batches(self) -> bool:
        return self._recipe.mixing != "none" or self._recipe.random_erasing > 0

    @property
    def is_one_hot(self) -> bool:
        """Whether the loss is told shares of classes instead of class numbers."""
        recipe = self._recipe
        is_sparse = recipe.loss_spec.compute_sparse is not None and not recipe.label_smoothing
        return not is_sparse or recipe.mixing != "none"

    @property
    def _follows_progress(self) -> bool:
        recipe = self._recipe
        stops = recipe.early_stopping_patience is not None
        return stops or recipe.keep == "best" or recipe.schedule_spec.follows_metric

    @property
    def _is_validated(self) -> bool:
        needs = self._follows_progress or self._recipe.top_k > 1
        return needs and self._recipe.validation != "none"

    def helpers(self) -> str:
        """Classes and functions that the training needs, above it."""
        needs_class = self._climbs and not self._recipe.schedule_spec.has_keras_warm_up
        texts = [
            self._recipe.optimizer_spec.definition,
            _WARM_UP if needs_class else "",
            self._schedule.definition if self._schedule is not None else "",
            self.loss_code.definition,
        ]
        return "".join(f"\n\n{text}" for text in texts if text)

    def _sources(self, spec: TrainingSpec) -> dict[str, str]:
        """The values that a plug-in uses, as source."""
        values = self._recipe.values_of(spec)
        return {key: (_short if key in _EPOCHS else literal)(values[key]) for key in values}

    def data(self) -> str:
        """What is done with the arrays before training."""
        recipe, text = self._recipe, ""
        if self._is_validated and recipe.validation == "split":
            text += _SPLIT.format(seed=recipe.seed, share=literal(recipe.validation_share))
        if recipe.class_weights == "balanced":
            text += (
                "    found, counts = np.unique(y_train, return_counts=True)\n"
                "    weights = len(y_train) / (len(found) * counts)\n"
                "    class_weight = dict(zip(found.tolist(), weights.tolist()))\n"
            )
        if self.is_one_hot:
            text += self._one_hot()
        return text

    def _one_hot(self) -> str:
        names = ["train", "test"]
        if self._is_validated and self._recipe.validation == "split":
            names.insert(1, "validation")
        lines = [
            f"    y_{name} = keras.utils.to_categorical(y_{name}, len(CLASS_NAMES))\n"
            for name in names
        ]
        smoothing = self._recipe.label_smoothing
        if smoothing:
            kept, spread = literal(1 - smoothing), literal(smoothing)
            lines.append(
                f"    y_train = {kept} * y_train + {spread} / len(CLASS_NAMES)  # label smoothing\n"
            )
        return "".join(lines)

    # the optimizer -----------------------------------------------------------------------

    @property
    def _climbs(self) -> bool:
        recipe = self._recipe
        if recipe.schedule_spec.follows_metric:
            return False
        if recipe.warmup_epochs is None:
            return recipe.schedule_spec.warm_up_share > 0
        return recipe.warmup_epochs > 0

    def optimizer(self) -> str:
        """The schedule and the optimizer, in lines of the function."""
        recipe = self._recipe
        rate, lines = self._rate()
        lines = [*self._scaling(), *lines]
        words = [f"{key}={literal(value)}" for key, value in recipe.optimizer_arguments().items()]
        if recipe.clip_norm is not None and not self._has_own_loop:
            words.append(f"global_clipnorm={literal(recipe.clip_norm)}")
        start = f"optimizer = {recipe.optimizer_spec.source_name}"
        lines.append(call(start, [rate, *words], indent=4))
        if not recipe.decay_biases and recipe.has_weight_decay:
            names = f"var_names={_list(NOT_DECAYED)}"
            lines.append(call("optimizer.exclude_from_weight_decay", [names], indent=4))
        return "\n".join(lines)

    def _scaling(self) -> list[str]:
        """Where the rate comes from, if it is not the recipe's own."""
        recipe = self._recipe
        if recipe.rate_scaling == "none":
            return []
        how = SCALINGS[recipe.rate_scaling]
        meant = f"{literal(recipe.learning_rate)} for a batch of {recipe.rate_base_batch}"
        return [f"    # The rate is {meant}; its scaling is {how}."]

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

    # compile and fit ---------------------------------------------------------------------

    def loss(self) -> str:
        """The loss, as a line of compile."""
        code = self.loss_code
        if code.definition:
            return f"        loss={code.name},"
        return call(f"loss=keras.losses.{code.name}", code.arguments, ",", indent=8)

    @property
    def loss_code(self) -> Code:
        """The loss: a class of Keras, or a function of `helpers`."""
        spec = self._recipe.loss_spec
        return spec.code(
            self._sources(spec), is_logits=self._is_logits, is_sparse=not self.is_one_hot
        )

    def metrics(self) -> str:
        """The metrics, as a line of compile."""
        k = self._recipe.top_k
        if k == 1:
            return '        metrics=["accuracy"],'
        kind = "TopK" if self.is_one_hot else "SparseTopK"
        top_k = f'keras.metrics.{kind}CategoricalAccuracy({k}, name="{self._top_k}")'
        return f'        metrics=[\n            "accuracy",\n            {top_k},\n        ],'

    @property
    def _top_k(self) -> str:
        return f"top_{self._recipe.top_k}"

    def fit(self) -> str:
        """The batches and the call of fit, in lines of the function."""
        recipe, words = self._recipe, [f"epochs={self._recipe.epochs}"]
        lines: list[str] = []
        if self.needs_tensorflow:
            lines += self._batches()
            words.insert(0, "data")
            if recipe.steps_per_epoch is not None:
                words.append(f"steps_per_epoch={recipe.steps_per_epoch}")
            words.append("shuffle=False")  # done above; Keras warns otherwise
        else:
            words = ["x_train", "y_train", f"batch_size={recipe.batch_size}", *words]
        if self._is_validated:
            part = "validation" if recipe.validation == "split" else "test"
            words.append(f"validation_data=(x_{part}, y_{part})")
        if recipe.class_weights == "balanced":
            words.append("class_weight=class_weight")
        callbacks = self._callbacks()
        if callbacks:
            lines += ["    callbacks = [", *callbacks, "    ]"]
            words.append("callbacks=callbacks")
        return "\n".join([*lines, call("model.fit", words, indent=4)])

    def _batches(self) -> list[str]:
        recipe = self._recipe
        repeat = ".repeat()" if recipe.steps_per_epoch is not None else ""
        lines = [
            "    data = tf.data.Dataset.from_tensor_slices((x_train, y_train))",
            f"    data = data.shuffle(len(x_train)){repeat}.batch({recipe.batch_size})",
        ]
        if recipe.random_erasing:
            share = literal(recipe.random_erasing)
            words = [f"({share}, {share})", "fill_value=127.5", f"seed={recipe.seed}"]
            lines.append(call("erase = layers.RandomErasing", words, indent=4))
            lines.append("    data = data.map(lambda x, y: (erase(x), y))")
        if recipe.mixing != "none":
            lines += self._mixing()
        return [*lines, "    data = data.prefetch(3)"] if self._changes_batches else lines

    def _mixing(self) -> list[str]:
        recipe, seed = self._recipe, f"seed={self._recipe.seed}"
        if recipe.mixing == "mixup":
            made = [call("mix = layers.MixUp", [literal(recipe.mixing_alpha), seed], indent=4)]
        else:
            made = [call("mix = layers.CutMix", [seed], indent=4)]
            if recipe.mixing_alpha != 1.0:
                alpha = literal(recipe.mixing_alpha)
                made.insert(0, f"    # Keras cuts any share alike; trained with alpha = {alpha}.")
        return [
            *made,
            '    data = data.map(lambda x, y: mix({"images": x, "labels": y}))',
            '    data = data.map(lambda both: (both["images"], both["labels"]))',
        ]

    def _callbacks(self) -> list[str]:
        recipe, found = self._recipe, []
        keeps_best = recipe.keep == "best"
        if recipe.ema_decay is not None and (self._is_validated or keeps_best):
            words = ["swap_on_epoch=True"] if keeps_best else []
            found.append(_item("keras.callbacks.SwapEMAWeights", words))
        monitor = [f'"{self._monitor()}"', f'mode="{self._mode()}"']
        if recipe.early_stopping_patience is not None or keeps_best:
            patience = recipe.early_stopping_patience or recipe.epochs
            words = [*monitor, f"patience={patience}"]
            words += ["restore_best_weights=True"] * keeps_best
            found.append(_item("keras.callbacks.EarlyStopping", words))
        if recipe.schedule_spec.follows_metric:
            words = [*monitor, f"factor={literal(recipe.decay_factor)}"]
            words += [f"patience={recipe.plateau_patience}", "min_delta=0.0"]
            found.append(_item("keras.callbacks.ReduceLROnPlateau", words))
        return found

    def _monitor(self) -> str:
        """The value that the recipe's `keep_by` means, as Keras names it."""
        recipe = self._recipe
        if recipe.keep_by == "loss":
            return "loss"
        name = {"val_loss": "loss", "val_accuracy": "accuracy", "top_k": self._top_k}
        shown = name[recipe.keep_by]
        if recipe.keep_by == "top_k" and recipe.top_k == 1:
            shown = "accuracy"
        return f"val_{shown}" if self._is_validated else shown

    def _mode(self) -> str:
        return "min" if self._recipe.keep_by in {"loss", "val_loss"} else "max"

    def evaluation(self) -> str:
        """The test and what is printed of it, in lines of the function."""
        if self._recipe.top_k == 1:
            names, print_more = "loss, accuracy", ""
        else:
            names = f"loss, accuracy, {self._top_k}"
            print_more = f", top-{self._recipe.top_k} {{{self._top_k}:.4f}}"
        words = ["x_test", "y_test", "batch_size=256"]
        shown = f'f"test loss {{loss:.4f}}, accuracy {{accuracy:.4f}}{print_more}"'
        return "\n".join(
            [
                call(f"{names} = model.evaluate", words, indent=4),
                call("print", [shown], indent=4),
            ]
        )


def _item(start: str, words: list[str]) -> str:
    """A call as one item of a list."""
    return call(start, words, ",", indent=8)


def _short(number: float) -> str:
    """A number of epochs, without a point where it is whole."""
    return literal(int(number) if number == int(number) else number)


def _list(names: Iterable[str]) -> str:
    return "[" + ", ".join(literal(name) for name in names) + "]"
