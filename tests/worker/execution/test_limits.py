"""What a target's limits forbid does not happen: our own forms of layers, and XLA in tf.data."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.worker.conftest import chain
from workbench.core.projects.project import Project
from workbench.core.specs import TargetLimits
from workbench.core.training.recipe import TrainingRecipe
from workbench.pictures.prepare import PreparedData, PreparedPart
from workbench.worker.execution.compiled import Connected, compile_training, sizes_of

pytestmark = pytest.mark.worker

MOVES = (
    ("rescaling", {}),
    ("random_flip", {}),
    ("random_rotation", {}),
    ("random_zoom", {}),
    ("random_contrast", {}),
    ("resizing", {"height": 7, "width": 7}),
    ("random_translation", {}),
)
LAYERS = (
    ("conv2d", {"filters": 4, "groups": 2}),
    ("batch_normalization", {}),
    ("dropout", {"rate": 0.3}),
)


def compiled_with(limits, *middle, **recipe):
    graph = chain(
        ("input", {"shape": (8, 8, 2)}),
        *middle,
        ("flatten", {}),
        ("dense", {"units": 5, "activation": "relu"}),
        ("dense", {"units": 3, "activation": "softmax"}),
    )
    values = {"batch_size": 8, "precision": "bfloat16", **recipe}
    project = Project(graph=graph, recipe=TrainingRecipe().with_values(**values))
    random = np.random.default_rng(1)
    pictures = random.integers(0, 256, (24, 8, 8, 2), dtype=np.uint8)
    part = PreparedPart(pictures, np.arange(24) % 3)
    target = Connected(tf.distribute.OneDeviceStrategy("/cpu:0"), limits)
    return compile_training(
        project,
        PreparedData(("a", "b", "c"), part, part, None),
        target=target,
        sizes=sizes_of(project, 24),
        check=lambda: None,
    )


def makers(compiled):
    """Where the classes of the model's layers come from."""
    return {type(layer).__module__.split(".")[0] for layer in compiled.built.model.layers}


def test_without_own_layers_the_network_is_of_kerass_alone_and_trains():
    assert makers(compiled_with(TargetLimits(), *LAYERS)) == {"keras", "workbench"}
    compiled = compiled_with(TargetLimits(own_layers=False), *LAYERS)
    assert makers(compiled) == {"keras"}
    results = compiled.loop.train(compiled.iterator, 3, rates=[0.01] * 3)
    assert np.isfinite(results.losses).all()


def compiled_functions(dataset):
    """Names of the functions in a dataset's graph that XLA must compile."""
    text = tf.raw_ops.DatasetToGraphV2(
        input_dataset=dataset._variant_tensor,
        external_state_policy=1,  # the generator of the order is not written
    )
    graph = tf.compat.v1.GraphDef.FromString(text.numpy())
    return [
        function.signature.name
        for function in graph.library.function
        if function.attr["_XlaMustCompile"].b
    ]


@pytest.mark.parametrize("mixing", ["none", "mixup", "cutmix"])
def test_without_jit_host_nothing_in_the_input_pipeline_is_compiled(mixing):
    recipe = {"mixing": mixing, "random_erasing": 0.5}
    assert compiled_functions(compiled_with(TargetLimits(), *MOVES, **recipe).batches)
    compiled = compiled_with(TargetLimits(jit_host=False), *MOVES, **recipe)
    assert not compiled_functions(compiled.batches)
    pictures, _ = next(iter(compiled.batches))
    assert pictures.shape == (8, 7, 7, 2)
    assert np.isfinite(tf.cast(pictures, tf.float32)).all()


def test_the_recipe_cannot_overrule_the_target():
    compiled = compiled_with(TargetLimits(jit_host=False, jit_step=False), *MOVES, xla="on")
    assert not compiled_functions(compiled.batches)
    assert not compiled.plan.xla


def test_what_comes_before_a_normalization_is_computed_where_the_model_is_placed(monkeypatch):
    """Eagerly, Keras has XLA compile a grouped convolution for the processor: a TensorFlow for
    TPUs cannot.
    """
    calls = []
    call = keras.layers.Conv2D.call

    def recorded(self, inputs):
        calls.append((tf.executing_eagerly(), tf.distribute.in_cross_replica_context()))
        return call(self, inputs)

    limits = TargetLimits(own_layers=False)
    compiled = compiled_with(limits, LAYERS[0], ("normalization", {}))
    mean = next(w for w in compiled.built.layers["n2"].weights if w.name == "mean").numpy()
    assert mean.any()
    monkeypatch.setattr(keras.layers.Conv2D, "call", recorded)
    again = compiled_with(limits, LAYERS[0], ("normalization", {}))
    assert (True, True) not in calls
    assert (True, False) not in calls
    assert (False, False) in calls  # in strategy.run, within a function
    there = next(w for w in again.built.layers["n2"].weights if w.name == "mean").numpy()
    np.testing.assert_array_equal(mean, there)
