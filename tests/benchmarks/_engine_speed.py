"""Images/s of the trainer beside plain scripts of the same network, in turns."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tests.benchmarks._plain_keras import MODELS
from tests.benchmarks._runs import project_on, wait_for
from workbench.core.projects.project import Choice, Project
from workbench.protocol.events import EpochFinished, PhaseChanged, RunStarted
from workbench.runs.control import request_stop
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.log.event_log import EventReader
from workbench.runs.start import start_trainer
from workbench.templates import find_template

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"
EPOCHS = 3
STEPS = {"cifar10_convnet": 10, "fashion_convnet": 30, "flowers_gap": 15}
"""Steps of an epoch: about as many seconds of the plain script for each template."""

HIDE = {"WORKBENCH_HIDE_BFLOAT16": "1"}


@dataclass(frozen=True)
class Case:
    """A template and its pictures.

    Attributes:
        template: Its key.
        pictures: An npz file or a folder of folders.
        project: The template on these pictures, with its own recipe but no validation.
    """

    template: str
    pictures: Path
    project: Project

    @property
    def short_project(self) -> Project:
        """The project for a few short epochs."""
        recipe = self.project.recipe.with_values(
            epochs=EPOCHS, steps_per_epoch=STEPS[self.template]
        )
        return replace(self.project, recipe=recipe)


def make_cases(home: Path) -> list[Case]:
    """The three templates on real pictures; on made ones where ../shared/data is missing."""
    places = {
        "cifar10_convnet": _cifar(home),
        "fashion_convnet": _fashion(home),
        "flowers_gap": _flowers(home),
    }
    return [_case(template, path) for template, path in places.items()]


def _case(template: str, pictures: Path) -> Case:
    if pictures.suffix == ".npz":
        project = project_on(template, pictures, validation="none")
    else:
        source = Choice("folder", {"path": str(pictures), "fit": "crop"})
        project = replace(find_template(template).project, dataset=source)
        recipe = project.recipe.with_values(validation="none")
        project = replace(project, recipe=recipe)
    return Case(template, pictures, project)


def _cifar(home: Path) -> Path:
    path = SHARED / "cifar10.npz"
    if path.is_file():
        return path
    return _made(home / "cifar_like.npz", (32, 32, 3), 20_480)


def _fashion(home: Path) -> Path:
    from workbench.assets import data_path
    from workbench.datasets.fashion_mnist import _unpack

    arrays = _unpack(data_path("fashion_mnist.zip"))
    path = home / "fashion.npz"
    names = ("x_train", "y_train", "x_test", "y_test")
    np.savez(path, **{name: arrays[name] for name in names})
    return path


def _flowers(home: Path) -> Path:
    folder = SHARED / "flowers"
    if folder.is_dir():
        return folder
    from PIL import Image

    random = np.random.default_rng(0)
    for number in range(600):
        place = home / "flowers_like" / "abcde"[number % 5]
        place.mkdir(parents=True, exist_ok=True)
        small = random.integers(0, 256, (24, 32, 3), np.uint8)
        Image.fromarray(small).resize((320, 240)).save(place / f"{number}.jpg")
    return home / "flowers_like"


def _made(path: Path, shape: tuple[int, int, int], count: int) -> Path:
    random = np.random.default_rng(0)
    x = random.integers(0, 256, (count, *shape), np.uint8)
    y = np.arange(count) % 10
    np.savez(path, x_train=x, y_train=y, x_test=x[:1000], y_test=y[:1000])
    return path


# what is run ---------------------------------------------------------------------------


def plain_keras(case: Case) -> float:
    """Images/s of the plain Keras script."""
    _, batch = MODELS[case.template]
    assert batch == case.project.recipe.batch_size
    words = ["-m", "tests.benchmarks._plain_keras", case.template, str(case.pictures)]
    return _child_speed([sys.executable, *words, str(STEPS[case.template]), str(EPOCHS)])


def plain_torch(python: str, case: Case, precision: str) -> float:
    """Images/s of the plain PyTorch script, run by another Python."""
    script = str(Path(__file__).with_name("_plain_torch.py"))
    words = [str(case.pictures), str(STEPS[case.template]), str(EPOCHS), precision]
    return _child_speed([python, script, *words])


def _child_speed(command: list[str]) -> float:
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT
    )
    if result.returncode:
        raise SystemExit(f"{command} failed:\n{result.stderr[-2000:]}")
    return statistics.median(float(line) for line in result.stdout.split())


def trainer(case: Case) -> float:
    """Images/s of the real trainer in a process of its own, all logged and kept."""
    run = create_run(case.short_project)
    start_trainer(run)
    wait_for(run, timeout_s=600)
    epochs = [event for event in _events(run) if isinstance(event, EpochFinished)]
    if len(epochs) != EPOCHS:
        raise SystemExit(f"The run in {run.path} did not complete: see {run.log_path}")
    images = case.short_project.recipe.batch_size * STEPS[case.template]
    return statistics.median(images / epoch.seconds for epoch in epochs[1:])


def settle(case: Case) -> str:
    """Lets the trainer measure its plan, as before a whole run; returns it in words."""
    run = create_run(case.project)
    start_trainer(run)
    words = _wait_for_plan(run)
    request_stop(run)
    wait_for(run, timeout_s=600)
    return words


def _wait_for_plan(run: RunFolder) -> str:
    end = time.monotonic() + 600
    while time.monotonic() < end:
        events = _events(run)
        started = next((event for event in events if isinstance(event, RunStarted)), None)
        is_training = any(isinstance(e, PhaseChanged) and e.phase == "training" for e in events)
        if started is not None and is_training:
            return started.plan.words
        time.sleep(0.2)
    raise SystemExit(f"The run in {run.path} did not start: see {run.log_path}")


def _events(run: RunFolder) -> list[object]:
    return list(EventReader(run.events_path).read_new(max_events=1_000_000))


def hidden(function: Callable[[Case], float]) -> Callable[[Case], float]:
    """The same with the processor's bfloat16 units hidden."""

    def run(case: Case) -> float:
        os.environ.update(HIDE)
        try:
            return function(case)
        finally:
            for name in HIDE:
                del os.environ[name]

    return run


def in_turns(variants: dict[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Runs the ways one after the other, several times: what else the machine does hits all."""
    speeds: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(rounds):
        for name, run in variants.items():
            speeds[name].append(run())
    return speeds
