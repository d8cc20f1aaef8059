"""Parts of exported scripts and notebooks, a section each; `workbench.programs.texts` fills them in.

What stands before the first section is for the checkers alone.
"""

from __future__ import annotations

import json
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

FILL: Any = None
CLASS_NAMES = INPUT_SHAPE = images_path = model = network = optimizer = strategy = FILL

# %% download
def load_data():
    """Training and test images with their labels."""
    # $load_program


(x_train, y_train), (x_test, y_test) = load_data()
x_train, x_test = x_train.reshape(-1, *INPUT_SHAPE), x_test.reshape(-1, *INPUT_SHAPE)
y_train, y_test = (np.asarray(y, np.int64).ravel() for y in (y_train, y_test))
print(f"{len(x_train):,} training images, {len(x_test):,} test images")
# %% packed
import hashlib

DIGEST = FILL.digest
PARTS = ("train", "validation", "test")


def digest_of(images):
    """A checksum of class names, labels and pixels."""
    digest = hashlib.sha256(json.dumps(CLASS_NAMES).encode())
    for part in PARTS:
        x, y = images[f"x_{part}"], images[f"y_{part}"]
        digest.update(f"{part} {x.shape}".encode())
        digest.update(y.astype("<i8").tobytes())
        digest.update(np.ascontiguousarray(x).data)
    return digest.hexdigest()


def load_images(path):
    """The parts, and where they were divided; only those that this program is written for."""
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            images = {name: file[name] for part in PARTS for name in (f"x_{part}", f"y_{part}")}
            split = json.loads(str(file["split"]))
        is_right = digest_of(images) == DIGEST
    except Exception as error:  # damaged files fail in many ways
        raise SystemExit(f"{path} is damaged: {error}. Upload it again.") from error
    if not is_right:
        counts = ", ".join(f"{len(images[f'y_{part}']):,} {part}" for part in PARTS)
        raise SystemExit(
            f"{path} holds other images ({counts}) than this program was written for. Upload the "
            "file that Workbench has written beside it, or export the program again."
        )
    return images, split


images, split = load_images(images_path)
x_train, y_train = images["x_train"], images["y_train"]
x_validation, y_validation = images["x_validation"], images["y_validation"]
x_test, y_test = images["x_test"], images["y_test"]
print(f"{len(x_train):,} training, {len(x_validation):,} validation, {len(x_test):,} test images")
for number, name in enumerate(CLASS_NAMES[:50]):
    print(name, *(np.count_nonzero(y == number) for y in (y_train, y_validation, y_test)))
# %% picked
def mixed(numbers):
    """SplitMix64: 64-bit numbers scattered evenly, always in the same way."""
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def picked(labels, share, seed):
    """Marks a fraction of each class: the same images that Workbench holds out."""
    is_picked = np.zeros(len(labels), bool)
    for label in np.unique(labels):
        places = np.flatnonzero(labels == label)
        keys = mixed(places.astype(np.uint64) + mixed(np.array([seed], np.uint64)))
        count = min(max(1, int(share * len(places) + 0.5)), len(places) - 1)
        is_picked[places[np.argsort(keys, kind="stable")][:count]] = True
    return is_picked
# %% front
# These layers run on the host, in the input pipeline.
front = keras.Sequential(
    [
        # $front_layers
    ]
)
#? adapts_front
#? adapts_front
def adapt_front():  #? adapts_front
    """Measures mean and variance of the training images."""  #? adapts_front
    for number, layer in enumerate(front.layers):  #? adapts_front
        if isinstance(layer, layers.Normalization):  #? adapts_front
            x = x_train[:10_000].astype(np.float32)  #? adapts_front
            for before in front.layers[:number]:  #? adapts_front
                x = before(x)  #? adapts_front
            layer.adapt(x)  #? adapts_front
#? adapts_front
#? adapts_front
adapt_front()  #? adapts_front
# %% make_optimizer
# $helpers
def make_optimizer(steps):
    """The optimizer, for this number of steps per epoch."""  #? not is_tuned
    """The optimizer of the first phase, for this number of steps per epoch."""  #? is_tuned
    # $optimizer
    return optimizer
# %% make_tuning_optimizer
def make_tuning_optimizer(steps):
    """The optimizer of fine-tuning, for this number of steps per epoch."""
    # $optimizer
    return optimizer
# %% warm_up
class WarmUp(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warm-up to the peak learning rate, then another schedule."""

    def __init__(self, start, peak, steps, after):
        self.start, self.peak, self.steps, self.after = start, peak, steps, after

    def __call__(self, step):
        step = keras.ops.cast(step, "float32")
        climbing = self.start + (self.peak - self.start) * step / max(1, self.steps)
        return keras.ops.where(step < self.steps, climbing, self.after(step))
# %% penalty
def penalty():
    """The regularization losses of the layers."""
    return sum(tf.cast(one, tf.float32) for one in network.losses)
# %% swap_averages
def swap_averages():
    """Swaps the weights with their moving averages, and back."""
    averages = optimizer._model_variables_moving_average
    with strategy.scope():
        for variable, average in zip(network.trainable_variables, averages):
            kept = variable.numpy()
            variable.assign(average.numpy())
            average.assign(kept)
# %% phase
def phase(x_train, y_train):  #? template
    # Fine-tuning: more layers learn, by an optimizer that starts anew.  #? is_fine_tuning
    for layer in model.layers:  #? is_fine_tuning
        if layer.name.startswith("tuned_"):  #? is_fine_tuning
            layer.trainable = True  #? is_fine_tuning
    # Only fine-tuning keeps its best epoch.  #? is_best_later
    # $optimizer
    model.compile(
        optimizer=optimizer,
        # $loss
        # $metrics
    )
    callbacks = [  #? has_callbacks
        # $callbacks
    ]  #? has_callbacks
    # $fit
