"""Pretrained weights: right, refused where they are not, and given to the layers that name them."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from tests.worker import backbone_references as references
from tests.worker.backbone_references import built_of, graph_with, patterns
from workbench.backbones import _files, all_backbones, weights_file
from workbench.core.network.graph import Edge
from workbench.errors import GraphError, WeightsError
from workbench.layers import all_layers
from workbench.worker.model.build import build_model, pretrained_arrays, read_weights

pytestmark = [
    pytest.mark.worker,
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]
"""Keras writes files in its old format with it."""

DOWNLOADED = [key for key, spec in all_backbones().items() if not spec.is_bundled]


@pytest.fixture(autouse=True)
def clear():
    yield
    import keras

    keras.backend.clear_session()


@pytest.fixture
def specs(monkeypatch):
    """The backbones, some of which a test may replace."""
    known = dict(all_backbones())
    monkeypatch.setattr("workbench.backbones.all_backbones", lambda: known)
    return known


@pytest.mark.skipif(
    not references.MOBILENET_FILE.exists(), reason="no ../shared/data: Keras's file is not there"
)
def test_mobilenet_predicts_as_keras_with_the_same_file():
    original = references.originals()["mobilenet"]
    model = original.make()
    model.load_weights(references.MOBILENET_FILE)
    images = references.photos(50).astype(np.float32)
    expected = original.features(model, images)
    assert expected.max() > 1
    received = built_of("mobilenet").model.predict(images, verbose=0)
    assert np.abs(received - expected).max() < 1e-4


def test_lite0_predicts_as_its_pytorch_original():
    stored = np.load(references.LITE0_FEATURES)
    images = patterns(len(stored["features"]))
    assert np.array_equal(stored["sums"], images.sum(axis=(1, 2, 3)))
    received = built_of("efficientnet_lite0").model.predict(images.astype(np.float32), verbose=0)
    assert stored["features"].max() > 1
    assert np.abs(received - stored["features"]).max() < 1e-4


@pytest.mark.full_but("mobilenet_v3")
@pytest.mark.parametrize("key", DOWNLOADED)
def test_a_file_as_keras_publishes_it_predicts_as_keras(key, specs, tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    original = references.originals()[key]
    model = original.make()
    specs[key] = references.publish(model, specs[key], tmp_path)
    images = patterns(4).astype(np.float32)
    expected = original.features(model, images)
    received = built_of(key).model.predict(images, verbose=0)
    assert np.ptp(expected) > 0
    assert np.abs(received - expected).max() < 1e-4 * max(1, np.abs(expected).max())


def test_layers_without_pretrained_weights_start_as_without_a_backbone():
    spec = all_backbones()["mobilenet"]
    graph = graph_with(spec)
    plain = [replace(node, pretrained="") for node in graph.nodes.values()]
    head = replace(graph.nodes["n1"], id="n999", kind="dense", name="head", params={"units": 3})
    last = graph.order[-1]
    with_weights, without = (
        read_weights(
            build_model(g.with_node(head).with_edge(Edge(last, "n999")), all_layers(), seed=3)
        )
        for g in (graph, type(graph).of(plain, graph.edges))
    )
    assert np.array_equal(with_weights["head/kernel"], without["head/kernel"])
    assert not np.array_equal(with_weights["conv1/kernel"], without["conv1/kernel"])
    assert np.array_equal(
        with_weights["conv1/kernel"], pretrained_arrays(spec.key)["conv1"]["kernel"]
    )


def test_a_layer_that_was_changed_is_named_with_both_shapes():
    graph = graph_with(all_backbones()["mobilenet"])
    conv = next(node for node in graph.nodes.values() if node.name == "conv1")
    changed = graph.with_params(conv.id, kernel_size=(5, 5))
    with pytest.raises(GraphError, match="conv1") as caught:
        build_model(changed, all_layers())
    assert "3 × 3 × 3 × 8" in caught.value.received
    assert "5 × 5 × 3 × 8" in caught.value.expected


def test_no_weights_are_read_where_none_are_needed(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    graph = graph_with(all_backbones()[DOWNLOADED[0]])
    assert build_model(graph, all_layers(), pretrained=False).model.count_params() > 0


def test_an_unknown_backbone_is_named():
    graph = graph_with(all_backbones()["mobilenet"])
    conv = next(node for node in graph.nodes.values() if node.name == "conv1")
    changed = graph.with_node(replace(conv, pretrained="nonet/conv1"))
    with pytest.raises(WeightsError, match="does not have") as caught:
        build_model(changed, all_layers())
    assert caught.value.received == "nonet"


@pytest.mark.parametrize("damage", ["cut", "altered", "empty"])
def test_a_damaged_bundled_file_is_refused_with_both_checksums(damage, tmp_path, monkeypatch):
    spec = all_backbones()["mobilenet"]
    path = tmp_path / "mobilenet.weights"
    shutil.copy(weights_file(spec), path)
    data = bytearray(path.read_bytes())
    data[5000] ^= 1
    damaged = {"cut": bytes(data[:5000]), "altered": bytes(data), "empty": b""}[damage]
    path.write_bytes(damaged)
    monkeypatch.setattr(_files, "resource_path", lambda name: path)
    with pytest.raises(WeightsError, match="damaged") as caught:
        pretrained_arrays(spec.key)
    assert str(path) == caught.value.where
    assert re.search(r"[0-9a-f]{64}", caught.value.received)
    assert spec.weights.sha256 in caught.value.expected
    assert caught.value.fix


def test_weights_that_were_not_downloaded_name_address_and_place(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    weights = all_backbones()["resnet50"].weights
    with pytest.raises(WeightsError, match="have not been downloaded") as caught:
        pretrained_arrays("resnet50")
    assert weights.address in caught.value.expected
    assert str(tmp_path / "models") in caught.value.fix


def test_a_download_that_was_altered_later_is_refused(specs, tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    key = "mobilenet_v3"
    specs[key] = references.publish(references.originals()[key].make(), specs[key], tmp_path)
    path = tmp_path / "models" / specs[key].weights.file_name
    data = bytearray(path.read_bytes())
    data[-9] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(WeightsError, match="damaged"):
        pretrained_arrays(key)


def test_a_file_of_another_network_is_refused(specs, tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    spec = references.publish(
        references.originals()["mobilenet_v3"].make(), specs["mobilenet_v3"], tmp_path
    )
    other = replace(specs["mobilenet_v2"].weights, address=spec.weights.address, checksum="")
    specs["mobilenet_v2"] = replace(specs["mobilenet_v2"], weights=other)
    with pytest.raises(WeightsError, match="layers with weights"):
        pretrained_arrays("mobilenet_v2")


def test_numbers_that_are_not_finite_are_refused(specs, tmp_path, monkeypatch):
    import h5py

    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    key = "mobilenet_v3"
    spec = references.publish(references.originals()[key].make(), specs[key], tmp_path)
    path = tmp_path / "models" / spec.weights.file_name
    with h5py.File(path, "r+") as file:
        layer = file[
            next(n for n in file.attrs["layer_names"] if file[n].attrs["weight_names"].size)
        ]
        layer[layer.attrs["weight_names"][0]][0, 0, 0, 0] = np.nan
    specs[key] = replace(spec, weights=replace(spec.weights, checksum=""))
    with pytest.raises(WeightsError, match="not loaded"):
        pretrained_arrays(key)
