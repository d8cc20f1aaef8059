"""Trains the same steps on one device and on several replicas; prints what came out as JSON:
case -> [one device's, the replicas'].

A process of its own: logical devices must be made before TensorFlow has started. Built as a
trainer builds, through the target's own `connect`.

    python replicas_script.py REPLICAS
"""

from __future__ import annotations

import itertools
import json
import sys

import numpy as np

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Choice, Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.pictures.prepare import PreparedData, PreparedPart
from workbench.worker.execution.compiled import compile_training, connect, sizes_of

CONV = ("conv2d", {"filters": 4, "activation": "relu", "kernel_l2": 0.01})
NORM = ("batch_normalization", {})
CASES = {
    # Clipping looks at the gradient of the whole batch, wherever its parts were computed.
    "mixed": (
        [("random_flip", {}), CONV],
        {
            "clip_norm": 0.5,
            "label_smoothing": 0.1,
            "ema_decay": 0.9,
            "mixing": "mixup",
            "random_erasing": 0.5,
            "class_weights": "balanced",
            "top_k": 2,
        },
    ),
    "lamb": ([CONV], {"optimizer": "lamb", "decay_biases": False, "weight_decay": 0.01}),
    "muon": ([CONV], {"optimizer": "muon", "clip_norm": 1.0, "ema_decay": 0.9}),
    "synchronized": (
        [CONV, NORM],
        {
            "optimizer": "lars",
            "decay_biases": False,
            "weight_decay": 0.01,
            "loss": "focal",
            "sync_batch_norm": "on",
        },
    ),
    "random": (
        [CONV, ("dropout", {"rate": 0.3}), ("spatial_dropout2d", {"rate": 0.3}),
         ("gaussian_noise", {})],
        {},
    ),
    "normalized": ([CONV, NORM], {"loss": "focal", "sync_batch_norm": "off"}),
}  # fmt: skip
STEPS = 6


def data():
    random = np.random.default_rng(0)

    def part(count):
        pictures = random.integers(0, 256, (count, 8, 8, 1), dtype=np.uint8)
        # A few of one class, many of another: weights of classes differ.
        return PreparedPart(pictures, random.integers(0, 9, count) // 2 % 3)

    return PreparedData(("a", "b", "c"), part(331), part(151), None)


def project_of(middle, values, target):
    kinds = [
        ("input", {"shape": (8, 8, 1)}),
        ("rescaling", {}),
        *middle,
        ("flatten", {}),
        ("dense", {"units": 3, "activation": "softmax"}),
    ]
    nodes = [Node(f"n{i}", kind, f"n{i}", params) for i, (kind, params) in enumerate(kinds)]
    edges = [Edge(a.id, b.id) for a, b in itertools.pairwise(nodes)]
    recipe = {"precision": "float32", "xla": "off", "batch_size": 56, **values}
    recipe = TrainingRecipe().with_values(**recipe)
    return Project(graph=Graph.of(nodes, edges), recipe=recipe, target=target)


def trained(project):
    """Some steps, then more; then the same more from the state in between once again."""
    target, pictures = connect(project), data()
    sizes = sizes_of(project, len(pictures.train), replicas=target.replicas)
    compiled = compile_training(project, pictures, target=target, sizes=sizes, check=lambda: None)
    rates = np.linspace(0.02, 0.001, 2 * STEPS, dtype=np.float32)
    loop = compiled.loop
    first = loop.train(compiled.iterator, STEPS, rates=rates[:STEPS])
    between = compiled.read_state()
    second = loop.train(compiled.iterator, STEPS, rates=rates[STEPS:])
    end = compiled.read_state()
    with compiled.averaging.applied():
        scores = compiled.validation.scores(lambda _fraction: None, lambda steps: steps)
    compiled.restore_state(between)
    again = loop.train(compiled.restart(STEPS), STEPS, rates=rates[STEPS:])
    after = compiled.read_state()
    return {
        "replicas": target.replicas,
        "batch": sizes.batch_size,
        "losses": [*first.losses.tolist(), *second.losses.tolist()],
        "accuracies": [*first.accuracies.tolist(), *second.accuracies.tolist()],
        "scores": [scores.loss, scores.accuracy],
        "top_k": scores.top_k_accuracy,
        "count": scores.count,
        "confusion": scores.confusion.tolist(),
        "weights": [v.numpy().ravel().tolist() for v in compiled.built.model.trainable_variables],
        "is_resumed_exactly": second.losses.tolist() == again.losses.tolist()
        and all(np.array_equal(end[name], after[name]) for name in end),
        "spread": max(spreads(target.strategy, compiled.state_variables().values())),
    }


def spreads(strategy, variables):
    """How far each variable's values on the replicas are apart."""
    for variable in variables:
        values = [np.array(v.numpy()) for v in strategy.experimental_local_results(variable)]
        if values[0].dtype.kind == "f" and values[0].size:
            yield max(float(np.abs(value - values[0]).max()) for value in values)
        else:
            yield 0.0 if all(np.array_equal(value, values[0]) for value in values) else 1.0


def main():
    several = Choice("virtual", {"replicas": int(sys.argv[1])})
    connect(Project(target=several))  # before anything starts TensorFlow with one device
    results = {
        name: [
            trained(project_of(middle, values, target))
            for target in (Choice("this_computer"), several)
        ]
        for name, (middle, values) in CASES.items()
    }
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
