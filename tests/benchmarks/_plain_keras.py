"""The three templates as plain Keras scripts, as their tutorials write them: images/s.

`python -m tests.benchmarks._plain_keras TEMPLATE PICTURES STEPS EPOCHS` prints the images/s of
each epoch but the first, which compiles. float32, `compile` and `fit` with Keras's defaults,
pictures as a float32 array, or of a folder by `image_dataset_from_directory`, cached, with the
augmentation layers inside the model.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from tests.benchmarks.published_cifar import published_network


def _fashion(keras: Any) -> Any:
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Conv2D(64, 3),
            layers.MaxPooling2D(2),
            layers.ReLU(),
            layers.Flatten(),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def _flowers(keras: Any) -> Any:
    layers = keras.layers

    def conv(filters: int) -> Any:
        return layers.Conv2D(filters, 3, padding="same", activation="relu")

    model = keras.Sequential(
        [
            layers.Input((192, 192, 3)),
            layers.RandomFlip("horizontal"),
            layers.RandomRotation(0.1),
            layers.RandomZoom(0.25),
            layers.RandomTranslation(0.12, 0.12),
            layers.RandomContrast(0.2),
            layers.RandomBrightness(0.15),
            layers.Rescaling(1 / 255),
            conv(16),
            conv(30),
            layers.MaxPooling2D(2),
            conv(60),
            layers.MaxPooling2D(2),
            conv(90),
            layers.MaxPooling2D(2),
            conv(110),
            layers.MaxPooling2D(2),
            conv(130),
            layers.GlobalAveragePooling2D(),
            layers.Dense(90, activation="relu"),
            layers.Dense(5, activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


MODELS = {
    "cifar10_convnet": (published_network, 1024),
    "fashion_convnet": (_fashion, 1000),
    "flowers_gap": (_flowers, 32),
}
"""Template -> its plain network, compiled, and the tutorial's batch."""


def _fit_arguments(keras: Any, pictures: str, batch: int, steps: int) -> dict[str, Any]:
    if pictures.endswith(".npz"):
        with np.load(pictures) as data:
            x = data["x_train"][: batch * steps].astype("float32")
            y = data["y_train"][: batch * steps].reshape(-1)
        return {"x": x, "y": y, "batch_size": batch}
    dataset = keras.utils.image_dataset_from_directory(
        pictures, image_size=(192, 192), batch_size=batch, verbose=False
    )
    return {"x": dataset.take(steps).cache().prefetch(-1)}


def main() -> None:
    """Trains and prints."""
    import keras

    template, pictures, steps, epochs = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:5])
    make, batch = MODELS[template]
    keras.utils.set_random_seed(7)
    model = make(keras)
    arguments = _fit_arguments(keras, pictures, batch, steps)
    for epoch in range(epochs):
        began = time.perf_counter()
        model.fit(**arguments, epochs=1, verbose=0)
        if epoch:
            print(batch * steps / (time.perf_counter() - began), flush=True)


if __name__ == "__main__":
    main()
