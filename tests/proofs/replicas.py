"""Several replicas train as one device does: the same losses, the same test accuracy.

`bash packaging/prove.sh replicas [--section loss|accuracy] [--replicas 8] [--steps 50]
[--epochs 10] [--batch 1024] [--seeds 1] [--data NPZ]` trains cifar10_convnet on CIFAR-10 with
the real trainer, on this computer and on virtual:8.

- loss: in float32 without augmentation and dropout, which replicas draw for themselves: every
  loss of 50 steps beside one device's, with batch normalization going by the whole batch, and
  by each replica's part; with SGD, and with the template's Adam, whose first steps go by the
  sign of each gradient and so blow up what is mere rounding. How far that is, one device shows
  beside itself, the pictures of each batch in reversed order. Fails when the first of the two
  is off by more than 0.001 and by more than twice that.
- accuracy: the template as it is, 10 epochs at a batch of 1,024. Fails when the mean test
  accuracies are more than one point apart.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks._runs import own_home, train
from workbench.core.network.graph import Edge, Graph
from workbench.core.projects.project import Choice, Project
from workbench.protocol.events import EpochFinished, RunFinished, RunStarted
from workbench.runs.log.event_log import read_all
from workbench.templates import find_template

MOST_LOSS = 1e-3
"""Largest difference of a step's losses that passes."""

MOST_TIMES = 2.0
"""Times what one device is off from itself, by rounding alone, that passes too."""

OPTIMIZERS: dict[str, dict[str, object]] = {
    "sgd": {"optimizer": "sgd", "learning_rate": 0.001},
    "adam": {},
}
"""Name -> what of the template's recipe is changed."""

MOST_ACCURACY = 0.01
"""Largest difference of mean test accuracies that passes."""

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "cifar10.npz"
_TIMEOUT_S = 4 * 3600.0


@dataclass(frozen=True)
class Trained:
    """One finished run.

    Attributes:
        accuracy: On the test pictures.
        epoch_s: Median seconds of an epoch; of the only one where there is one.
        start_s: Seconds of all that was no epoch.
    """

    accuracy: float
    epoch_s: float
    start_s: float

    @property
    def times(self) -> str:
        """How long it took, in words."""
        return f"epochs of {self.epoch_s:,.1f} s, {self.start_s:,.0f} s around them"


def main() -> int:
    """Returns 0 when all that was requested agrees."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--section", choices=list(SECTIONS))
    parser.add_argument("--replicas", type=int, default=8)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    if not options.data.is_file():
        print(f"There is no {options.data}: name CIFAR-10 as an npz file with --data.")
        return 2
    home = own_home()
    began = time.monotonic()
    wanted = [options.section] if options.section else list(SECTIONS)
    agree = [SECTIONS[name](options) for name in wanted]
    shutil.rmtree(home, ignore_errors=True)
    print(f"replicas: {', '.join(wanted)}: {'agree' if all(agree) else 'DO NOT AGREE'}, "
          f"{time.monotonic() - began:,.0f} s")  # fmt: skip
    return 0 if all(agree) else 1


def _project(options: argparse.Namespace, **recipe: object) -> Project:
    project = find_template("cifar10_convnet").project
    return replace(
        project,
        dataset=Choice("npz", {"path": str(options.data.resolve())}),
        recipe=project.recipe.with_values(batch_size=options.batch, **recipe),
    )


def _several(options: argparse.Namespace) -> Choice:
    return Choice("virtual", {"replicas": options.replicas})


# losses ------------------------------------------------------------------------------------


def _losses_agree(options: argparse.Namespace) -> bool:
    agree = [_compare_losses(options, key, values) for key, values in OPTIMIZERS.items()]
    return all(agree)


def _compare_losses(options: argparse.Namespace, key: str, recipe: dict[str, object]) -> bool:
    order = {
        "data": str(options.data.resolve()),
        "replicas": options.replicas,
        "steps": options.steps,
        "batch_size": options.batch,
        "recipe": recipe,
    }
    found = _child_losses(order)
    one = np.array(found["one"]["losses"])
    print(
        f"loss, {key}: one device, {options.steps} steps of {options.batch:,}: from {one[0]:.4f} "
        f"to {one[-1]:.4f}; {_times(found['one'])}",
        flush=True,
    )
    words = {
        "reversed": "one device, pictures of each batch in reversed order",
        "on": f"virtual:{options.replicas}, sync_batch_norm on",
        "off": f"virtual:{options.replicas}, sync_batch_norm off",
    }
    largest = {}
    for case, title in words.items():
        apart = np.abs(np.array(found[case]["losses"]) - one)
        largest[case] = float(apart.max())
        print(
            f"loss, {key}: {title}: largest difference {apart.max():.2e} (step "
            f"{int(apart.argmax()) + 1}), in the first step {apart[0]:.1e}; {_times(found[case])}",
            flush=True,
        )
    most = max(MOST_LOSS, MOST_TIMES * largest["reversed"])
    print(f"loss, {key}: largest difference {largest['on']:.2e} (at most {most:.2e})", flush=True)
    return largest["on"] <= most


def _times(found: dict[str, Any]) -> str:
    return f"first step after {found['start_s']:.0f} s, the others in {found['steps_s']:.0f} s"


def _child_losses(order: dict[str, object]) -> dict[str, Any]:
    """What `_replica_losses` finds.

    Raises:
        SystemExit: it failed.
    """
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    answer = subprocess.run(
        [sys.executable, "-m", "tests.proofs._replica_losses", json.dumps(order)],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    if answer.returncode:
        raise SystemExit(f"The losses could not be computed:\n{answer.stderr[-3000:]}")
    return dict(json.loads(answer.stdout))


def without_chance(graph: Graph) -> Graph:
    """The network without augmentation and dropout; their neighbors are joined."""
    for node in list(graph.nodes.values()):
        if not (node.kind.startswith("random_") or "dropout" in node.kind):
            continue
        (source,) = graph.sources(node.id)
        edges = [edge for edge in graph.edges if edge.source == node.id]
        graph = graph.without_nodes([node.id])
        for edge in edges:
            graph = graph.with_edge(Edge(source, edge.target, edge.port))
    return graph


# accuracy ----------------------------------------------------------------------------------


def _accuracies_agree(options: argparse.Namespace) -> bool:
    found: dict[str, list[float]] = {"this_computer": [], f"virtual:{options.replicas}": []}
    targets = (Choice("this_computer"), _several(options))
    for seed in range(1, options.seeds + 1):
        project = _project(options, epochs=options.epochs, seed=seed, keep="last")
        for (name, values), target in zip(found.items(), targets, strict=True):
            run = _trained(replace(project, target=target))
            values.append(run.accuracy)
            print(f"accuracy: {name}, seed {seed}, {options.epochs} epochs of batches of "
                  f"{options.batch:,}: {run.accuracy:.2%}; {run.times}", flush=True)  # fmt: skip
    one, several = (statistics.mean(values) for values in found.values())
    print(f"accuracy: virtual:{options.replicas} - this_computer: {100 * (several - one):+.2f} "
          f"points (at most {100 * MOST_ACCURACY:g})", flush=True)  # fmt: skip
    return abs(several - one) <= MOST_ACCURACY


# the trainer -------------------------------------------------------------------------------


def _trained(project: Project) -> Trained:
    """Trains once.

    Raises:
        SystemExit: it did not complete, or not on as many replicas as requested.
    """
    run = train(project, timeout_s=_TIMEOUT_S)
    events = list(read_all(run.events_path))
    finished = events[-1]
    if not isinstance(finished, RunFinished) or finished.outcome != "completed":
        raise SystemExit(f"The training in {run.path} did not complete: {finished}")
    started = next(event for event in events if isinstance(event, RunStarted))
    if started.replicas != project.target.params.get("replicas", 1):
        raise SystemExit(f"The training in {run.path} had {started.replicas} replicas.")
    seconds = [event.seconds for event in events if isinstance(event, EpochFinished)]
    accuracy = finished.test.accuracy if finished.test else None
    return Trained(
        float("nan") if accuracy is None else accuracy,
        statistics.median(seconds),
        finished.time - started.time - sum(seconds),
    )


SECTIONS: dict[str, Callable[[argparse.Namespace], bool]] = {
    "loss": _losses_agree,
    "accuracy": _accuracies_agree,
}

if __name__ == "__main__":
    sys.exit(main())
