"""Small real trainings for the proofs, and what two of them have in common to the last bit."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from workbench.core.network.graph import Edge, Graph, Node, Training
from workbench.core.projects.project import Choice, Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.protocol.events import RunEvent, RunFinished
from workbench.runs.folder import RunFolder
from workbench.runs.log.event_log import EventReader, read_all
from workbench.runs.log.history import MetricHistory
from workbench.runs.store.weights_file import read_arrays

_PATIENCE_S = 3_600.0

RECIPES: tuple[dict[str, object], ...] = (
    {"optimizer": "adam", "schedule": "cosine", "precision": "float32", "xla": "off",
     "top_k": 2},
    {"optimizer": "sgd", "schedule": "step", "nesterov": True, "keep": "best",
     "precision": "bfloat16", "xla": "off", "mixing": "cutmix", "random_erasing": 0.2},
    {"optimizer": "adamw", "schedule": "one_cycle", "ema_decay": 0.99, "steps_per_epoch": 37,
     "label_smoothing": 0.1, "clip_norm": 1.0, "precision": "bfloat16", "xla": "off"},
    {"optimizer": "lion", "schedule": "plateau", "plateau_patience": 2, "mixing": "mixup",
     "class_weights": "balanced", "keep": "best", "keep_by": "val_loss",
     "precision": "float32", "xla": "off", "learning_rate": 0.0005},
    {"optimizer": "rmsprop", "schedule": "exponential", "pipeline": "streamed", "xla": "on",
     "precision": "float32", "learning_rate": 0.0005, "steps_per_call": 7},
    {"optimizer": "adamw", "schedule": "cosine", "fine_tuning_after": 20, "augmented_copies": 3,
     "keep": "best", "precision": "bfloat16", "xla": "off"},
)  # fmt: skip
"""Recipes that together use every kind of state that a training has. Precision and XLA are
fixed: two runs that measure what is faster may find otherwise."""


def write_stripes(path: Path, *, count: int = 1_200, size: int = 12) -> Path:
    """An npz file of noisy pictures of three classes: which row is bright."""
    random = np.random.default_rng(1)
    labels = np.arange(count) % 3
    pictures = random.integers(0, 120, (count, size, size, 1), dtype=np.uint8)
    pictures[np.arange(count), 2 + 3 * labels] += 60
    cut = count * 5 // 6
    np.savez(
        path, x_train=pictures[:cut], y_train=labels[:cut], x_test=pictures[cut:], y_test=labels[cut:]
    )  # fmt: skip
    return path


def tiny_project(data: Path, *, number: int = 0, seed: int = 7, epochs: int = 60) -> Project:
    """A network with a layer of every kind that keeps state; recipe `number` of RECIPES."""
    kinds: list[tuple[str, dict[str, object]]] = [
        ("input", {"shape": (12, 12, 1)}),
        ("random_flip", {}),
        ("random_translation", {}),
        ("rescaling", {}),
        ("conv2d", {"filters": 8}),
        ("batch_normalization", {}),
        ("dropout", {"rate": 0.2}),
        ("flatten", {}),
        ("dense", {"units": 96, "activation": "relu"}),
        ("dense", {"units": 3, "activation": "softmax"}),
    ]
    nodes = [Node(f"n{i}", kind, f"{kind}_{i}", params) for i, (kind, params) in enumerate(kinds)]
    edges = [Edge(a.id, b.id) for a, b in itertools.pairwise(nodes)]
    values = {"epochs": epochs, "batch_size": 50, "learning_rate": 0.002, "seed": seed}
    recipe = TrainingRecipe().with_values(**{**values, **RECIPES[number % len(RECIPES)]})
    if recipe.has_fine_tuning:
        nodes = _freezing(nodes)
    return Project(
        title=f"Recipe {number % len(RECIPES)}",
        graph=Graph.of(nodes, edges),
        recipe=recipe,
        dataset=Choice("npz", {"path": str(data)}),
    )


def _freezing(nodes: list[Node]) -> list[Node]:
    """The nodes with frozen convolutions, and a hidden layer that learns in fine-tuning."""
    trainings: dict[str, Training] = {
        "conv2d": "never",
        "batch_normalization": "never",
        "dense": "fine_tuning",
    }
    last = nodes[-1].id
    return [
        replace(node, training=trainings.get(node.kind, "always")) if node.id != last else node
        for node in nodes
    ]


class Tail:
    """Reads what a run's trainer says from now on."""

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._reader = EventReader(run.events_path)
        while self._reader.read_new():
            pass

    def until(self, is_it: Callable[[RunEvent], bool]) -> RunEvent | None:
        """The first event that is it; None when the trainer ended before."""
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            is_alive = self._run.is_alive()
            events = self._reader.read_new()
            found = next(filter(is_it, events), None)
            if found is not None or (not events and not is_alive):
                return found
            time.sleep(0.005)
        raise TimeoutError(f"{self._run.path} said nothing for {_PATIENCE_S:.0f} s")


def kill(run: RunFolder, pid: int) -> None:
    """Kills a trainer, and waits until its lock is free."""
    os.kill(pid, signal.SIGKILL)
    wait_for_end(run)


def wait_for_end(run: RunFolder) -> None:
    """Waits until no trainer works on a run."""
    deadline = time.monotonic() + _PATIENCE_S
    while run.is_alive():
        if time.monotonic() > deadline:
            raise TimeoutError(str(run.path))
        time.sleep(0.005)


def history_of(run: RunFolder) -> MetricHistory:
    """All that a run has logged."""
    history = MetricHistory()
    history.add_all(read_all(run.events_path))
    return history


def differences(run: RunFolder, reference: RunFolder) -> list[str]:
    """What of two runs' logged steps, epochs, scores and final weights is not the same."""
    return [*_log_differences(run, reference), *_weight_differences(run, reference)]


def _log_differences(run: RunFolder, reference: RunFolder) -> Iterator[str]:
    ours, theirs = history_of(run), history_of(reference)
    # Rates are logged once a call, whose length depends on the clock; each epoch has its own.
    for name in ("steps", "losses", "accuracies"):
        left, right = getattr(ours, name), getattr(theirs, name)
        if len(left) != len(right):
            yield f"{len(left)} {name} instead of {len(right)}"
        elif not np.array_equal(left, right, equal_nan=True):
            where = int(np.flatnonzero(left != right)[0])
            yield f"{name} differ from step {where + 1} on: {left[where]} and {right[where]}"
    left, right = (list(map(_without_clock, h.epochs)) for h in (ours, theirs))
    if left != right:
        yield f"{len(left)} epochs differ from {len(right)} epochs"
    if _end(ours.finished) != _end(theirs.finished):
        yield f"the end: {_end(ours.finished)} and {_end(theirs.finished)}"


def _without_clock(event: msgspec.Struct) -> dict[str, object]:
    values = msgspec.structs.asdict(event)
    for name in ("seq", "time", "seconds", "images_per_second"):
        values.pop(name)
    return values


def _end(finished: RunFinished | None) -> tuple[object, ...]:
    if finished is None:
        return ()
    return finished.outcome, finished.epochs_done, finished.test, finished.best, finished.error


def _weight_differences(run: RunFolder, reference: RunFolder) -> Iterator[str]:
    left, right = read_arrays(run.weights_path), read_arrays(reference.weights_path)
    if left.keys() != right.keys():
        yield "the weights have other names"
        return
    for name, array in left.items():
        if not np.array_equal(array, right[name], equal_nan=True):
            yield f"the weights {name} differ"
