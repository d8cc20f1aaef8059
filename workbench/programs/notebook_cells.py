"""The cells of a program that trains a project where no desktop reaches: Colab and Kaggle.

The notebook and the script are the same cells, written in two ways.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workbench.programs import notebook_texts as texts
from workbench.programs.code import call, comment_text, literal, sequence
from workbench.programs.network import layer_lines, layer_words, names_of, output_of
from workbench.programs.notebook_data import DOWNLOADED_WORDS, FILES_WORDS, data_text, data_words
from workbench.programs.notebook_recipe import LoopText

_STEPS_PER_CALL = 50
"""Calls cost the host's time; between them it looks at the values. 20 to 200 is usual."""

_NETWORK_WORDS = """## The model

It is built within the strategy's scope, so that each core gets the weights."""

_BUILD = '''def build_model():
    """The whole network from raw images, and the part of it that is trained."""
    prepared = inputs = keras.Input(INPUT_SHAPE)
    for layer in front.layers:
        prepared = layer(prepared)
{lines}
    return keras.Model(inputs, {output}), keras.Model(prepared, {output})
'''

_BUILD_WHOLE = '''def build_model():
    """The network, from raw images to class scores."""
    inputs = keras.Input(INPUT_SHAPE)
{lines}
    return keras.Model(inputs, {output})
'''

_FRONT_ADAPT = """
for number, layer in enumerate(front.layers):
    if isinstance(layer, layers.Normalization):  # mean and variance of the training images
        x = x_train[:10_000].astype(np.float32)
        for before in front.layers[:number]:
            x = before(x)
        layer.adapt(x)
"""

_MODEL_ADAPT = """
with strategy.scope():
    for layer in network.layers:
        if isinstance(layer, layers.Normalization):  # mean and variance of its inputs
            before = keras.Model(model.inputs, layer.input)
            layer.adapt(before.predict(x_train[:10_000], verbose=0))
"""


@dataclass(frozen=True)
class Cell:
    """One cell: words in Markdown, or code."""

    text: str
    is_code: bool


def cells(context: Any) -> list[Cell]:
    """All cells in order.

    Args:
        context: A ProgramContext as `worker.requests.export_project` makes it.
    """
    return [Cell(text.strip("\n") + "\n", is_code) for text, is_code in _all(context)]


def network_source(context: Any) -> str:
    """The front and `build_model` alone, to be tried without images."""
    return f"{_front_layers(context)}\n{_build(context)}"


def _all(context: Any) -> Iterator[tuple[str, bool]]:
    title = comment_text(context.title) or "A network"
    loop = _loop_text(context)
    yield texts.INTRODUCTION.format(title=title, data_words=data_words(context)), False
    yield texts.INSTALL_WORDS, False
    yield texts.INSTALL, True
    yield texts.CONNECT_WORDS, False
    yield texts.CONNECT, True
    yield "## What is trained", False
    yield _settings(context, title), True
    yield DOWNLOADED_WORDS if context.load_program else FILES_WORDS, False
    yield data_text(context), True
    if context.has_split:
        yield _SPLIT_WORDS, False
        yield _splits(context), True
    yield texts.BATCHES_WORDS, False
    yield _batches(context, loop), True
    yield _NETWORK_WORDS, False
    yield _build(context), True
    yield "## Training settings", False
    yield _recipe(context, loop), True
    yield texts.STEPS_WORDS, False
    yield loop.steps(), True
    yield texts.LOOP_WORDS, False
    yield loop.loop(), True
    yield texts.SAVE_WORDS, False
    yield _save(context), True


_SPLIT_WORDS = """## Split

The model is evaluated on held-out images."""


def _loop_text(context: Any) -> LoopText:
    return LoopText(
        context.recipe,
        is_logits=context.is_logits,
        has_front=bool(context.front),
        has_penalty=any(
            "regularizer" in key for layer in context.keras_calls() for key in layer.arguments
        ),
    )


def _settings(context: Any, title: str) -> str:
    recipe = context.recipe
    steps = min(200, recipe.steps_per_call or _STEPS_PER_CALL)
    return "\n".join(
        [
            f"TITLE = {literal(title)}",
            sequence("CLASS_NAMES", context.class_names),
            f"NUM_CLASSES = {context.num_outputs}",
            f"INPUT_SHAPE = {literal(tuple(context.input_shape))}  # height, width, channels",
            f"EPOCHS = {recipe.epochs}",
            f"BATCH_SIZE = max(1, {recipe.batch_size} // CORES) * CORES  # of all cores together",
            f"STEPS_PER_CALL = {steps}",
            f"SEED = {recipe.seed}",
            f"PRECISION = {_PRECISIONS[recipe.precision]}",
            "",
            "keras.utils.set_random_seed(SEED)",
            'print(f"{BATCH_SIZE // CORES} images per core x {CORES} = {BATCH_SIZE}")',
        ]
    )


_SYNCHRONIZED = {
    "auto": ["synchronized=BATCH_SIZE // CORES < 32"],  # few images give a poor mean
    "on": ["synchronized=True"],
    "off": [],
}

_PRECISIONS = {
    "auto": '"bfloat16" if HAS_TPU else "float32"',
    "bfloat16": '"bfloat16"',
    "float32": '"float32"',
}


def _splits(context: Any) -> str:
    recipe, text = context.recipe, texts.SPLIT
    seed = recipe.seed
    if not context.load_program:
        text += texts.TEST_SPLIT.format(share=literal(recipe.test_share), seed=seed)
    if recipe.validation == "split":
        share = literal(recipe.validation_share)
        text += "\n\n" if context.load_program else "\n"
        text += texts.VALIDATION_SPLIT.lstrip("\n").format(share=share, seed=seed + 1)
    return text


def _front(context: Any) -> str:
    front = (layer for layer in context.keras_calls() if layer.name in context.front)
    is_adapted = any(layer.spec.is_adapted for layer in front)
    return _front_layers(context) + (_FRONT_ADAPT if is_adapted else "")


def _front_layers(context: Any) -> str:
    if not context.front:
        return ""
    by_name = {layer.name: layer for layer in context.keras_calls()}
    made = [f"layers.{by_name[name].spec.title}" for name in context.front]
    items = [
        call(kind, layer_words(by_name[name]), ",", indent=8)
        for kind, name in zip(made, context.front, strict=True)
    ]
    head = "# These layers run on the host, in the input pipeline.\n"
    return head + "front = keras.Sequential(\n    [\n" + "\n".join(items) + "\n    ]\n)\n"


def _batches(context: Any, loop: LoopText) -> str:
    front = _front(context)
    text = f"{front}\n" if front else ""
    made = loop.make_batch()
    text += ("\n" if front and made.startswith("def ") else "") + made
    text += f"\n\n{texts.DISTRIBUTE}"
    return text + texts.VALIDATION_BATCHES[context.recipe.validation]


def _build(context: Any) -> str:
    calls = context.keras_calls()
    names = names_of(calls)
    if context.front:
        names[context.front[-1]] = "prepared"
    written = [layer for layer in calls if layer.name not in context.front]
    lines = "\n".join(layer_lines(written, names, more=lambda layer: _more(context, layer)))
    text = _BUILD if context.front else _BUILD_WHOLE
    return text.format(lines=lines, output=output_of(calls, names))


def _more(context: Any, layer: Any) -> list[str]:
    """What a layer is told beside the project's own parameters, for the sake of the cores."""
    words = []
    if layer.spec.has_batch_statistics:
        words += _SYNCHRONIZED[context.recipe.sync_batch_norm]
    if context.recipe.precision != "float32" and layer.name in context.float32_names:
        words.append('dtype="float32"')
    return words


def _recipe(context: Any, loop: LoopText) -> str:
    recipe = context.recipe
    steps = recipe.steps_per_epoch or "max(1, len(x_train) // BATCH_SIZE)"
    names = "model, network" if context.front else "model = network"
    text = f"{loop.optimizer()}\n\n{loop.loss()}STEPS = {steps}  # of an epoch\n"
    if recipe.precision != "float32":
        text += 'if PRECISION == "bfloat16":  # the weights and the output stay in float32\n'
        text += '    keras.config.set_dtype_policy("mixed_bfloat16")\n'
    text += f"with strategy.scope():\n    {names} = build_model()\n"
    text += "    optimizer = make_optimizer(STEPS)\n"
    text += "    optimizer.build(network.trainable_variables)\n"
    inside = [layer for layer in context.keras_calls() if layer.name not in context.front]
    if any(layer.spec.is_adapted for layer in inside):
        text += _MODEL_ADAPT
    return text + "model.summary()\n"


def _save(context: Any) -> str:
    validation = {"split": "len(x_validation)", "test": "len(x_test)", "none": "0"}
    recipe = "".join(
        f"        {literal(key)}: {literal(value)},\n"
        for key, value in context.recipe_values.items()
    )
    return texts.SAVE.format(
        recipe=f"{{\n{recipe}    }}", num_validation=validation[context.recipe.validation]
    )
