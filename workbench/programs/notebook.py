"""The cells of a program that trains a project where no desktop reaches: Colab and Kaggle.

The notebook and the script are the same cells, written in two ways. The text is also teaching
material: plain code, one idea a function, each with its sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.core.outside_text import markdown_code, markdown_text
from workbench.core.training.recipe import TrainingRecipe
from workbench.programs.texts import (
    call,
    comment_text,
    fill,
    images_name,
    literal,
    pretrained_name,
    sections,
    sequence,
)
from workbench.programs.training import (
    TrainingText,
    layer_lines,
    layer_words,
    names_of,
    output_of,
    tuned_name,
)

# notebook recipe -----------------------------------------------------------------------------
# The training of a program for notebook services: the recipe in a loop of its own.
#
# The loop is written out, as Keras's `fit` cannot run many steps in one call on several cores.
# What the recipe does not ask for is not in the text.

_STEPS_PER_CALL = 50
"""Calls cost the host's time; between them it looks at the values. 20 to 200 is usual."""

_PRECISIONS = {
    "auto": '"bfloat16" if HAS_TPU else "float32"',
    "bfloat16": '"bfloat16"',
    "float32": '"float32"',
}

_VALIDATION = {
    "split": ("scoring_batches(x_validation, y_validation)", "y_validation"),
    "test": ("test_batches", "y_test"),
    "none": ("", "y_train[:0]"),
}
"""Batches and labels of the images that a network is validated on."""


def recipe_values(
    recipe: TrainingRecipe, *, is_logits: bool, has_penalty: bool = False
) -> dict[str, Any]:
    """What the notebook is filled with for a recipe, by the names in its text.

    Args:
        recipe: The recipe.
        is_logits: The network ends without softmax.
        has_penalty: Some layer adds to the loss.
    """
    text = TrainingText(recipe, is_logits=is_logits, has_own_loop=True)
    values = text.values()
    return {
        **values,
        **_phase_values(recipe, values, is_logits=is_logits, has_penalty=has_penalty),
        **_split_values(recipe),
        **_step_values(recipe, text, has_penalty=has_penalty),
        **_loop_values(recipe),
        "epochs": recipe.epochs,
        "steps_per_call": min(200, recipe.steps_per_call or _STEPS_PER_CALL),
        "steps": recipe.steps_per_epoch or "max(1, len(x_train) // BATCH_SIZE)",
        "precision": _PRECISIONS[recipe.precision],
        "may_be_bfloat16": recipe.precision != "float32",
        "loss": _loss(text),
    }


def _phase_values(
    recipe: TrainingRecipe, values: Mapping[str, Any], *, is_logits: bool, has_penalty: bool
) -> dict[str, Any]:
    """Values of the phases: an optimizer for each, and what else changes between them."""
    is_tuned, parts = recipe.has_fine_tuning, sections("parts.py")
    head = recipe.with_values(epochs=recipe.head_epochs, fine_tuning_after=None)
    first, then = (
        TrainingText(phase, is_logits=is_logits, has_own_loop=True).optimizer
        for phase in (head, recipe.in_fine_tuning() if is_tuned else head)
    )
    of_head = {**values, "optimizer": first, "is_tuned": is_tuned}
    return {
        "is_tuned": is_tuned,
        "head_epochs": recipe.head_epochs,
        "make_optimizer": fill(parts["make_optimizer"], of_head),
        "make_tuning_optimizer": fill(parts["make_tuning_optimizer"], {"optimizer": then}),
        "tunes_penalty": is_tuned and has_penalty,
        **_watched_values(recipe),
    }


def _watched_values(recipe: TrainingRecipe) -> dict[str, Any]:
    """Values of what looks at the epochs of one phase alone: early stopping, and a rate that is
    reduced on a plateau.
    """
    is_tuned, stops = recipe.has_fine_tuning, recipe.early_stopping_patience is not None
    follows = recipe.schedule_spec.follows_metric
    counts_phases = is_tuned and (stops or follows)
    last_best = "phase_best" if counts_phases else "best_epoch"
    return {
        "counts_phases": counts_phases,
        "waited_best": _waited(recipe, last_best),
        "waited_fall": _waited(recipe, f"max({last_best}, last_fall)"),
        "tunes_plateau": is_tuned and follows,
        "stops_early": stops,
        "stops_head": is_tuned and stops,
        "stops_whole": stops and not is_tuned,
    }


def _waited(recipe: TrainingRecipe, since: str) -> str:
    """How many values of the metric have been seen since an epoch."""
    if recipe.judged_every == 1:
        return f"epoch - {since}"
    return f"epoch // VALIDATION_FREQ - {since} // VALIDATION_FREQ"


def _split_values(recipe: TrainingRecipe) -> dict[str, Any]:
    validation_batches, validation_labels = _VALIDATION[recipe.validation]
    return {
        "is_validated": recipe.validation != "none",
        "validates_each": recipe.validation != "none" and recipe.validation_freq == 1,
        "validates_some": recipe.validation != "none" and recipe.validation_freq > 1,
        "judges_some": recipe.judged_every > 1,
        "judges_each": recipe.judged_every == 1,
        "validation_freq": recipe.validation_freq,
        "splits_validation": recipe.validation == "split",
        "validation_seed": recipe.seed + 1,
        "validation_batches": validation_batches,
        "validation_labels": validation_labels,
    }


def _step_values(
    recipe: TrainingRecipe, text: TrainingText, *, has_penalty: bool
) -> dict[str, Any]:
    """Values of what is done for one batch."""
    is_balanced = recipe.class_weights == "balanced"
    return {
        "sample_weights": _weights(is_balanced=is_balanced, is_one_hot=text.is_one_hot),
        "labels": "tf.argmax(y, axis=-1)" if text.is_one_hot else "y",
        "targets": "tf.one_hot(y, NUM_CLASSES)" if text.is_one_hot else "y",
        "has_penalty": has_penalty,
        "penalty": sections("parts.py")["penalty"] + "\n\n" if has_penalty else "",
        "clips": recipe.clip_norm is not None,
        "clip_norm": literal(recipe.clip_norm),
    }


def _loop_values(recipe: TrainingRecipe) -> dict[str, Any]:
    """Values of the epochs, and of what is kept of them."""
    keeps_best, averages = recipe.keep == "best", recipe.ema_decay is not None
    best_value, best_loss = _best(recipe)
    return {
        "averages": averages,
        "keeps_averages": averages and not keeps_best,
        "swap_averages": sections("parts.py")["swap_averages"] + "\n\n" if averages else "",
        "keeps_best": keeps_best,
        "best_value": best_value,
        "best_loss": best_loss,
        "plateau_patience": recipe.plateau_patience,
        "decay_factor": literal(recipe.decay_factor),
        "patience": recipe.early_stopping_patience,
    }


def _weights(*, is_balanced: bool, is_one_hot: bool) -> str:
    """The weights of a batch's images in the loss."""
    if not is_balanced:
        return "tf.ones(BATCH_SIZE)"
    return "tf.linalg.matvec(y, balanced)" if is_one_hot else "tf.gather(balanced, y)"


def _loss(text: TrainingText) -> str:
    """The line that names the loss of each image."""
    code = text.loss_code
    if code.definition:
        return f"loss_of = {code.name}"
    return call(f"loss_of = keras.losses.{code.name}", [*code.arguments, "reduction=None"])


def _best(recipe: TrainingRecipe) -> tuple[str, str]:
    """What makes an epoch the best, greater is better: the recipe's value, of equals the loss."""
    is_validated = recipe.validation != "none"
    start = "val_" if is_validated else ""
    loss = f'-entry["{start}loss"]'
    if recipe.keep_by == "loss":
        return '-entry["loss"]', loss
    if recipe.keep_by == "val_loss":
        return loss, loss
    has_top_k = recipe.keep_by == "top_k" and recipe.top_k > 1 and is_validated
    return f'entry["{"top_k_" if has_top_k else start}accuracy"]', loss


# notebook cells ------------------------------------------------------------------------------

_SYNCHRONIZED = {
    "auto": ["synchronized=BATCH_SIZE // CORES < 32"],  # few images give a poor mean
    "on": ["synchronized=True"],
    "off": [],
}

_ONLY_IF = {"split": "is_split_there", "files": "has_files", "tuning": "is_tuned"}
"""The value that a section of the notebook depends on, by the section's name."""


@dataclass(frozen=True)
class Cell:
    """One cell: words in Markdown, or code."""

    text: str
    is_code: bool


def cells(context: Any, file: str) -> list[Cell]:
    """All cells in order.

    Args:
        context: A ProgramContext as `worker.requests.export_project` makes it.
        file: The name of the program's file.
    """
    values = _values(context, file)
    skipped = {name for name, key in _ONLY_IF.items() if not values[key]}
    return [
        Cell(fill(text, values).strip("\n") + "\n", is_code=name.endswith(".py"))
        for name, text in sections("notebook.py").items()
        if name.partition(".")[0] not in skipped
    ]


def network_source(context: Any) -> str:
    """The front and `build_model` alone, to be tried without images."""
    build = fill(sections("notebook.py")["network.py"], _network(context))
    return f"{_front(context, is_adapted=False)}\n{build}"


def load_images(context: Any) -> str:
    """The code that sets x_train, y_train, x_test and y_test: what Keras downloads, or what
    Workbench has packed; x_validation and y_validation then, too.

    Args:
        context: ProgramContext-like: `load_program`, `images`.
    """
    parts = sections("parts.py")
    if context.images is None:
        return fill(parts["download"], {"load_program": context.load_program.rstrip()})
    return fill(parts["packed"], {"digest": literal(context.images.digest)})


def _values(context: Any, file: str) -> dict[str, Any]:
    recipe, title = context.recipe, comment_text(context.title) or "A network"
    layers, is_downloaded = context.keras_calls(), context.images is None
    has_penalty = any("regularizer" in key for layer in layers for key in layer.arguments)
    values = recipe_values(recipe, is_logits=context.is_logits, has_penalty=has_penalty)
    has_setup = values["is_balanced"] or values["erases"] or values["mixes"]
    parts = sections("parts.py")
    return {
        **values,
        **_network(context),
        **_file_values(context, file),
        "is_split_there": is_downloaded and values["splits_validation"],
        "markdown_title": markdown_text(context.title)[:200] or "A network",
        "title_literal": literal(title),
        "class_names": sequence("CLASS_NAMES", context.class_names),
        "num_classes": context.num_outputs,
        "input_shape": literal(tuple(context.input_shape)),
        "is_downloaded": is_downloaded,
        "has_test": context.has_test,
        "load_images": load_images(context),
        "picked": parts["picked"],
        "front": _front(context, is_adapted=True),
        "has_front_and_setup": context.front and has_setup,
        "adapts_model": any(layer.spec.is_adapted for layer in _inside(context)),
        "recipe": "\n".join(
            f"{literal(key)}: {literal(value)}," for key, value in context.recipe_values.items()
        ),
    }


def _file_values(context: Any, file: str) -> dict[str, Any]:
    """Values of the files beside the program: of the images, of the weights that the training
    starts from, and of what becomes of them.
    """
    adapts_front = any(layer.spec.is_adapted for layer in _front_layers(context))
    return {
        "has_files": context.has_pretrained or context.images is not None,
        "images": markdown_code(images_name(file)),
        "images_literal": literal(images_name(file)),
        "is_pretrained": context.has_pretrained,
        "pretrained": markdown_code(pretrained_name(file)),
        "pretrained_literal": literal(pretrained_name(file)),
        "is_frozen": any("trainable" in layer.arguments for layer in context.keras_calls()),
        "adapts_again": context.has_pretrained and adapts_front,
    }


def _inside(context: Any) -> list[Any]:
    """The layers behind the front."""
    return [layer for layer in context.keras_calls() if layer.name not in context.front]


def _front_layers(context: Any) -> list[Any]:
    by_name = {layer.name: layer for layer in context.keras_calls()}
    return [by_name[name] for name in context.front]


def _front(context: Any, *, is_adapted: bool) -> str:
    """The layers that run where the batches are made; "" without any.

    Args:
        context: As of `cells`.
        is_adapted: Those that learn from the images do so.
    """
    if not context.front:
        return ""
    front = _front_layers(context)
    items = [call(f"layers.{each.spec.title}", layer_words(each), ",", indent=8) for each in front]
    values = {
        "front_layers": "\n".join(items),
        "adapts_front": is_adapted and any(layer.spec.is_adapted for layer in front),
    }
    return fill(sections("parts.py")["front"], values)


def _network(context: Any) -> dict[str, Any]:
    """The values of `build_model`."""
    calls = context.keras_calls()
    names = names_of(calls)
    if context.front:
        names[context.front[-1]] = "prepared"
    lines = layer_lines(_inside(context), names, more=lambda layer: _more(context, layer))
    return {
        "has_front": context.front,
        "layers": "\n".join(lines),
        "output": output_of(calls, names),
    }


def _more(context: Any, layer: Any) -> list[str]:
    """A layer's arguments beside the project's own parameters, for training on several cores."""
    words = tuned_name(context.recipe, layer)
    learns = words or "trainable" not in layer.arguments
    if learns and layer.spec.has_batch_statistics:
        words += _SYNCHRONIZED[context.recipe.sync_batch_norm]
    if context.recipe.precision != "float32" and layer.name in context.float32_names:
        words.append('dtype="float32"')
    return words
