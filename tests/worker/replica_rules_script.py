"""What only shows on several replicas, of 7 and of 8; prints it as JSON by their number.

A process of its own: logical devices must be made before TensorFlow has started.
"""

from __future__ import annotations

import itertools
import json
import sys

import numpy as np
import tensorflow as tf

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Choice, Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers
from workbench.pictures.prepare import PreparedData, PreparedPart
from workbench.worker.execution.compiled import Connected, compile_training, connect, sizes_of
from workbench.worker.input.augment import through
from workbench.worker.model.build import assign_weights, build_model, read_weights

WIDE = ("conv2d", {"filters": 16})
RANDOM = {
    "dropout": ("dropout", {"rate": 0.5}),
    "spatial_dropout2d": ("spatial_dropout2d", {"rate": 0.5}),
    "gaussian_noise": ("gaussian_noise", {"stddev": 1.0}),
}


SYNC = {"7": "off", "8": "on"}
"""A mean over seven is not exact: it is where averaged statistics could come apart."""


def on(replicas):
    return Choice("virtual", {"replicas": replicas})


def part(count, classes, *, each_its_own=False):
    random = np.random.default_rng(count)
    pictures = random.integers(0, 256, (count, 4, 4, 1), dtype=np.uint8)
    labels = np.arange(count) if each_its_own else random.integers(0, classes, count)
    return PreparedPart(pictures, labels)


def compiled_of(target, middle, *, train, validation=None, classes=3, **values):
    kinds = [
        ("input", {"shape": (4, 4, 1)}),
        ("rescaling", {}),
        *middle,
        ("flatten", {}),
        ("dense", {"units": classes, "activation": "softmax"}),
    ]
    nodes = [Node(f"n{i}", kind, f"n{i}", params) for i, (kind, params) in enumerate(kinds)]
    edges = [Edge(a.id, b.id) for a, b in itertools.pairwise(nodes)]
    recipe = {"precision": "float32", "xla": "off", "batch_size": 56, **values}
    project = Project(
        graph=Graph.of(nodes, edges),
        recipe=TrainingRecipe().with_values(**recipe),
    )
    data = PreparedData(tuple(map(str, range(classes))), train, validation, None)
    sizes = sizes_of(project, len(train), replicas=target.replicas)
    compiled = compile_training(project, data, target=target, sizes=sizes, check=lambda: None)
    return project, compiled


def drawn(place):
    """Layer -> what it does to ones, twice in a row; on each replica of a place."""
    _, compiled = compiled_of(place, [WIDE, *RANDOM.values()], train=part(64, 3))
    layers = {one.name: one for one in compiled.built.model.layers}
    drawing = [layers[f"n{3 + index}"] for index in range(len(RANDOM))]
    ones = tf.ones((2, 2, 2, 16))

    def call():
        return [tf.stack([one(ones, training=True) for _ in range(2)]) for one in drawing]

    of_layers = tf.function(place.strategy.run, autograph=False)(call)
    return {
        name: [np.array(value).ravel().tolist() for value in local(place, values)]
        for name, values in zip(RANDOM, of_layers, strict=True)
    }


def local(place, values):
    return place.strategy.experimental_local_results(values)


def masks(target, alone):
    """Layer -> what it does to ones on one device, and on each replica."""
    parts = drawn(target)
    return {name: [alone[name][0], parts[name]] for name in RANDOM}


def counted(target):
    """(pictures, how often each was counted) of validations with odd numbers of them."""
    for count in (5, 97, 151):
        _, compiled = compiled_of(
            target,
            [],
            train=part(64, count),
            validation=part(count, count, each_its_own=True),
            classes=count,
        )
        scores = compiled.validation.scores(lambda _fraction: None, lambda steps: steps)
        assert scores.count == count
        yield count, scores.confusion.sum(axis=1).tolist()


def predictions(target, sync):
    """How far predictions are apart after some steps with a batch normalization."""
    middle = [("conv2d", {"filters": 4}), ("batch_normalization", {"momentum": 0.5})]
    project, compiled = compiled_of(target, middle, train=part(128, 3), sync_batch_norm=sync)
    before = read_weights(compiled.built)
    compiled.loop.train(compiled.iterator, 4)
    after = read_weights(compiled.built)
    pictures = tf.constant(part(32, 3).x, tf.float32)
    model, strategy = compiled.built.model, target.strategy
    inputs = through(pictures, [layer for _, layer in compiled.built.pipeline], training=False)
    run = tf.function(lambda: strategy.run(model, args=(inputs,)), autograph=False)
    parts = [np.array(value) for value in strategy.experimental_local_results(run())]
    whole = build_model(project.graph, all_layers(), whole=True)
    assign_weights(whole, after)
    reloaded = np.array(whole.model(pictures, training=False))
    return {
        "has_learned_statistics": any(
            "moving" in name and not np.array_equal(before[name], after[name]) for name in after
        ),
        "between_replicas": max(float(np.abs(one - parts[0]).max()) for one in parts),
        "reloaded": float(np.abs(reloaded - parts[0]).max()),
    }


def main():
    # The largest first: they share the devices that this makes.
    targets = {str(count): connect(Project(target=on(count))) for count in (8, 7)}
    alone = drawn(Connected(tf.distribute.OneDeviceStrategy("/cpu:0")))
    results = {
        key: {
            "masks": masks(target, alone),
            "counted": list(counted(target)),
            "predictions": predictions(target, SYNC[key]),
        }
        for key, target in targets.items()
    }
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
