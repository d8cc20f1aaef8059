"""Weights to Keras 2 and back, with a program of Keras 2 in its own process."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.built_networks import graph_of, runner_of
from tests.keras2_networks import (
    answers,
    difference,
    export_keras2,
    loaded,
    put_network,
    run_keras2,
)
from tests.worker.conftest import chain
from workbench.backbones import all_backbones, insert_backbone
from workbench.cli import main
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project_file import save_project
from workbench.errors import WeightsError
from workbench.templates import find_template
from workbench.worker.foreign.foreign_weights import read_foreign_weights
from workbench.worker.model.build import read_weights
from workbench.worker.saved_models.keras_runner import weights_layout

pytestmark = pytest.mark.worker

LIMIT = 1e-5
LIMITS = {"tuned": 1e-4}  # its 53 layers with random statistics amplify rounding


def every_kind() -> Graph:
    """Each kind of layer with weights, in two branches."""
    same = {"kernel_size": (3, 3), "padding": "same"}
    chain = ["image", "flip", "norm", "conv", "bn", "up", "group"]
    left, right = ["group", "separable", "add"], ["group", "depthwise", "prelu", "point", "add"]
    end = ["add", "ln", "leaky", "flatten", "drop", "last"]
    return graph_of(
        [(a, b) for one in (chain, left, right, end) for a, b in pairwise(one)],
        image=("input", {"shape": (10, 8, 3)}),
        flip=("random_flip", {}),
        norm=("normalization", {}),
        conv=("conv2d", {"filters": 6, "activation": "relu", **same}),
        bn=("batch_normalization", {}),
        up=("conv2d_transpose", {"filters": 4, **same}),
        group=("group_normalization", {"groups": 2}),
        separable=("separable_conv2d", {"filters": 6, **same}),
        depthwise=("depthwise_conv2d", {"depth_multiplier": 2, **same}),
        prelu=("prelu", {"share_places": True}),
        point=("conv2d", {"filters": 6, "kernel_size": (1, 1), "use_bias": False}),
        add=("add", {}),
        ln=("layer_normalization", {}),
        leaky=("leaky_relu", {}),
        flatten=("flatten", {}),
        drop=("dropout", {}),
        last=("dense", {"units": 4}),
    )


def fine_tuned() -> Graph:
    """MobileNetV2 and a head, as layers of one network."""
    graph = Graph.of([Node("n1", "input", "image", {"shape": (32, 32, 3)})])
    backbone = insert_backbone(graph, all_backbones()["mobilenet_v2"], "n1", (224, 224, 3))
    head = Node("n999", "dense", "head", {"units": 5})
    return backbone.graph.with_node(head).with_edge(Edge(backbone.last, "n999"))


CIFAR = find_template("cifar10_convnet").project.graph
GRAPHS = {"cifar": CIFAR, "kinds": every_kind(), "tuned": fine_tuned()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """What both sides have written, the weights of Keras 2 loaded and exported again."""
    folder = tmp_path_factory.mktemp("keras2")
    for name, graph in GRAPHS.items():
        put_network(folder, name, graph)
    run_keras2(folder, "published", "cifar", "make", "kinds", "nested", "tuned")
    for name in ("cifar", "kinds"):
        export_keras2(loaded(GRAPHS[name], folder / f"{name}.h5"), folder / f"{name}.keras2.h5")
    run_keras2(folder, "check", "cifar", "check", "kinds")
    return folder


@pytest.mark.parametrize(
    ("name", "job", "file"),
    [
        ("cifar", "published", "cifar.h5"),
        ("cifar", "published", "cifar.model.h5"),
        ("kinds", "make", "kinds.h5"),
        ("tuned", "nested", "tuned.h5"),
        ("kinds", "make", "kinds.keras2.h5"),
    ],
)
def test_a_file_of_keras_2_predicts_the_same_here(folder, name, job, file):
    ours = answers(loaded(GRAPHS[name], folder / file), folder, name)
    differs, varies = difference(folder, name, job, ours)
    assert differs <= LIMITS.get(name, LIMIT)
    assert varies > 100 * LIMIT  # the answers do depend on the picture


@pytest.mark.parametrize("way", ["order", "name"])
@pytest.mark.parametrize(("name", "job"), [("cifar", "published"), ("kinds", "make")])
def test_keras_2_predicts_the_same_with_what_was_exported(folder, name, job, way):
    differs, _ = difference(folder, name, job, np.load(folder / f"{name}.{way}.npy"))
    assert differs <= LIMIT


@pytest.mark.full
def test_the_command_loads_and_exports(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    project, run, out = (tmp_path / name for name in ("cifar.workbench", "run", "out.keras2.h5"))
    save_project(find_template("cifar10_convnet").project, project)
    words = [str(project), str(folder / "cifar.h5"), "--run", str(run)]
    assert main(["load", *words]) == 0
    assert "Loaded weights from cifar.h5" in capsys.readouterr().err
    assert main(["export", str(run), "weights_keras2", str(out)]) == 0
    with h5py.File(out) as ours, h5py.File(folder / "cifar.keras2.h5") as exported:
        names = [
            name for name in ours.attrs["layer_names"] if ours[name].attrs["weight_names"].size
        ]
        for layer in names:
            for name in ours[layer].attrs["weight_names"]:
                assert np.array_equal(ours[layer][name], exported[layer][name])
    assert len(names) == 8


def test_the_layout_is_that_of_keras_2(folder):
    with h5py.File(folder / "kinds.h5") as theirs, h5py.File(folder / "kinds.keras2.h5") as ours:
        assert set(ours.attrs) == set(theirs.attrs)
        assert set(ours) == set(theirs)
        assert list(_texts(ours, "layer_names")) == list(_texts(theirs, "layer_names"))
        for layer in _texts(theirs, "layer_names"):
            names = _texts(theirs[layer], "weight_names")
            assert _texts(ours[layer], "weight_names") == names
            for name in names:
                assert ours[layer][name].dtype == theirs[layer][name].dtype
                assert np.array_equal(ours[layer][name], theirs[layer][name])


def _texts(group, key):
    return [n.decode() if isinstance(n, bytes) else n for n in group.attrs[key]]


@pytest.mark.full
def test_many_long_names_are_written_in_parts_and_read_again(tmp_path):
    many = [("relu", {})] * 700
    graph = chain(("input", {"shape": (2, 2, 1)}), *many, ("flatten", {}), ("dense", {"units": 2}))
    graph = graph_with_long_names(graph)
    path = tmp_path / "long.keras2.h5"
    runner = runner_of(graph)
    export_keras2(runner, path)
    with h5py.File(path) as file:
        assert "layer_names" not in file.attrs
        assert len(file.attrs["layer_names0"]) + len(file.attrs["layer_names1"]) == 703
    ours, again = read_weights(runner.built), read_weights(loaded(graph, path).built)
    assert all(np.array_equal(ours[name], again[name]) for name in ours)


def graph_with_long_names(graph: Graph) -> Graph:
    nodes = [replace(node, name=f"{node.name}_".ljust(95, "x")) for node in graph.nodes.values()]
    return Graph.of(nodes, graph.edges)


# files that do not fit, or do harm ------------------------------------------------------


def _other_shape(file, folder):
    kernel = file["conv/conv/kernel:0"]
    _put(file, kernel.name, np.zeros((5, 5, 3, 6), "float32"))


def _layer_missing(file, folder):
    file.attrs["layer_names"] = [name for name in file.attrs["layer_names"] if name != "conv"]


def _group_missing(file, folder):
    del file["conv"]


def _external_link(file, folder):
    with h5py.File(folder / "secret.h5", "w") as secret:
        secret["numbers"] = file["conv/conv/kernel:0"][()]
    del file["conv/conv/kernel:0"]
    file["conv/conv/kernel:0"] = h5py.ExternalLink(str(folder / "secret.h5"), "numbers")


def _external_data(file, folder):
    (folder / "secret.bin").write_bytes(bytes(3 * 3 * 3 * 6 * 4))
    del file["conv/conv/kernel:0"]
    file.create_dataset(
        "conv/conv/kernel:0",
        (3, 3, 3, 6),
        "float32",
        external=[(str(folder / "secret.bin"), 0, h5py.h5f.UNLIMITED)],
    )


def _shape_bomb(file, folder):
    del file["conv/conv/kernel:0"]
    file.create_dataset(
        "conv/conv/kernel:0", (3 * 2**28,), "float32", chunks=(2**20,), compression="gzip"
    )


def _not_finite(file, folder):
    kernel = file["conv/conv/kernel:0"][()]
    kernel.flat[3] = np.nan
    file["conv/conv/kernel:0"][...] = kernel


def _group_for_numbers(file, folder):
    del file["conv/conv/kernel:0"]
    file.create_group("conv/conv/kernel:0")


def _climbing_name(file, folder):
    file["conv"].attrs["weight_names"] = ["../../etc/passwd", "conv/bias:0"]


def _a_name_twice(file, folder):
    file["conv"].attrs["weight_names"] = ["conv/bias:0", "conv/bias:0"]


def _numbers_for_names(file, folder):
    file.attrs["layer_names"] = 7


def _long_name(file, folder):
    file["conv"].attrs["weight_names"] = ["x" * 2_000, "conv/bias:0"]


def _theano(file, folder):
    file.attrs["backend"] = "theano"


def _put(file, name, array):
    del file[name]
    file[name] = array


HOSTILE = {
    _other_shape: (
        "a different model",
        "'conv' (5×5×3×6, 6) in the file, conv2d 'conv' (3×3×3×6",
    ),
    _layer_missing: ("a different model", "10 layers with weights in the file, 11 in the model"),
    _group_missing: ("a different model", "conv': not in the file"),
    _external_link: ("were not loaded", "conv/conv/kernel:0': an external link"),
    _external_data: ("were not loaded", "conv/conv/kernel:0': its numbers are in another file"),
    _shape_bomb: ("a different model", "'conv' (805306368, 6) in the file"),
    _not_finite: ("were not loaded", "conv/kernel: 1 values not finite"),
    _group_for_numbers: ("were not loaded", "a group instead of numbers"),
    _climbing_name: ("", ""),
    _a_name_twice: ("lists a name twice", ""),
    _numbers_for_names: ("cannot be read", ""),
    _long_name: ("a name of more than 1,000 characters", ""),
    _theano: ("saved with Theano", ""),
}


CASES = [(spoil, False) for spoil in HOSTILE] + [(_other_shape, True), (_external_link, True)]


@pytest.mark.parametrize(
    ("spoil", "is_whole"), CASES, ids=lambda case: getattr(case, "__name__", f"whole={case}")
)
def test_a_file_that_does_not_fit_or_does_harm_is_refused(
    folder, layout, tmp_path, spoil, is_whole
):
    path = tmp_path / "hostile.h5"
    with h5py.File(folder / "kinds.h5") as source, h5py.File(path, "w") as file:
        place = file.create_group("model_weights") if is_whole else file
        for key, value in source.attrs.items():
            place.attrs[key] = value
        for name in source:
            source.copy(name, place)
        spoil(place, tmp_path)
    what, received = HOSTILE[spoil]
    with pytest.raises(WeightsError) as caught:
        read_foreign_weights(path, layout)
    assert what in caught.value.what
    assert received in caught.value.received
    assert caught.value.where == str(path)


@pytest.fixture(scope="module")
def layout():
    return weights_layout(runner_of(GRAPHS["kinds"]).built)


def test_a_whole_file_without_layers_is_not_of_keras_2(layout, tmp_path):
    path = tmp_path / "empty.h5"
    with h5py.File(path, "w") as file:
        file.create_group("model_weights")
    with pytest.raises(WeightsError, match="different model"):
        read_foreign_weights(path, layout)
