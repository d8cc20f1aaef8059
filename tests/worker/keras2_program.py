"""Programs of Keras 2 (`tf_keras`), without Workbench: the other side in test_keras2_weights.

    python keras2_program.py FOLDER JOB NAME [JOB NAME ...]

published   the published CIFAR-10 script: trains one step, saves weights and model
nested      a MobileNetV2 within a model, partly frozen, as in the tutorial on fine-tuning
make        the network NAME.json with random weights, saved
check       the same network with the weights NAME.keras2.h5, loaded by order and by name

Each job leaves its answers for the pictures NAME.npy as NAME.JOB.npy.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import tf_keras
from tf_keras import layers, models

KERAS_2_ARGUMENTS = {"LeakyReLU": {"negative_slope": "alpha"}}
"""What Keras 3 has renamed."""


def answers(model, folder, name):
    return np.asarray(model(np.load(folder / f"{name}.npy").astype("float32"), training=False))


def random_weights(model):
    """Weights that no other layer and no other place has; factors and variances near one."""
    tf_keras.utils.set_random_seed(3)
    random = np.random.default_rng(3)
    for layer in model.layers:
        if hasattr(layer, "layers"):
            random_weights(layer)
            continue
        weights = layer.get_weights()
        if isinstance(layer, layers.Normalization):
            mean, variance, count = weights
            weights = [mean + 120.0, 5_000.0 * variance, count]
        noise = [random.normal(0, 0.02 + 0.1 * w.std(), w.shape) for w in weights]
        layer.set_weights([w + n for w, n in zip(weights, noise, strict=True)])
        if hasattr(layer, "finalize_state"):
            layer.finalize_state()


def published(folder, name):
    model = models.Sequential()
    model.add(layers.BatchNormalization(input_shape=(32, 32, 3)))
    model.add(layers.Conv2D(32, (3, 3), padding="same", activation="relu"))
    model.add(layers.Conv2D(32, (3, 3), padding="same", activation="relu"))
    model.add(layers.MaxPooling2D(pool_size=(2, 2)))
    model.add(layers.Dropout(0.25))
    model.add(layers.BatchNormalization())
    model.add(layers.Conv2D(64, (3, 3), padding="same", activation="relu"))
    model.add(layers.Conv2D(64, (3, 3), activation="relu"))
    model.add(layers.MaxPooling2D(pool_size=(2, 2)))
    model.add(layers.Dropout(0.25))
    model.add(layers.Flatten())
    model.add(layers.Dense(512, activation="relu"))
    model.add(layers.Dropout(0.5))
    model.add(layers.Dense(10, activation="softmax"))
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    random = np.random.default_rng(4)
    pictures = random.integers(0, 256, (32, 32, 32, 3)).astype("float32")
    model.fit(pictures, random.integers(0, 10, 32), batch_size=32, epochs=1, verbose=0)
    model.save_weights(folder / f"{name}.h5")
    model.save(folder / f"{name}.model.h5")
    return {"published": answers(model, folder, name)}


def nested(folder, name):
    base = tf_keras.applications.MobileNetV2(
        weights=None, include_top=False, input_shape=(32, 32, 3)
    )
    model = models.Sequential(
        [
            layers.Rescaling(1 / 127.5, -1, input_shape=(32, 32, 3)),
            base,
            layers.GlobalAveragePooling2D(),
            layers.Dense(5),
        ]
    )
    random_weights(model)
    norms = [
        layer for layer in base.layers if isinstance(layer, tf_keras.layers.BatchNormalization)
    ]
    for layer in norms:
        layer.momentum = 0.0  # takes over the statistics of one batch
    model(np.load(folder / f"{name}.npy").astype("float32"), training=True)
    for layer in base.layers[:100]:
        layer.trainable = False
    model.save_weights(folder / f"{name}.h5")
    return {"nested": answers(model, folder, name)}


def built(folder, name):
    """The network as Keras calls one after the other, in Keras 2's words."""
    tensors, first = {}, None
    for call in json.loads((folder / f"{name}.json").read_text()):
        if not call["inputs"]:
            first = tensor = layers.Input(call["shape"], name=call["name"])
        else:
            renamed = KERAS_2_ARGUMENTS.get(call["class"], {})
            arguments = {renamed.get(key, key): value for key, value in call["arguments"].items()}
            inputs = [tensors[source] for source in call["inputs"]]
            layer = getattr(layers, call["class"])(**arguments, name=call["name"])
            tensor = layer(inputs if len(inputs) > 1 else inputs[0])
        tensors[call["name"]] = tensor
    return tf_keras.Model(first, tensor)


def make(folder, name):
    model = built(folder, name)
    random_weights(model)
    model.save_weights(folder / f"{name}.h5")
    return {"make": answers(model, folder, name)}


def check(folder, name):
    path = folder / f"{name}.keras2.h5"
    by_order, by_name = built(folder, name), built(folder, name)
    by_order.load_weights(path)
    by_name.load_weights(path, by_name=True)
    return {"order": answers(by_order, folder, name), "name": answers(by_name, folder, name)}


JOBS = {job.__name__: job for job in (published, nested, make, check)}


if __name__ == "__main__":
    place, *orders = sys.argv[1:]
    for job, name in zip(orders[::2], orders[1::2], strict=True):
        for made, array in JOBS[job](Path(place), name).items():
            np.save(Path(place) / f"{name}.{made}.npy", array)
        tf_keras.backend.clear_session()
