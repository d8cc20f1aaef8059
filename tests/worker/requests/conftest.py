"""One service worker, and one notebook trained elsewhere, for all tests here that only send requests."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.bright_network import GRAPH, keep_bright_network
from tests.window_parts import window_context
from tests.worker.conftest import Service, chain, stripes
from workbench.app import make_window
from workbench.cli import _service, main
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import project_text
from workbench.core.training.recipe import TrainingRecipe
from workbench.protocol.classify import Classified, Classify
from workbench.protocol.export import ExportProject
from workbench.runs.folder import create_run
from workbench.runs.home import data_home

CELLS = Path(__file__).parents[1] / "notebook_cells.py"


def notebook_project(path: Path, **recipe) -> Project:
    """Augmentation and a measured Normalization on the host, statistics in the network."""
    graph = chain(
        ("input", {"shape": (8, 8, 1)}),
        ("normalization", {}),
        ("random_flip", {"mode": "horizontal"}),
        ("random_translation", {}),
        ("conv2d", {"filters": 4}),
        ("batch_normalization", {}),
        ("flatten", {}),
        ("dropout", {"rate": 0.2}),
        ("dense", {"units": 3, "activation": "softmax"}),
    )
    values = {"epochs": 2, "batch_size": 40, "learning_rate": 0.01, **recipe}
    return Project(
        title="Stripes",
        graph=graph,
        recipe=TrainingRecipe().with_values(**values),
        dataset=Choice("npz", {"path": str(path)}),
    )


class Away:
    """Where programs are exported to and run, and a worker that runs requests about it.

    Attributes:
        folder: Programs, pictures, results.
        pictures: uint8 (7, 8, 8, 1) to classify, and the same as PNG files.
    """

    def __init__(self, folder: Path, service: Service) -> None:
        self.folder, self.home = folder, service.home
        self.answers, self.done = service.answers, service.done
        (x_train, y_train), (x_test, y_test) = stripes(130, 1), stripes(61, 2)
        np.savez(
            folder / "stripes.npz", x_train=x_train, y_train=y_train, x_test=x_test, y_test=y_test
        )
        self.data = folder / "stripes.npz"
        np.savez(folder / "whole.npz", x=x_train, y=y_train)  # without a test part
        self.pictures = stripes(7, 3)[0]
        np.save(folder / "pictures.npy", self.pictures)
        self.files = [str(folder / f"{number}.png") for number in range(7)]
        for path, one in zip(self.files, self.pictures, strict=True):
            Image.fromarray(one[..., 0]).save(path)

    def export(self, some: Project, path: Path) -> Path:
        kind = "notebook" if path.suffix == ".ipynb" else "tpu_script"
        answer = self.done(ExportProject, project=project_text(some), format=kind, path=str(path))
        return Path(answer.path)

    def train(self, some: Project, name: str, cores: int) -> Path:
        """Runs an exported program in a folder of its own, without its data; that folder."""
        return self._run(some, name, cores, str(self.folder / "pictures.npy"), "answers.npy")

    def trace(self, some: Project, name: str, cores: int) -> list[str]:
        """What is wrong with an exported program's calls as TensorFlow makes them for a TPU."""
        folder = self._run(some, name, cores, "trace", "faults.json")
        return json.loads((folder / "faults.json").read_text())

    def _run(self, some: Project, name: str, cores: int, *words: str) -> Path:
        folder = self.folder / f"{name}_{cores}"
        folder.mkdir()
        run_cells(self.export(some, folder / name), cores, *words)
        return folder

    def probabilities(self, run: str) -> np.ndarray:
        rows = [a for a in self.answers(Classify, model=run, pictures=self.files) if is_row(a)]
        names = sorted({score.name for row in rows for score in row.scores})
        by_name = [{s.name: s.probability for s in row.scores} for row in rows]
        return np.array([[scores[name] for name in names] for scores in by_name])


def run_cells(program: Path, cores: int, *words: str) -> str:
    """Runs an exported program by `notebook_cells` in its folder; what it printed."""
    command = [sys.executable, str(CELLS), program.name, str(cores), *words]
    done = subprocess.run(command, cwd=program.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def is_row(answer) -> bool:
    return isinstance(answer, Classified)


@pytest.fixture(scope="session")
def bright_run(tmp_path_factory):
    """Path of a run of which “light” is whatever is bright."""
    folder = create_run(Project(graph=GRAPH), home=tmp_path_factory.mktemp("bright-home"))
    keep_bright_network(folder)
    return str(folder.path)


@pytest.fixture
def run_command(service, monkeypatch):
    """The command line in this process, whose commands use the same worker."""
    monkeypatch.setattr(_service, "ServiceCall", lambda: nullcontext(service.call))
    return main


@pytest.fixture(scope="session")
def away(service, tmp_path_factory):
    return Away(tmp_path_factory.mktemp("notebook"), service)


@pytest.fixture(scope="session")
def trained(away):
    """Folder of a notebook that was run on one processor, and its project."""
    some = notebook_project(away.data, steps_per_epoch=2, steps_per_call=2)
    return some, away.train(some, "stripes.ipynb", 1)


@pytest.fixture
def window(qtbot, qapp, tmp_path):
    with window_context(data_home()) as context:
        window = make_window(context, tmp_path)
        qtbot.addWidget(window, before_close_func=lambda window: window.context.document.new())
        window.show()
        context.library.open()
        yield window
        window.context.document.new()
        window.close()
