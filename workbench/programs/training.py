"""The training of the exported script: a recipe said in Keras's own words.

What Keras has a name for is called by it; what it has none for (a warm-up before any
schedule) is a small class in the script; what comes out otherwise is told in a comment.
"""

from __future__ import annotations

from workbench.core.training.recipe import OPTIMIZERS, TrainingRecipe
from workbench.core.training.recipe_params import OWN_OPTIMIZERS, SCALINGS
from workbench.programs.code import call, literal
from workbench.programs.lars import LARS

NOT_DECAYED = ["bias", "gamma", "beta", "alpha"]

_WARM_UP = '''

class WarmUp(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warm-up to the peak learning rate, then another schedule."""

    def __init__(self, start, peak, steps, after):
        self.start, self.peak, self.steps, self.after = start, peak, steps, after

    def __call__(self, step):
        step = keras.ops.cast(step, "float32")
        climbing = self.start + (self.peak - self.start) * step / max(1, self.steps)
        return keras.ops.where(step < self.steps, climbing, self.after(step))
'''

_SQUARED = '''

def squared_error(targets, logits):
    """Mean squared error of the probabilities."""
    return keras.losses.mean_squared_error(targets, keras.ops.softmax(logits))
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
        is_plain = recipe.loss == "cross_entropy" and not recipe.label_smoothing
        return not is_plain or recipe.mixing != "none"

    @property
    def _follows_progress(self) -> bool:
        recipe = self._recipe
        stops = recipe.early_stopping_patience is not None
        return stops or recipe.keep == "best" or recipe.schedule == "plateau"

    @property
    def _is_validated(self) -> bool:
        needs = self._follows_progress or self._recipe.top_k > 1
        return needs and self._recipe.validation != "none"

    def helpers(self) -> str:
        """Classes and functions that the training needs, above it."""
        text = LARS if self._recipe.optimizer == "lars" else ""
        if self._climbs and self._recipe.schedule != "cosine":
            text += _WARM_UP
        if self.has_own_loss:
            text += _SQUARED
        return text

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
        if recipe.schedule == "plateau":
            return False
        if recipe.warmup_epochs is None:
            return recipe.schedule in {"cosine", "one_cycle"}
        return recipe.warmup_epochs > 0

    def optimizer(self) -> str:
        """The schedule and the optimizer, in lines of the function."""
        recipe = self._recipe
        rate, lines = self._rate()
        lines = [*self._scaling(), *lines]
        words = [f"{key}={literal(value)}" for key, value in recipe.optimizer_arguments().items()]
        if recipe.clip_norm is not None and not self._has_own_loop:
            words.append(f"global_clipnorm={literal(recipe.clip_norm)}")
        place = "" if recipe.optimizer in OWN_OPTIMIZERS else "keras.optimizers."
        start = f"optimizer = {place}{OPTIMIZERS[recipe.optimizer]}"
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

    def _rate(self) -> tuple[str, list[str]]:
        """The learning rate as an argument, and the lines that make it."""
        recipe = self._recipe
        rate = literal(recipe.peak_rate)
        is_still = recipe.schedule in {"constant", "plateau"}
        if is_still and not self._climbs:
            lines = []
            if recipe.schedule == "plateau" and recipe.warmup_epochs:
                lines = ["    # Without the warm-up: ReduceLROnPlateau changes plain rates only."]
            return rate, lines
        lines = self._sizes()
        if recipe.schedule == "cosine":
            return "rate", [*lines, self._cosine(rate)]
        after = self._after(rate)
        if not self._climbs:
            return "rate", [*lines, *after]
        lines += after
        start = f"{rate} / 25" if recipe.schedule == "one_cycle" else f"{rate} / (warm_up + 1)"
        follow = {"constant": f"lambda step: {rate}", "step": "falling"}.get(
            recipe.schedule, "lambda step: falling(step - warm_up)"
        )
        return "rate", [*lines, call("rate = WarmUp", [start, rate, "warm_up", follow], indent=4)]

    def _sizes(self) -> list[str]:
        recipe = self._recipe
        steps = recipe.steps_per_epoch or f"-(-len(x_train) // {recipe.batch_size})"
        lines = [] if self._has_own_loop else [f"    steps = {steps}  # of an epoch"]
        if self._climbs or recipe.schedule == "cosine":
            lines.append(f"    total = {recipe.epochs} * steps")
        if self._climbs and recipe.warmup_epochs is None:
            share = "0.03" if recipe.schedule == "cosine" else "0.3"
            lines.append(f"    warm_up = int({share} * total)")
        elif self._climbs:
            epochs = _short(recipe.warmup_epochs or 0.0)
            lines.append(f"    warm_up = min(total, round({epochs} * steps))")
        return lines

    def _cosine(self, rate: str) -> str:
        alpha = f"alpha={literal(self._recipe.final_share)}"
        words = [rate, "total", alpha]
        if self._climbs:
            words = [f"{rate} / (warm_up + 1)", "max(1, total - warm_up)", alpha]
            words += [f"warmup_target={rate}", "warmup_steps=warm_up"]
        return call("rate = keras.optimizers.schedules.CosineDecay", words, indent=4)

    def _after(self, rate: str) -> list[str]:
        """The line of the schedule behind the warm-up, if there is one."""
        recipe = self._recipe
        name = "falling" if self._climbs else "rate"
        schedules = f"{name} = keras.optimizers.schedules"
        if recipe.schedule == "one_cycle":
            steps = "max(1, total - warm_up)" if self._climbs else f"{recipe.epochs} * steps"
            words = [rate, steps, f"end_learning_rate={rate} * {literal(recipe.final_share)}"]
            return [call(f"{schedules}.PolynomialDecay", words, indent=4)]
        if recipe.schedule in {"step", "exponential"}:
            every = f"{_short(recipe.decay_every_epochs)} * steps"
            words = [rate, every, literal(recipe.decay_factor)]
            words += ["staircase=True"] * (recipe.schedule == "step")
            return [call(f"{schedules}.ExponentialDecay", words, indent=4)]
        return []

    # compile and fit ---------------------------------------------------------------------

    def loss(self) -> str:
        """The loss, as a line of compile."""
        if self.has_own_loss:
            return "        loss=squared_error,"
        kind, words = self.loss_call()
        return call(f"loss=keras.losses.{kind}", words, ",", indent=8)

    @property
    def has_own_loss(self) -> bool:
        """Whether the loss is the function `squared_error` of `helpers`."""
        return self._recipe.loss == "mean_squared" and self._is_logits

    def loss_call(self) -> tuple[str, list[str]]:
        """Keras's class of the loss, and its arguments as source."""
        recipe, logits = self._recipe, f"from_logits={self._is_logits}"
        if recipe.loss == "mean_squared":
            return "MeanSquaredError", []
        if recipe.loss == "focal":
            gamma = f"gamma={literal(recipe.focal_gamma)}"
            return "CategoricalFocalCrossentropy", ["alpha=1.0", gamma, logits]
        return f"{'' if self.is_one_hot else 'Sparse'}CategoricalCrossentropy", [logits]

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
        if recipe.schedule == "plateau":
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


def _list(names: list[str]) -> str:
    return "[" + ", ".join(literal(name) for name in names) + "]"
