"""What the program writes in ONNX, run by ONNX Runtime, against Keras: layers, random networks, templates.

`python -m tests.proofs.onnx_layers [--graphs 300] [--draws 30] [--only layers,graphs,templates]`

Layers: every type with each value of its parameters, numbers and windows in all combinations, and
`--draws` of all parameters at once, on several shapes, with the channels last and first. Networks have
random weights and give their scores and what their last layer is given. A difference is a part of the
largest output; it may be 1e-5, or in a random network four times what Keras's own outputs
change by: between batches of 5 and of 1, or with weights and pixels one rounding away (Keras's sparsemax
jumps where its numbers sum to 1, Keras 3.15). It ends with 1 otherwise.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np

from tests.onnx_against_keras import (
    LIMIT,
    Array,
    Pair,
    difference,
    differences,
    pair_of,
    session_of,
)
from tests.onnx_cases import cases_of, kinds, networks
from tests.strategies import random_valid_graph
from workbench.core.network.graph import Graph
from workbench.core.network.roles import find_outputs
from workbench.errors import WorkbenchError
from workbench.layers import all_layers
from workbench.onnx.model import HIDDEN, IMAGES, SCORES, onnx_model
from workbench.templates import list_templates
from workbench.worker.model.build import assign_weights

OF_NOISE = 4.0
ROUNDINGS = 3
"""Times that weights and pixels are moved, to see what rounding alone changes."""


@dataclass
class Tally:
    """What has been compared.

    Attributes:
        compared: Outputs of cases or networks.
        worst: Largest difference of those within 1e-5.
        by_noise: Networks beyond 1e-5 that Keras's own noise explains, in words.
        overflows: Outputs that are in part no numbers in Keras, and are compared where they are.
        refused: Reasons for which the program did not write a network.
        failures: In words.
    """

    compared: int = 0
    worst: float = 0.0
    by_noise: list[str] = field(default_factory=list)
    overflows: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, what: str, found: float, noise: Callable[[], float] | None = None) -> None:
        self.compared += 1
        if found <= LIMIT:
            self.worst = max(self.worst, found)
            return
        allowed = noise() if noise is not None else 0.0
        words = f"{what}: {found:.1e}, Keras itself {allowed:.1e}"
        if found <= OF_NOISE * allowed:
            self.by_noise.append(words)
        else:
            self.failures.append(words)

    def text(self, what: str) -> str:
        words = [f"{self.compared} {what}, largest difference {self.worst:.1e}"]
        if self.by_noise:
            words.append(f"{len(self.by_noise)} by Keras's noise ({'; '.join(self.by_noise)})")
        if self.overflows:
            words.append(f"{self.overflows} in part no numbers in Keras")
        reasons = "; ".join(f"{count} x {reason}" for reason, count in self.refused.items())
        words.append(f"{self.refused.total()} refused" + (f" ({reasons})" if reasons else ""))
        return ", ".join([*words, f"{len(self.failures)} failures"])


# layers --------------------------------------------------------------------------------------


def try_layers(draws: int) -> Tally:
    tally = Tally()
    for spec in kinds():
        for network in networks(cases_of(spec, num_random=draws)):
            try:
                for what, found in differences(network):
                    tally.add(what, found)
            except WorkbenchError as error:
                tally.refused[str(error)] += 1
        _clear()
    return tally


# networks ------------------------------------------------------------------------------------


def try_network(tally: Tally, what: str, graph: Graph, seed: int) -> None:
    """Compares the scores and what the last layer is given."""
    pair = pair_of(graph, seed)
    (end,) = find_outputs(graph, all_layers())
    (before,) = graph.sources(end)
    try:
        model = onnx_model(graph, all_layers(), pair.weights, hidden=before)
    except WorkbenchError as error:
        tally.refused[str(error)] += 1
        return
    session = session_of(model)
    scores, hidden = session.run([SCORES, HIDDEN], {IMAGES: pair.images})
    for name, node, got in (("scores", None, scores), ("last hidden", before, hidden)):
        if node is not None and node not in pair.built.outputs:
            continue  # the image itself
        wanted = pair.keras(node)
        is_number = np.isfinite(wanted)
        tally.overflows += not is_number.all()
        found = difference(np.where(is_number, got, 0), np.where(is_number, wanted, 0))
        tally.add(f"{what} {name}", found, lambda n=node: own_noise(pair, n))


def own_noise(pair: Pair, node: str | None) -> float:
    """How far Keras's outputs of a node differ with other batches, moved weights and pixels."""
    usual = pair.keras(node)
    alone = [pair.keras(node, pair.images[i : i + 1]) for i in range(len(pair.images))]
    found = [difference(np.concatenate(alone), usual)]
    rng = np.random.default_rng(0)
    for _ in range(ROUNDINGS):
        assign_weights(pair.built, _moved(pair.weights, rng))
        pixels = _moved({"": pair.images.astype(np.float32)}, rng)[""]
        found.append(difference(pair.keras(node, pixels), usual))
    assign_weights(pair.built, pair.weights)
    return max(found)


def _moved(weights: Mapping[str, Array], rng: np.random.Generator) -> dict[str, Array]:
    """Each number as it is, or the next smaller or larger float32."""
    moved = {}
    for name, array in weights.items():
        to = rng.choice(np.array([-np.inf, 0, np.inf], np.float32), array.shape)
        moved[name] = np.where(to == 0, array, np.nextafter(array, to)).astype(array.dtype)
    return moved


def random_graphs(count: int, seed: int) -> Iterator[tuple[str, Graph]]:
    for number in range(seed, seed + count):
        yield f"network {number}", random_valid_graph(random.Random(number), all_layers())


def template_graphs() -> Iterator[tuple[str, Graph]]:
    for template in list_templates():
        yield template.key, template.project.graph


def _clear() -> None:
    import keras

    keras.backend.clear_session()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=300)
    parser.add_argument("--draws", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="layers,graphs,templates")
    chosen = parser.parse_args(arguments)
    # right for random networks, and no disagreement
    warnings.filterwarnings("ignore", message="You are using a softmax over axis")
    started, parts = time.monotonic(), chosen.only.split(",")
    texts, failures = [], []
    if "layers" in parts:
        tally = try_layers(chosen.draws)
        texts.append(tally.text(f"cases of {len(kinds())} layer types"))
        failures += tally.failures
    for part, graphs in (
        ("graphs", random_graphs(chosen.graphs, chosen.seed)),
        ("templates", template_graphs()),
    ):
        if part not in parts:
            continue
        tally, count = Tally(), 0
        for seed, (what, graph) in enumerate(graphs):
            try_network(tally, what, graph, seed)
            _clear()
            count += 1
        texts.append(tally.text(f"outputs of {count} {part}"))
        failures += tally.failures
    for text in failures[:40]:
        print(text, file=sys.stderr)
    print(f"onnx_layers: {'; '.join(texts)}; {time.monotonic() - started:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
