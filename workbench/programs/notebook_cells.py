"""The cells of a program that trains a project where no desktop reaches: Colab and Kaggle.

The notebook and the script are the same cells, written in two ways. The text is also teaching
material: plain code, one idea a function, each with its sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.core.outside_text import markdown_code, markdown_text
from workbench.programs.beside import images_name, pretrained_name
from workbench.programs.code import call, comment_text, literal, sequence
from workbench.programs.network import (
    layer_lines,
    layer_words,
    names_of,
    output_of,
    tuned_name,
)
from workbench.programs.notebook_recipe import recipe_values
from workbench.programs.texts import fill, sections

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
