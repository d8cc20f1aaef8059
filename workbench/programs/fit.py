"""The exported script's calls of Keras's compile, fit and evaluate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.core.training.recipe import TrainingRecipe
from workbench.programs.code import call, literal
from workbench.programs.texts import fill, sections
from workbench.programs.training import TrainingText


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
