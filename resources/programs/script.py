"""$title: written by Workbench.

Train:     python $file train DATA NEW.weights.h5
Classify:  python $file classify OLD.weights.h5 IMAGE...

DATA is an .npz file of images in the size of the network's input, uint8, 0 to 255, and of their
class numbers: x_train, y_train, x_test, y_test; and x_validation, y_validation where a part is held out.
Workbench has written $images beside this file: the images, edited and divided, as it trains on.  #? has_images
For a project, `workbench export PROJECT python FILE` writes such a file.  #? not has_images
That an image is unlike the training images is known to Workbench alone, not to this file.  #? has_limit
Training starts with the pretrained weights in $pretrained, beside this file.  #? is_pretrained
Training has two phases: in the second one the layers named tuned_... learn, too.  #? has_fine_tuning
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import re
import stat
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf  #? needs_tensorflow
from keras import layers
from PIL import Image, JpegImagePlugin

FILL: Any = None  #? template
CLASS_NAMES = erase = mix = picked = read_image = FILL  #? template
PARTS = "train", "validation", "test"
INPUT_SHAPE = FILL.input_shape
# The names of the classes are not known: these are their numbers.  #? is_numbered
# $class_names
# Of the images that were written with this file.  #? has_images
DIGEST = FILL.digest  #? has_images
# Of the weights that were exported with this file: others need another one.  #? is_calibrated
TEMPERATURE = FILL.temperature  #? is_calibrated
# Below this probability the answer is "unknown".  #? has_least
LEAST_PROBABILITY = FILL.least  #? has_least


def build_model():
    """The network; load_weights reads what Workbench exports as .weights.h5."""
    inputs = keras.Input(INPUT_SHAPE)
    # $layers
    return keras.Model(inputs, FILL.output)


# $helpers
def load_image(path):
    """The pixels of an image file in the shape of the network's input."""
    return read_image(path, INPUT_SHAPE, FILL.fit_literal, FILL.value_range)


def load_data(path):
    """Training, validation and test images, each with labels; a part may be without images."""
    try:
        with np.load(path, allow_pickle=False) as data:
            arrays = {name: data[name] for name in data.files}
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path} is no .npz file of images: {error}") from error
    missing = {"x_train", "y_train", "x_test", "y_test"} - set(arrays)
    if missing:
        raise SystemExit(f"{path} does not have {', '.join(sorted(missing))}.")
    if str(arrays.get("digest", DIGEST)) != DIGEST:  #? has_images
        raise SystemExit(f"{path} belongs to another program: export both again.")  #? has_images
    names = [str(name) for name in arrays.get("class_names", CLASS_NAMES)]
    if names != CLASS_NAMES:
        raise SystemExit(f"{path} has other classes: {', '.join(names)}.")
    parts = [checked(arrays, part) for part in PARTS]
    if "x_validation" not in arrays:  #? holds_out
        x, y = parts[0]  #? holds_out
        is_held_out = picked(y, FILL.validation_share, seed=FILL.validation_seed)  #? holds_out
        parts[0] = x[~is_held_out], y[~is_held_out]  #? holds_out
        parts[1] = x[is_held_out], y[is_held_out]  #? holds_out
    return parts


def checked(arrays, part):
    """Images and labels of a part, as the network takes them."""
    none = np.zeros((0, *INPUT_SHAPE), np.uint8), np.zeros(0, np.int64)
    x, y = arrays.get(f"x_{part}", none[0]), arrays.get(f"y_{part}", none[1]).ravel()
    if INPUT_SHAPE[2] == 1 and x.ndim == 3:
        x = x[..., None]
    shape = x.shape[1:]
    if x.dtype != np.uint8 or shape != INPUT_SHAPE:
        raise SystemExit(f"x_{part} is {x.dtype} {shape}, not uint8 {INPUT_SHAPE}.")
    is_number = y.dtype.kind in "iu" and len(y) == len(x)
    if not is_number or (len(y) and not 0 <= y.min() <= y.max() < len(CLASS_NAMES)):
        raise SystemExit(f"y_{part} is not a class number for each image of x_{part}.")
    return x, y.astype(np.int64)


# $picked
def train(model, data_path, weights_path):
    """Trains on the images of an .npz file and saves the weights."""
    model.load_weights(Path(__file__).with_name(FILL.pretrained_literal))  #? is_pretrained
    parts = load_data(data_path)
    counts: Any = FILL  #? template
    counts = ", ".join(f"{len(y):,} {name}" for (_, y), name in zip(parts, PARTS))
    print(f"{counts} images")
    (x_train, y_train), (x_validation, y_validation), (x_test, y_test) = parts  #? splits_validation
    (x_train, y_train), _, (x_test, y_test) = parts  #? not splits_validation
    found, counts = np.unique(y_train, return_counts=True)  #? is_balanced
    weights = len(y_train) / (len(found) * counts)  #? is_balanced
    class_weight = dict(zip(found.tolist(), weights.tolist()))  #? is_balanced
    y_train = keras.utils.to_categorical(y_train, len(CLASS_NAMES))  #? is_one_hot
    y_validation = keras.utils.to_categorical(y_validation, len(CLASS_NAMES))  #? splits_one_hot
    y_test = keras.utils.to_categorical(y_test, len(CLASS_NAMES))  #? is_one_hot
    y_train = FILL.kept * y_train + FILL.spread / len(CLASS_NAMES)  # label smoothing  #? is_smoothed
    for layer in model.layers:  # mean and variance of the training images  #? is_adapted
        if isinstance(layer, layers.Normalization):  #? is_adapted
            before = keras.Model(model.inputs, layer.input)  #? is_adapted
            layer.adapt(before.predict(x_train[:10000], verbose=0))  #? is_adapted
    data = tf.data.Dataset.from_tensor_slices((x_train, y_train))  #? needs_tensorflow
    data = FILL.shuffled.batch(FILL.batch_size)  #? needs_tensorflow
    # $erase
    data = data.map(lambda x, y: (erase(x), y))  #? erases
    # Keras cuts any share alike; trained with alpha = $alpha.  #? cuts_other_share
    # $mix
    data = data.map(lambda x, y: mix({"images": x, "labels": y}))  #? mixes
    data = data.map(lambda both: (both["images"], both["labels"]))  #? mixes
    data = data.prefetch(3)  #? changes_batches
    # $phases
    if len(y_test):
        pass  # $evaluation
    model.save_weights(weights_path)


def shown(text):
    """The text in one line: names of files and classes may hold what a terminal would act on."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def classify(model, weights_path, image_paths):
    """Prints the most likely class of each image."""
    sys.stdout.reconfigure(errors="backslashreplace")
    model.load_weights(weights_path)
    for path in image_paths:
        outputs = model.predict(load_image(path)[None].astype("float32"), verbose=0)[0]
        shares = FILL.shares
        scores = np.log(np.maximum(shares.astype(np.float64), 1e-38)) / TEMPERATURE  #? is_calibrated
        shares = np.exp(scores - scores.max())  #? is_calibrated
        shares /= shares.sum()  #? is_calibrated
        best = int(shares.argmax())
        if not shares[best] >= LEAST_PROBABILITY:  #? has_least
            print(shown(f"{path}: unknown ({CLASS_NAMES[best]}, {shares[best]:.1%})"))  #? has_least
            continue  #? has_least
        print(shown(f"{path}: {CLASS_NAMES[best]} ({shares[best]:.1%})"))


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
    keras.utils.set_random_seed(FILL.seed)
    model = build_model()
    if arguments.command == "train":
        train(model, arguments.data, arguments.weights)
    else:
        classify(model, arguments.weights, arguments.images)


# $image_reader


if __name__ == "__main__":
    main()
