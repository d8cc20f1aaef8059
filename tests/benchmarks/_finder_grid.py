"""Real trainings over a grid of learning rates, each kept in a file so that none is made twice."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.benchmarks._runs import train
from workbench.core.projects.project import Choice, Project
from workbench.protocol.events import EpochFinished, RunFinished
from workbench.runs.log.event_log import EventReader
from workbench.templates import find_template

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
NEAR = 0.02
"""Rates whose accuracy with the first seed is so close to the best are trained with all seeds."""

_FLOWER_SIZE = 64
_TIMEOUT_S = 3600.0
_ADAM_RATES = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
_SGD_RATES = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0, 3.0, 10.0)


@dataclass(frozen=True)
class Case:
    """A network on its images, with as many epochs as the grid is trained with.

    Attributes:
        key: Its name on the command line and in the file of results.
        words: What is trained, for the table.
        images: The file or folder that is needed; None for bundled images.
        project: From those images to the project.
        rates: The grid.
    """

    key: str
    words: str
    images: Path | None
    project: Callable[[Path], Project]
    rates: Sequence[float] = _ADAM_RATES

    @property
    def is_there(self) -> bool:
        """Whether its images are on this computer."""
        return self.images is None or self.images.exists()

    def make(self) -> Project:
        """The project with its recipe's own rate and seed."""
        return self.project(self.images or Path())


def _fashion(_images: Path) -> Project:
    return find_template("fashion_convnet").project


def _cifar10(template: str, **values: int) -> Callable[[Path], Project]:
    def project(images: Path) -> Project:
        found = find_template(template).project
        recipe = found.recipe.with_values(**values)
        return replace(found, recipe=recipe, dataset=Choice("npz", {"path": str(images)}))

    return project


def _flowers(images: Path) -> Project:
    found = find_template("flowers_gap").project
    graph = found.graph
    input_id = next(node.id for node in graph.nodes.values() if node.kind == "input")
    recipe = found.recipe.with_values(epochs=15, validation_share=0.4)
    return replace(
        found,
        graph=graph.with_params(input_id, shape=(_FLOWER_SIZE, _FLOWER_SIZE, 3)),
        recipe=recipe,
        dataset=Choice("folder", {**found.dataset.params, "path": str(images)}),
    )


CASES = (
    Case("fashion", "Fashion-MNIST, fashion_convnet, 5 x 60 steps as published", None, _fashion),
    Case(
        "speedrun",
        "CIFAR-10, cifar10_speedrun, its 4 epochs",
        SHARED / "cifar10.npz",
        _cifar10("cifar10_speedrun"),
        _SGD_RATES,
    ),
    Case(
        "flowers",
        "flowers, flowers_gap at 64 x 64 instead of 192 x 192, 15 of 60 epochs, 40% validated",
        SHARED / "flowers",
        _flowers,
    ),
    Case(
        "cifar10",
        "CIFAR-10, cifar10_convnet, batch 256 instead of 1,024, 2 of 50 epochs",
        SHARED / "cifar10.npz",
        _cifar10("cifar10_convnet", epochs=2, batch_size=256),
    ),
)


class Grid:
    """Validation accuracies by network, rate and seed; trained where not known yet.

    Args:
        path: Where they are kept.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        text = path.read_text(encoding="utf-8") if path.exists() else "{}"
        self._known: dict[str, float] = json.loads(text)

    def accuracy(self, case: Case, rate: float, seed: int) -> float:
        """Validation accuracy of the weights that a training keeps, 0..1; a training that
        diverges has that of guessing, 0.
        """
        key = f"{case.key} {rate:g} {seed}"
        if key not in self._known:
            self._known[key] = _trained(case.make(), rate, seed)
            self._path.write_text(json.dumps(self._known, indent=1), encoding="utf-8")
            print(f"  {key}: {self._known[key]:.2%}", flush=True)
        return self._known[key]

    def mean(self, case: Case, rate: float, seeds: Sequence[int]) -> float:
        """The mean of seeds."""
        return statistics.mean(self.accuracy(case, rate, seed) for seed in seeds)

    def near_best(self, case: Case, seed: int) -> list[float]:
        """The rates of the grid that are near the best with one seed."""
        found = {rate: self.accuracy(case, rate, seed) for rate in case.rates}
        best = max(found.values())
        return [rate for rate, accuracy in found.items() if accuracy >= best - NEAR]


def _trained(project: Project, rate: float, seed: int) -> float:
    recipe = project.recipe.with_values(learning_rate=rate, seed=seed)
    run = train(replace(project, recipe=recipe), timeout_s=_TIMEOUT_S)
    events = EventReader(run.events_path).read_new(max_events=1_000_000)
    epochs = [event.val_accuracy or 0.0 for event in events if isinstance(event, EpochFinished)]
    finished = events[-1]
    if not isinstance(finished, RunFinished) or finished.outcome != "completed":
        return 0.0
    return max(epochs) if recipe.keep == "best" else epochs[-1]
