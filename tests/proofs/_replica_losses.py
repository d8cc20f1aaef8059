"""The losses of cifar10_convnet's first steps on one device and on several replicas, as JSON.

A process of its own: logical devices must be made before TensorFlow has started. Built as a
trainer builds, in float32, without augmentation and dropout, all from the same start:

- one: on one device.
- reversed: the same with the pictures of each batch in reversed order. To mathematics that is
  the same training; how far it is from the first shows what rounding alone does.
- on, off: on the replicas, with `sync_batch_norm`.

    python -m tests.proofs._replica_losses '{"data": NPZ, "replicas": 8, "steps": 50,
        "batch_size": 1024, "recipe": {"optimizer": "sgd", "learning_rate": 0.001}}'
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace

import numpy as np
import tensorflow as tf

from tests.proofs.replicas import without_chance
from workbench.core.projects.project import Choice, Project
from workbench.pictures.prepare import PreparedData, PreparedPart
from workbench.templates import find_template
from workbench.worker.execution.compiled import Connected, compile_training, connect, sizes_of


def main(order: dict[str, object]) -> dict[str, dict[str, object]]:
    """Case -> its losses, seconds until the first step was over, and seconds of the others."""
    target = Choice("virtual", {"replicas": order["replicas"]})
    several = connect(Project(target=target))  # the first thing: it makes the devices
    one = Connected(tf.distribute.OneDeviceStrategy("/cpu:0"))
    data = _data(order)
    return {
        "one": _trained(order, data, one),
        "reversed": _trained(order, data, one, is_reversed=True),
        "on": _trained(order, data, several, sync_batch_norm="on"),
        "off": _trained(order, data, several, sync_batch_norm="off"),
    }


def _data(order: dict[str, object]) -> PreparedData:
    with np.load(order["data"]) as arrays:
        x, y = arrays["x_train"], arrays["y_train"].ravel().astype(np.int64)
    names = tuple(str(label) for label in range(int(y.max()) + 1))
    return PreparedData(names, PreparedPart(x, y), None, None)


def _trained(order, data, target, *, is_reversed=False, **recipe):
    project = find_template("cifar10_convnet").project
    values = {
        "batch_size": order["batch_size"],
        "precision": "float32",
        "xla": "off",
        "validation": "none",
        **order["recipe"],
        **recipe,
    }
    project = replace(
        project,
        graph=without_chance(project.graph),
        recipe=project.recipe.with_values(**values),
    )
    began = time.monotonic()
    sizes = sizes_of(project, len(data.train), replicas=target.replicas)
    compiled = compile_training(project, data, target=target, sizes=sizes, check=lambda: None)
    batches = compiled.batches
    if is_reversed:
        batches = batches.map(lambda x, y: (x[::-1], y[::-1]))
    iterator = compiled.loop.distribute(batches)
    rates = np.full(order["steps"], project.recipe.peak_rate, np.float32)
    first = compiled.loop.train(iterator, 1, rates=rates[:1])
    start_s = time.monotonic() - began
    rest = compiled.loop.train(iterator, len(rates) - 1, rates=rates[1:])
    return {
        "losses": [*first.losses.tolist(), *rest.losses.tolist()],
        "start_s": start_s,
        "steps_s": rest.seconds,
    }


if __name__ == "__main__":
    json.dump(main(json.loads(sys.argv[1])), sys.stdout)
