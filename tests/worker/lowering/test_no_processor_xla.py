"""What may not use XLA for the processor does not, from the first batch to an exported model;
and a TensorFlow for TPUs, which has no such XLA, never compiles with it, whatever the target.
"""

from __future__ import annotations

import tempfile
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from tests.proofs._environment_projects import every_kind, grouped, on_pictures
from tests.worker.conftest import chain
from workbench.core.checks.shapes import Propagation
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import graph_to_plain
from workbench.core.specs import TargetLimits
from workbench.core.training.recipe import TrainingRecipe
from workbench.exports import run_exports
from workbench.layers import all_layers
from workbench.pictures.prepare import PreparedData, PreparedPart
from workbench.runs.model_card import ModelCard
from workbench.targets import all_targets
from workbench.worker.execution.compiled import Connected, compile_training, connect, sizes_of
from workbench.worker.model.build import assign_weights, build_model, read_weights
from workbench.worker.requests.exporting.converter import ExportContext
from workbench.worker.saved_models.keras_runner import KerasRunner

pytestmark = pytest.mark.worker


@pytest.fixture
def compiled_calls(monkeypatch):
    """Names of the functions that were called, or traced into others, and that XLA must compile:
    Keras's own among them.
    """
    names = []
    function = type(tf.function(lambda: None))
    call = function.__call__

    def recorded(self, *args, **more):
        if self._jit_compile:
            names.append(self._name)
        return call(self, *args, **more)

    monkeypatch.setattr(function, "__call__", recorded)
    return names


def trained(graph, limits, folder):
    """A network after a call of training and one of validation."""
    project = Project(graph=graph, recipe=TrainingRecipe())
    values = {"xla": "on", "mixing": "cutmix", "random_erasing": 0.5, "top_k": 2}
    project = on_pictures(project, folder / "pictures.npz", Choice("virtual"), **values)
    with np.load(folder / "pictures.npz") as arrays:
        train = PreparedPart(arrays["x_train"], arrays["y_train"])
        test = PreparedPart(arrays["x_test"], arrays["y_test"])
    names = tuple(f"c{number}" for number in range(train.y.max() + 1))
    compiled = compile_training(
        project,
        PreparedData(names, train, test, test),
        target=Connected(tf.distribute.OneDeviceStrategy("/cpu:0"), limits),
        sizes=sizes_of(project, len(train)),
        check=lambda: None,
    )
    results = compiled.loop.train(compiled.iterator, 2, rates=[0.001] * 2)
    assert np.isfinite(results.losses).all()
    assert compiled.validation.scores(lambda fraction: None, lambda steps: steps) is not None
    return compiled, names


def classify_and_export(compiled, names, graph, folder):
    """All that is done with the weights of a training."""
    whole = build_model(graph, all_layers(), whole=True)
    assign_weights(whole, read_weights(compiled.built))
    shape = Propagation(graph, all_layers()).shapes["n1"]
    plain = graph_to_plain(graph)
    card = ModelCard(class_names=list(names), input_shape=list(shape), fit="crop", graph=plain)
    runner = KerasRunner(card, whole, graph)
    pictures = np.zeros((2, *shape), np.uint8)
    runner.predict(pictures)
    runner.score(pictures, np.zeros(2, np.int64))
    keras_formats = {k: s for k, s in run_exports().items() if s.reader.runtime.name == "keras"}
    with tempfile.TemporaryDirectory() as scratch:
        for key, spec in keras_formats.items():
            context = ExportContext(runner, spec, Path(scratch))
            spec.write(context, str(folder / f"{key}{spec.suffix}"))


# Keras reads variables as older NumPys wanted it; a worker's process only shows the warning.
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_the_limits_of_a_tpu_keep_xla_off_the_host_in_all_that_a_training_does(
    compiled_calls, tmp_path
):
    graph = every_kind()
    compiled, names = trained(graph, like_tpu(), tmp_path)
    classify_and_export(compiled, names, graph, tmp_path)
    assert compiled_calls == []


def like_tpu():
    """What `virtual:2,like_tpu` allows."""
    return all_targets()["virtual"].limits({"replicas": 2, "like_tpu": True})


def test_the_processors_own_limits_do_use_it(compiled_calls, tmp_path):
    """So that the test above means something."""
    graph = chain(
        ("input", {"shape": (8, 8, 3)}),
        ("random_rotation", {}),
        ("flatten", {}),
        ("dense", {"units": 3, "activation": "softmax"}),
    )
    trained(graph, TargetLimits(), tmp_path)
    assert {"compute", "train"} <= set(compiled_calls)


def test_keras_itself_uses_it_where_a_convolution_goes_in_groups(compiled_calls, tmp_path):
    trained(grouped().graph, like_tpu(), tmp_path)
    assert set(compiled_calls) == {"_conv_xla"}


@pytest.mark.parametrize("is_for_tpus", [False, True])
def test_this_computer_is_trained_on_without_it_where_tensorflow_is_for_tpus(
    monkeypatch, is_for_tpus
):
    version = metadata.version
    tpu = {"tensorflow-tpu": "2.19.1"} if is_for_tpus else {}
    monkeypatch.setattr(metadata, "version", lambda name: tpu.get(name) or version(name))
    target = connect(Project(target=Choice("this_computer")))
    assert (target.limits.jit_step, target.limits.jit_host) == (not is_for_tpus,) * 2
