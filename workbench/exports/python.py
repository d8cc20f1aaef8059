"""A stand-alone Python script: the network, its training, and classifying with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.core.specs import ExportSpec
from workbench.core.storage.save import save_bytes
from workbench.programs.code import call, comment_text, literal, sequence
from workbench.programs.network import layer_lines, names_of, output_of
from workbench.programs.training import TrainingText

_HEAD = '''"""{title}: written by Workbench.

Train:     python {file} train DATA.npz NEW.weights.h5
Classify:  python {file} classify OLD.weights.h5 IMAGE...

DATA.npz holds x_train, y_train, x_test and y_test. The images are raw, 0 to 255.
"""

import argparse

import keras
import numpy as np
{tensorflow}from keras import layers

INPUT_SHAPE = {shape}
{classes}


def build_model():
    """The network; load_weights reads what Workbench exports as .weights.h5."""
'''

_TRAIN = '''{helpers}

def train(model, data_path, weights_path):
    """Trains on the arrays of an npz file and saves the weights."""
    with np.load(data_path) as data:
        x_train, y_train = data["x_train"], data["y_train"].ravel()
        x_test, y_test = data["x_test"], data["y_test"].ravel()
{data}{adapt}{optimizer}
    model.compile(
        optimizer=optimizer,
{loss}
{metrics}
    )
{fit}
{evaluation}
    model.save_weights(weights_path)


def classify(model, weights_path, image_paths):
    """Prints the most likely class of each image."""
    model.load_weights(weights_path)
    for path in image_paths:
        image = keras.utils.load_img(path, color_mode="{color}")
        pixels = keras.utils.img_to_array(image)
{resize}
        outputs = model.predict(np.asarray(pixels)[None], verbose=0)[0]
        shares = {shares}
        best = int(shares.argmax())
        print(f"{{path}}: {{CLASS_NAMES[best]}} ({{shares[best]:.1%}})")


def main():
    """Reads the command line."""
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train")
    training.add_argument("data")
    training.add_argument("weights")
    classifying = commands.add_parser("classify")
    classifying.add_argument("weights")
    classifying.add_argument("images", nargs="+")
    arguments = parser.parse_args()
    keras.utils.set_random_seed({seed})
    model = build_model()
    if arguments.command == "train":
        train(model, arguments.data, arguments.weights)
    else:
        classify(model, arguments.weights, arguments.images)


if __name__ == "__main__":
    main()
'''

_ADAPT = """    for layer in model.layers:  # mean and variance of the training images
        if isinstance(layer, layers.Normalization):
            before = keras.Model(model.inputs, layer.input)
            layer.adapt(before.predict(x_train[:10000], verbose=0))
"""


def script(context: Any, file: str) -> str:
    """The text of the script for what the worker hands to exports."""
    card, calls = context.card, context.keras_calls()
    text = TrainingText(context.recipe, is_logits=card.is_logits)
    title = comment_text(card.title) or "A network"
    head = _HEAD.format(
        title=title,
        file=comment_text(file.replace(" ", "_")),
        tensorflow="import tensorflow as tf\n" if text.needs_tensorflow else "",
        shape=literal(tuple(card.input_shape)),
        classes=sequence("CLASS_NAMES", card.class_names),
    )
    is_adapted = any(call.spec.is_adapted for call in calls)
    return head + _network(calls) + _training(context, text, _ADAPT if is_adapted else "")


def _network(calls: list[Any]) -> str:
    """The body of build_model: a line a layer, in the order that data flows."""
    names = names_of(calls)
    lines = ["    inputs = keras.Input(INPUT_SHAPE)", *layer_lines(calls, names)]
    return "\n".join([*lines, f"    return keras.Model(inputs, {output_of(calls, names)})\n"])


def _training(context: Any, text: TrainingText, adapt: str) -> str:
    card = context.card
    return _TRAIN.format(
        helpers=text.helpers(),
        data=text.data(),
        adapt=adapt,
        optimizer=text.optimizer(),
        loss=text.loss(),
        metrics=text.metrics(),
        fit=text.fit(),
        evaluation=text.evaluation(),
        color="grayscale" if card.input_shape[2] == 1 else "rgb",
        resize=_resize(card.fit),
        shares="np.asarray(keras.ops.softmax(outputs))" if card.is_logits else "outputs",
        seed=context.recipe.seed,
    )


def _resize(fit: str) -> str:
    words = ["pixels", "INPUT_SHAPE[:2]", "antialias=True"]
    kept = {"crop": "crop_to_aspect_ratio=True", "pad": "pad_to_aspect_ratio=True"}
    if fit in kept:
        words.append(kept[fit])
    return call("pixels = keras.ops.image.resize", words, indent=8)


def _write(context: Any, path: str) -> None:
    text = script(context, Path(path).name)
    context.compare_script(text)
    save_bytes(Path(path), text.encode())


SPEC = ExportSpec(
    key="python",
    title="Python script",
    summary="A readable script with this model and its training, for plain Keras. It loads the "
    "exported .weights.h5.",
    suffix=".py",
    write=_write,
)
