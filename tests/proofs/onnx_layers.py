"""What the program writes in ONNX, run by ONNX Runtime, against Keras: layers, random networks, templates.

`python -m tests.proofs.onnx_layers [--graphs 300] [--draws 30] [--only layers,graphs,templates]`

Layers: every type with each value of its parameters, numbers and windows in all combinations, and
`--draws` of all parameters at once, on several shapes, with the channels last and first. Networks have
random weights and give their scores and what their last layer is given. A difference is a part of the
largest output; it may be 1e-5, or four times what Keras's own outputs change by: between batches of 5
and of 1, or with weights and pixels one rounding away (the sparsemax of Keras 3.15 jumps). It ends with
1 otherwise.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np

from tests.onnx_against_keras import (
    LIMIT,
    difference,
    differences,
    is_right,
    own_noise,
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

MOST_NAMED = 8


@dataclass
class Tally:
    """What has been compared.

    Attributes:
        compared: Outputs of cases or networks.
        worst: Largest difference of those within 1e-5.
        by_noise: Networks beyond 1e-5 that Keras's own noise explains, in words.
        overflows: Outputs that are no numbers in Keras for some images, and are compared for the others.
        refused: Reasons for which the program did not write a network.
        failures: In words.
    """

    compared: int = 0
    worst: float = 0.0
    by_noise: list[str] = field(default_factory=list)
    overflows: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, what: str, found: float, noise: float) -> None:
        self.compared += 1
        words = f"{what}: {found:.1e}, Keras itself {noise:.1e}"
        if found <= LIMIT:
            self.worst = max(self.worst, found)
        elif is_right(found, noise):
            self.by_noise.append(words)
        else:
            self.failures.append(words)

    def text(self, what: str) -> str:
        words = [f"{self.compared} {what}, largest difference {self.worst:.1e}"]
        if self.by_noise:
            named = "; ".join(self.by_noise[:MOST_NAMED])
            words.append(f"{len(self.by_noise)} beyond by Keras's own noise ({named})")
        if self.overflows:
            words.append(f"{self.overflows} no numbers in Keras for some images")
        reasons = "; ".join(f"{count} x {reason}" for reason, count in self.refused.items())
        words.append(f"{self.refused.total()} refused" + (f" ({reasons})" if reasons else ""))
        return ", ".join([*words, f"{len(self.failures)} failures"])


# layers --------------------------------------------------------------------------------------


def try_layers(draws: int) -> Tally:
    tally = Tally()
    for spec in kinds():
        for network in networks(cases_of(spec, num_random=draws)):
            try:
                for what, found, noise in differences(network):
                    tally.add(what, found, noise)
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
        is_number = np.isfinite(wanted).all(axis=1)
        tally.overflows += not is_number.all()
        found = difference(got[is_number], wanted[is_number])
        noise = own_noise(pair, node) if found > LIMIT else 0.0
        tally.add(f"{what} {name}", found, noise)


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
