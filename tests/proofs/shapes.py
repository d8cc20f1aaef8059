"""Our shapes and parameter counts against Keras itself, on random networks.

    python -m tests.proofs.shapes --graphs 2000

For valid networks every node's shape, trainable and non-trainable count must be Keras's,
and so must the shapes that come out when a picture goes through.
For invalid ones both must refuse: our check with an error, Keras with an exception while
building the model, or at the latest on its first picture.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
import warnings
from collections.abc import Mapping
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from tests.mistakes import random_invalid_graph
from tests.strategies import random_valid_graph
from workbench.core.checks.analysis import analyse
from workbench.core.network.graph import Graph
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers
from workbench.worker.model.build import connect, make_layer

RECIPE = TrainingRecipe()


def count(weights: list[Any]) -> int:
    total = 0
    for weight in weights:
        size = 1
        for length in weight.shape:
            size *= length
        total += size
    return total


def keras_build(keras: Any, graph: Graph) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keras's own tensors and layers by node id, without our rules."""
    layers = all_layers()
    tensors: dict[str, Any] = {}
    made: dict[str, Any] = {}
    start = ""
    for node in graph.nodes.values():
        spec = layers.get(node.kind)
        if spec is None:
            getattr(keras.layers, node.kind)  # Keras has no such layer: AttributeError
            raise AssertionError(node.kind)
        arguments = spec.keras_arguments({**spec.defaults(), **node.params})
        if node.kind == "input":
            start = node.id
            tensors[start] = keras.Input(**arguments, name=node.name)
        else:
            made[node.id] = make_layer(
                getattr(keras.layers, spec.title), node.name, arguments, seed=1
            )
    return {**tensors, **connect(graph, made, tensors, {start})}, made


def differences(keras: Any, graph: Graph) -> list[str]:
    """Where ours and Keras's answers on a valid network differ, in words."""
    found = analyse(graph, all_layers(), recipe=RECIPE)
    differing = [problem.message for problem in found.errors]
    try:
        tensors, made = keras_build(keras, graph)
    except Exception as error:  # noqa: BLE001 - whatever Keras raises is its refusal
        return [*differing, f"Keras refuses: {error}"[:500]]
    for key, tensor in tensors.items():
        ours, node = found.shapes.get(key), graph.nodes[key]
        if ours != tuple(tensor.shape[1:]):
            differing.append(f"{node.name} {dict(node.params)}: {ours}, Keras {tensor.shape[1:]}")
            continue
        cost = found.costs.nodes[key].parameters
        layer = made.get(key)
        theirs = (0, 0)
        if layer is not None:
            theirs = (count(layer.trainable_weights), count(layer.non_trainable_weights))
        if (cost.trainable, cost.non_trainable) != theirs:
            differing.append(f"{node.name} {dict(node.params)}: {cost}, Keras {theirs}")
    if differing:
        return differing
    model = keras.Model(tensors[next(iter(graph.nodes))], list(tensors.values()))
    total = found.costs.parameters.total
    if model.count_params() != total:
        return [f"total {total}, Keras {model.count_params()}"]
    return run_differences(keras, model, graph, found.shapes)


def run_differences(
    keras: Any, model: Any, graph: Graph, shapes: Mapping[str, tuple[int, ...]]
) -> list[str]:
    """Runs the network on pictures: the shapes that come out, where they are not ours."""
    keys = [key for key in graph.order if key in shapes]
    start = next(iter(graph.nodes))
    try:
        outputs = model(keras.ops.ones((2, *shapes[start])))
    except Exception as error:  # noqa: BLE001 - whatever Keras raises is its refusal
        return [f"Keras cannot run it: {error}"[:500]]
    return [
        f"{graph.nodes[key].name} really gives {tuple(output.shape)}, not {shapes[key]}"
        for key, output in zip(keys, outputs, strict=True)
        if tuple(output.shape[1:]) != shapes[key]
    ]


def is_refused_by_keras(keras: Any, graph: Graph) -> bool:
    """True when Keras cannot build the network, or cannot run it on a picture."""
    try:
        tensors, _ = keras_build(keras, graph)
        start = next(iter(graph.nodes))
        model = keras.Model(tensors[start], list(tensors.values()))
        model(keras.ops.ones((1, *tensors[start].shape[1:])))
    except Exception:  # noqa: BLE001 - whatever Keras raises is its refusal
        return True
    return False


def valid_graph(seed: int) -> Graph:
    return random_valid_graph(random.Random(f"valid {seed}"), all_layers())


def valid_failure(keras: Any, seed: int) -> str:
    """ "" when ours and Keras agree on the valid network of this seed, else the differences."""
    found = differences(keras, valid_graph(seed))
    return f"valid {seed}: {' | '.join(found)}" if found else ""


def invalid_failure(keras: Any, seed: int) -> str:
    """ "" when both refuse the invalid network of this seed, else who does not."""
    graph = random_invalid_graph(random.Random(f"invalid {seed}"), all_layers())
    last = list(graph.nodes.values())[-1]
    words = f"invalid {seed}: {last.kind} {dict(last.params)}"
    found = analyse(graph, all_layers(), recipe=RECIPE)
    blamed = [p for p in found.errors if p.title != "Several outputs"]
    if not blamed:
        return f"{words}: ours accepts"
    if not is_refused_by_keras(keras, graph):
        return f"{words}: Keras accepts; ours: {blamed[0].message}"
    return ""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    import keras

    # right for a random network, and no disagreement
    warnings.filterwarnings("ignore", message="You are using a softmax over axis")
    started = time.monotonic()
    failures: list[str] = []
    nodes = 0
    kinds: set[str] = set()
    for number in range(chosen.graphs):
        seed = chosen.seed + number
        graph = valid_graph(seed)
        nodes += len(graph.nodes)
        kinds |= {node.kind for node in graph.nodes.values()}
        failures += [valid_failure(keras, seed)]
        failures += [invalid_failure(keras, seed)]
        if number % 25 == 24:
            keras.backend.clear_session()
    failures = [text for text in failures if text]
    for text in failures[:40]:
        print(text, file=sys.stderr)
    print(
        f"shapes: {chosen.graphs} valid networks ({nodes} layers, {len(kinds)} kinds) and "
        f"{chosen.graphs} invalid ones against Keras {keras.__version__}: "
        f"{len(failures)} disagreements, {time.monotonic() - started:.0f} s"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
