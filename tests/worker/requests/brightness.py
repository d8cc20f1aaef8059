"""A network that distinguishes bright pictures from dark ones, with weights made by hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import project_text
from workbench.core.training.recipe import TrainingRecipe
from workbench.protocol.bases import Answer
from workbench.protocol.messages import Done
from workbench.protocol.service_call import ServiceCall
from workbench.protocol.weights import LoadWeights

GREY_LIMIT = 127.5


def write_pictures(folder: Path, brightness: dict[str, list[int]]) -> Path:
    """One folder a class, with plain grey pictures of the given brightness."""
    for name, values in brightness.items():
        (folder / name).mkdir(parents=True)
        for number, value in enumerate(values):
            Image.new("L", (6, 4), value).save(folder / name / f"{number:02d}.png")
    return folder


def brightness_project(data: Path) -> Project:
    """Input, Flatten, Dense with softmax: enough to distinguish bright from dark."""
    nodes = [
        Node("n1", "input", "input", {"shape": (4, 6, 1)}),
        Node("n2", "flatten", "flatten", {}),
        Node("n3", "dense", "dense", {"units": 2, "activation": "softmax"}),
    ]
    return Project(
        title="Brightness",
        graph=Graph.of(nodes, [Edge("n1", "n2"), Edge("n2", "n3")]),
        dataset=Choice("folder", {"path": str(data)}),
        recipe=TrainingRecipe(test_share=0.5),
    )


def write_weights(path: Path) -> Path:
    """Weights under which the mean brightness alone decides: bright first, dark second."""
    kernel = np.zeros((24, 2), np.float32)
    kernel[:, 0] = 1 / 24
    with h5py.File(path, "w") as file:
        file["layers/dense/vars/0"] = kernel
        file["layers/dense/vars/1"] = np.array([0, GREY_LIMIT], np.float32)
    return path


class Brightness:
    """A worker (`call`), pictures, and a run that distinguishes bright from dark."""

    def __init__(self, call: ServiceCall, folder: Path) -> None:
        self.call = call
        self._id = 0
        self.folder = folder
        self.data = write_pictures(
            folder / "data", {"bright": [200, 220, 240, 160], "dark": [10, 40, 60, 90]}
        )
        self.run = self.load(write_weights(folder / "grey.weights.h5"))

    def load(self, weights: Path) -> str:
        text = project_text(brightness_project(self.data))
        answer = self.last(LoadWeights, project=text, weights=str(weights))
        assert isinstance(answer, Done), answer
        return answer.path

    def answers(self, kind, **fields) -> list[Answer]:
        self._id += 1
        answers = list(self.call.answers(kind(id=self._id, **fields)))
        assert {answer.id for answer in answers} == {self._id}
        return answers

    def last(self, kind, **fields) -> Answer:
        return self.answers(kind, **fields)[-1]


@contextmanager
def brightness_alone(folder: Path) -> Iterator[Brightness]:
    """With a worker and a home that no other tests use, both in the folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(folder / "home"))
        with ServiceCall() as call:
            yield Brightness(call, folder / "service")
