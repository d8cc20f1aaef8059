"""A run with weights and test images at hand, without a training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.worker.conftest import chain
from workbench.core.calibration import LIMITS
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import graph_to_plain
from workbench.core.training.recipe import recipe_to_plain
from workbench.layers import all_layers
from workbench.protocol.export import Export
from workbench.protocol.trained.calibration import Calibration
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.store.weights_file import write_arrays
from workbench.worker.model.build import build_model, read_weights
from workbench.worker.process.lazy_keras import LazyKeras
from workbench.worker.requests.exporting import converter, handler
from workbench.worker.requests.session import Job, RunnerCache, Session

SHAPE = (12, 16, 3)
NAMES = ["red", "grün", "blue"]
TITLE = 'Colors 1×1 */ """'
TEMPERATURE = 2.5
assert LIMITS[0] <= TEMPERATURE <= LIMITS[1]

GRAPH = chain(
    ("input", {"shape": SHAPE}),
    ("random_flip", {}),
    ("rescaling", {}),
    ("conv2d", {"filters": 6, "kernel_size": (3, 3), "padding": "same", "activation": "relu"}),
    ("batch_normalization", {}),
    ("max_pooling2d", {}),
    ("conv2d", {"filters": 5, "kernel_size": (3, 3)}),
    ("global_average_pooling2d", {}),
    ("dense", {"units": 3}),
)


def colored(count, seed):
    """Images in which one of three colors is strongest, uint8 (n, 12, 16, 3), and which."""
    random = np.random.default_rng(seed)
    labels = np.arange(count) % 3
    images = random.integers(0, 120, (count, *SHAPE), dtype=np.uint8)
    images[np.arange(count), :, :, labels] += 90
    return images, labels.astype(np.int64)


def make_run(
    folder: Path,
    graph=GRAPH,
    *,
    fit="crop",
    seed=3,
    shape=SHAPE,
    class_names=NAMES,
    temperature=TEMPERATURE,
) -> RunFolder:
    """A run of this graph with random weights, trained on colored images as far as it says."""
    data = folder / "colors.npz"
    (x_train, y_train), (x_test, y_test) = colored(60, 1), colored(30, 2)
    names = np.array(NAMES)
    np.savez(
        data, x_train=x_train, y_train=y_train, x_test=x_test, y_test=y_test, class_names=names
    )
    source = Choice("npz", {"path": str(data)})
    project = Project(title="Colors", graph=graph, dataset=source)
    run = create_run(project, home=folder)
    built = build_model(graph, all_layers(), whole=True, pretrained=False, seed=seed)
    card = ModelCard(
        title=TITLE,
        class_names=class_names,
        input_shape=list(shape),
        fit=fit,
        graph=graph_to_plain(graph),
        is_logits=built.is_logits,
        dataset={"key": source.key, "params": dict(source.params)},
        dataset_title="Colors",
        recipe=recipe_to_plain(project.recipe),
        calibration=Calibration(temperature=temperature, least_probability=0.1),
        checksum=write_arrays(run.weights_path, read_weights(built)),
    )
    write_card(run.path, card)
    return run


@pytest.fixture(scope="session")
def colors(tmp_path_factory):
    """The run of GRAPH."""
    return make_run(tmp_path_factory.mktemp("colors"))


@pytest.fixture(scope="session")
def photos(tmp_path_factory):
    """Image files of several kinds, none of the network's proportions."""
    folder = tmp_path_factory.mktemp("photos")
    random = np.random.default_rng(7)
    paths = []
    for number, (mode, channels) in enumerate((("RGB", 3), ("RGBA", 4), ("L", 1))):
        pixels = random.integers(0, 256, (20 + 9 * number, 50, channels), dtype=np.uint8)
        paths.append(folder / f"{number}.png")
        Image.fromarray(pixels[..., 0] if channels == 1 else pixels, mode).save(paths[-1])
    turned = Image.Exif()
    turned[0x0112] = 6
    large = random.integers(0, 256, (14, 20, 3), dtype=np.uint8)
    paths.append(folder / "turned.jpg")
    photo = Image.fromarray(large).resize((2000, 1500), Image.Resampling.BICUBIC)
    photo.save(paths[-1], exif=turned)
    deep = random.integers(0, 65_536, (30, 40), dtype=np.uint16)
    paths.append(folder / "deep.png")
    Image.fromarray(deep).save(paths[-1])
    return [str(path) for path in paths]


@pytest.fixture
def job(tmp_path):
    """A request in this process, whose converter and reader are processes of their own."""
    folder = tmp_path / "session"
    folder.mkdir()
    answers = []
    made = Job(1, send=answers.append, session=Session(folder, LazyKeras(), RunnerCache()))
    made.answers = answers
    return made


def request(run, key, path, **more):
    return Export(id=1, model=str(run.path), format=key, path=str(path), **more)


@pytest.fixture
def tampered(monkeypatch):
    """Makes what converters have written wrong, before it is read back."""

    def tamper(change):
        def convert(order, check):
            done = converter.convert(order, check)
            change(handler.Path(order.path))
            return done

        monkeypatch.setattr(handler, "convert", convert)

    return tamper


def weights_of(run, layer):
    """The bytes of a layer's kernel as they are in a file of float32 numbers."""
    with np.load(run.weights_path) as arrays:
        (kernel,) = (arrays[name] for name in arrays.files if name == f"{layer}/kernel")
    return np.ascontiguousarray(kernel, np.float32)
