"""ONNX Runtime computes a network as Keras does: outputs, hidden outputs, losses."""

from __future__ import annotations

import sys

import msgspec
import numpy as np
import pytest

from tests.built_networks import graph_of, runner_of
from workbench.errors import NeedsTensorFlowError, RunError, RunFolderError, WeightsError
from workbench.inference.onnx_runner import load_onnx_runner
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import OnnxCheck, write_card
from workbench.runs.store.weights_file import read_arrays, write_arrays
from workbench.worker.model.build import read_weights
from workbench.worker.trainer.after_training import load_runner

pytestmark = pytest.mark.worker

TOLERANCE = 1e-5


def network(end, *, hidden="flatten"):
    return graph_of(
        [("in", "conv"), ("conv", "norm"), ("norm", "hidden"), ("hidden", "end")]
        + ([("end", "softmax")] if end == "softmax layer" else []),
        **{
            "in": ("input", {"shape": (9, 7, 3)}),
            "conv": ("conv2d", {"filters": 5, "strides": (2, 1), "padding": "same"}),
            "norm": ("batch_normalization", {}),
            "hidden": (hidden, {}),
            "end": (
                "dense",
                {"units": 4, "activation": "softmax" if end == "softmax" else "linear"},
            ),
        },
        **({"softmax": ("softmax", {})} if end == "softmax layer" else {}),
    )


def saved(graph, folder, **changes):
    """A run folder's card and weights, and the network in Keras that they are of."""
    keras = runner_of(graph)
    folder.mkdir(exist_ok=True)
    run = RunFolder(folder)
    checksum = write_arrays(run.weights_path, read_weights(keras.built))
    is_logits = keras.built.is_logits
    keras.card = msgspec.structs.replace(
        keras.card, checksum=checksum, is_logits=is_logits, **changes
    )
    write_card(folder, keras.card)
    return run, keras


def images(count, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (count, 9, 7, 3), dtype=np.uint8)


@pytest.mark.parametrize("end", ["softmax", "softmax layer", "logits"])
@pytest.mark.parametrize("hidden", ["flatten", "global_average_pooling2d"])
def test_all_outputs_are_those_of_keras(end, hidden, tmp_path):
    run, keras = saved(network(end, hidden=hidden), tmp_path / "run")
    runner = load_onnx_runner(run.path)
    x, labels = images(37), np.arange(37) % 4
    found, inner = runner.score_with_hidden(x, labels)
    expected, wanted = keras.score_with_hidden(x, labels)
    np.testing.assert_allclose(found.raw, expected.raw, atol=TOLERANCE)
    assert (found.raw.argmax(axis=1) == expected.raw.argmax(axis=1)).all()
    np.testing.assert_allclose(found.raw_losses, expected.raw_losses, rtol=1e-4, atol=1e-4)
    assert inner.shape == wanted.shape
    np.testing.assert_allclose(inner, wanted, rtol=1e-4, atol=1e-3)
    assert runner.hidden_size == keras.hidden_size == inner.shape[1]


def test_saturated_losses_are_those_of_keras(tmp_path):
    """Pixels of 0..255 without rescaling: probabilities of 0 and 1, and losses as in training."""
    run, keras = saved(network("softmax"), tmp_path / "run")
    bright = np.full((4, 9, 7, 3), 255, np.uint8)
    labels = np.arange(4)
    arrays = read_arrays(run.weights_path)
    arrays["end/kernel"] = arrays["end/kernel"] * 100
    checksum = write_arrays(run.weights_path, arrays)
    write_card(run.path, msgspec.structs.replace(keras.card, checksum=checksum))
    keras.built.layers["end"].kernel.assign(arrays["end/kernel"])
    found = load_onnx_runner(run.path).score(bright, labels).raw_losses
    assert found.max() > 100
    np.testing.assert_allclose(found, keras.score(bright, labels).raw_losses, rtol=1e-4, atol=1e-5)
    logged = keras.built.model.evaluate
    keras.built.model.compile(loss="sparse_categorical_crossentropy")
    assert logged(bright, labels, verbose=0) == pytest.approx(found.mean(), rel=1e-4)


def test_an_image_gives_the_same_numbers_whatever_is_beside_it(tmp_path):
    run, _ = saved(network("softmax"), tmp_path / "run")
    runner = load_onnx_runner(run.path)
    x = images(600)
    whole = runner.answer(x).raw
    np.testing.assert_allclose(runner.answer(x[:1]).raw, whole[:1], atol=1e-6)
    assert (runner.answer(x).raw == whole).all()
    assert runner.answer(x[:0]).raw.shape == (0, 4)
    with pytest.raises(ValueError, match="images of shape"):
        runner.answer(x[:, :5])


def test_hidden_outputs_of_feature_maps_are_their_means(tmp_path):
    graph = graph_of(
        [("in", "conv"), ("conv", "end"), ("end", "pool"), ("pool", "softmax")],
        **{
            "in": ("input", {"shape": (9, 7, 3)}),
            "conv": ("conv2d", {"filters": 6, "activation": "relu"}),
            "end": ("conv2d", {"filters": 4, "kernel_size": (1, 1)}),
            "pool": ("global_average_pooling2d", {}),
            "softmax": ("softmax", {}),
        },
    )
    run, keras = saved(graph, tmp_path / "run")
    _, found = load_onnx_runner(run.path).outputs(images(5))
    _, expected = keras.outputs(images(5))
    assert found.shape == (5, 6)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)


def test_a_network_without_hidden_layer_classifies(tmp_path):
    graph = graph_of(
        [("in", "pool"), ("pool", "softmax")],
        **{
            "in": ("input", {"shape": (9, 7, 3)}),
            "pool": ("global_average_pooling2d", {}),
            "softmax": ("softmax", {}),
        },
    )
    run, keras = saved(graph, tmp_path / "run")
    runner = load_onnx_runner(run.path)
    rows, hidden = runner.outputs(images(3))
    assert hidden.shape == (3, 0)
    np.testing.assert_allclose(rows, keras.outputs(images(3))[0], atol=TOLERANCE)


def test_outputs_that_are_not_finite_are_an_error(tmp_path):
    run, keras = saved(network("logits"), tmp_path / "run")
    arrays = read_arrays(run.weights_path)
    arrays["end/bias"] = np.array([np.inf, 0, 0, 0], np.float32)
    checksum = write_arrays(run.weights_path, arrays)
    write_card(run.path, msgspec.structs.replace(keras.card, checksum=checksum))
    with pytest.raises(RunError, match="not finite"):
        load_onnx_runner(run.path).answer(images(2))


# what cannot be loaded -------------------------------------------------------------------


def test_a_file_needs_tensorflow(tmp_path):
    (tmp_path / "m.keras").write_bytes(b"x")
    with pytest.raises(NeedsTensorFlowError):
        load_onnx_runner(tmp_path / "m.keras")


def test_a_run_without_weights_is_refused(tmp_path):
    with pytest.raises(RunFolderError, match="no trained weights"):
        load_onnx_runner(tmp_path)


def test_without_onnx_runtime_keras_classifies(tmp_path, monkeypatch):
    run, keras = saved(network("softmax"), tmp_path / "run")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    runner = load_runner(run.path)
    assert type(runner) is type(keras)
    np.testing.assert_allclose(runner.predict(images(2)), keras.predict(images(2)), atol=TOLERANCE)


@pytest.mark.parametrize("fault", [{"num_other_labels": 1}, {"max_difference": 2e-5}])
def test_what_differed_from_tensorflow_is_computed_by_it(fault, tmp_path):
    check = OnnxCheck(**{"num_images": 8, "num_other_labels": 0, "max_difference": 1e-6, **fault})
    run, keras = saved(network("softmax"), tmp_path / "run", onnx_check=check)
    with pytest.raises(NeedsTensorFlowError, match="other outputs"):
        load_onnx_runner(run.path)
    assert type(load_runner(run.path)) is type(keras)


def test_weights_of_another_network_are_refused(tmp_path):
    run, keras = saved(network("softmax"), tmp_path / "run")
    arrays = read_arrays(run.weights_path)
    del arrays["end/kernel"]
    checksum = write_arrays(run.weights_path, arrays)
    write_card(run.path, msgspec.structs.replace(keras.card, checksum=checksum))
    with pytest.raises(WeightsError, match="do not fit this network"):
        load_onnx_runner(run.path)


def test_weights_of_another_shape_are_refused_in_the_words_of_keras(tmp_path):
    run, keras = saved(network("softmax"), tmp_path / "run")
    arrays = read_arrays(run.weights_path)
    arrays["end/kernel"] = np.zeros((3, 4), np.float32)
    checksum = write_arrays(run.weights_path, arrays)
    write_card(run.path, msgspec.structs.replace(keras.card, checksum=checksum))
    with pytest.raises(WeightsError):
        load_runner(run.path)


def test_changed_weights_are_refused(tmp_path):
    run, _ = saved(network("softmax"), tmp_path / "run")
    arrays = read_arrays(run.weights_path)
    arrays["end/bias"] = arrays["end/bias"] + 1
    write_arrays(run.weights_path, arrays)
    with pytest.raises(WeightsError, match="do not match the model card"):
        load_onnx_runner(run.path)


def test_a_card_of_another_network_is_refused(tmp_path):
    run, keras = saved(network("softmax"), tmp_path / "run")
    write_card(run.path, msgspec.structs.replace(keras.card, class_names=list("abcdef")))
    with pytest.raises(WeightsError, match="does not match its model"):
        load_onnx_runner(run.path)


def test_a_network_with_problems_is_left_to_keras(tmp_path):
    run, keras = saved(network("softmax"), tmp_path / "run")
    graph = {**keras.card.graph, "edges": keras.card.graph["edges"][:-1]}
    write_card(run.path, msgspec.structs.replace(keras.card, graph=graph))
    with pytest.raises(NeedsTensorFlowError, match="has problems"):
        load_onnx_runner(run.path)


def test_too_large_a_network_is_refused(tmp_path, monkeypatch):
    run, _ = saved(network("softmax"), tmp_path / "run")
    monkeypatch.setattr("workbench.inference.runner.available_memory", lambda: 1_000)
    with pytest.raises(WeightsError, match="too large for this computer"):
        load_onnx_runner(run.path)
