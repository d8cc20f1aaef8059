"""A plain Keras program, without Workbench: the other side of the exchange in test_export.

python plain_keras.py FOLDER

What is to be done comes as lines of stdin, and each is printed when it is done:

make      random weights, saved; their answers
check     answers of what Workbench has exported
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import keras
import numpy as np
from keras import layers

SHAPE = (14, 12, 3)


def build():
    """The architecture of test_export's project, by hand."""
    inputs = keras.Input(SHAPE)
    x = layers.RandomFlip("horizontal")(inputs)
    x = layers.Normalization()(x)
    x = layers.Conv2D(6, 3, padding="same", activation="relu", kernel_regularizer="l2")(x)
    x = layers.BatchNormalization()(x)
    left = layers.SeparableConv2D(6, 3, padding="same")(x)
    right = layers.Conv2D(6, (1, 3), padding="same", use_bias=False)(x)
    right = layers.PReLU(shared_axes=[1, 2])(right)
    x = layers.Add()([left, right])
    x = layers.MaxPooling2D(2)(x)
    x = layers.DepthwiseConv2D(3)(x)
    x = layers.LayerNormalization()(x)
    x = layers.Flatten()(x)
    x = layers.Dropout(0.5)(x)
    return keras.Model(inputs, layers.Dense(4)(x))


def answers(model, folder):
    """Probabilities for the pictures of the folder, raw 0 to 255."""
    pictures = np.load(folder / "pictures.npy").astype("float32")
    return np.asarray(keras.ops.softmax(model(pictures, training=False)))


def make(folder):
    keras.utils.set_random_seed(11)
    random = np.random.default_rng(11)
    model = build()
    for layer in model.layers:
        if isinstance(layer, layers.Normalization):
            layer.adapt(random.uniform(0, 255, (64, *SHAPE)).astype("float32"))
        else:
            layer.set_weights([random.uniform(0.1, 0.6, w.shape) for w in layer.get_weights()])
    model.layers[-1].set_weights(
        [random.normal(0, 0.4, w.shape) for w in model.layers[-1].get_weights()]
    )
    model.save_weights(folder / "plain.weights.h5")
    model.save(folder / "plain.keras")
    np.save(folder / "made.npy", answers(model, folder))


def check(folder):
    model = build()
    model.load_weights(folder / "app.weights.h5")
    np.save(folder / "weights.npy", answers(model, folder))
    model = keras.models.load_model(folder / "app.keras")
    np.save(folder / "keras.npy", answers(model, folder))
    spec = importlib.util.spec_from_file_location("exported", folder / "app.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    model = script.build_model()
    model.load_weights(folder / "app.weights.h5")
    np.save(folder / "script.npy", answers(model, folder))


if __name__ == "__main__":
    for line in sys.stdin:
        {"make": make, "check": check}[line.strip()](Path(sys.argv[1]))
        print(line, end="", flush=True)
