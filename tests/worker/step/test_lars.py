"""LARS against its formulas in NumPy, and the exported script's class against ours."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.training.optimizers.lars import SPEC
from workbench.core.training.recipe import TrainingRecipe
from workbench.worker.step.train_step import make_optimizer

pytestmark = pytest.mark.worker

TRUST = 0.001  # the paper's coefficient

SHAPES = {"kernel": (3, 3, 4, 8), "bias": (8,), "gamma": (8,), "matrix": (6, 5), "zeros": (2, 2)}


@pytest.fixture(scope="module")
def keras():
    import keras

    return keras


def starts():
    random = np.random.default_rng(3)
    weights = {name: random.normal(0, 2, shape) for name, shape in SHAPES.items()}
    return {**weights, "zeros": np.zeros(SHAPES["zeros"])}


def gradients(step):
    random = np.random.default_rng(100 + step)
    return {name: random.normal(0, 0.3, shape) for name, shape in SHAPES.items()}


def by_formula(rates, momentum, decay, undecayed=()):
    """You, Gitman and Ginsburg (2017), algorithm 1, in float64."""
    weights = starts()
    velocities = {name: np.zeros(shape) for name, shape in SHAPES.items()}
    for step, rate in enumerate(rates):
        for name, gradient in gradients(step).items():
            w, own, trust = weights[name], 0.0, 1.0
            if w.ndim > 1:
                own = 0.0 if name in undecayed else decay
                size = np.linalg.norm(w)
                if size > 0:
                    trust = TRUST * size / (np.linalg.norm(gradient) + own * size)
            velocities[name] = momentum * velocities[name] + rate * trust * (gradient + own * w)
            weights[name] = w - velocities[name]
    return weights


def by_keras(keras, optimizer, rates):
    variables = [keras.Variable(value, name=name) for name, value in starts().items()]
    optimizer.build(variables)
    for step, rate in enumerate(rates):
        optimizer.learning_rate = lambda rate=rate: rate
        optimizer.apply([keras.ops.cast(g, "float32") for g in gradients(step).values()], variables)
    return {variable.name: np.asarray(variable) for variable in variables}


RATES = [5.0, 4.0, 3.0, 20.0]


@pytest.mark.parametrize(("momentum", "decay"), [(0.9, 0.01), (0.9, None), (0.0, 0.5)])
def test_steps_are_those_of_the_paper(keras, momentum, decay):
    optimizer = SPEC.keras_class(keras)(1.0, momentum=momentum, weight_decay=decay)
    found = by_keras(keras, optimizer, RATES)
    for name, expected in by_formula(RATES, momentum, decay or 0.0).items():
        np.testing.assert_allclose(found[name], expected, rtol=2e-5, atol=1e-6, err_msg=name)


def test_a_recipe_makes_it_and_may_spare_what_it_names(keras):
    recipe = TrainingRecipe(
        optimizer="lars", momentum=0.8, weight_decay=0.1, decay_biases=False, learning_rate=2.0
    )
    optimizer = make_optimizer(recipe)
    optimizer.exclude_from_weight_decay(var_names=["matrix"])
    found = by_keras(keras, optimizer, RATES)
    expected = by_formula(RATES, 0.8, 0.1, undecayed=("matrix",))
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=2e-5, atol=1e-6, err_msg=name)
    made = SPEC.keras_class(keras)(2.0, momentum=0.8, weight_decay=0.1)
    again = SPEC.keras_class(keras).from_config(made.get_config())
    assert (again.momentum, again.weight_decay) == (0.8, 0.1)


def test_the_script_has_the_same_optimizer(keras):
    names = {"keras": keras}
    exec(SPEC.definition, names)  # noqa: S102 - the text is our own
    ours, theirs = (
        by_keras(keras, cls(learning_rate=1.0, momentum=0.9, weight_decay=0.01), RATES)
        for cls in (SPEC.keras_class(keras), names["LARS"])
    )
    for name in ours:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-6, atol=1e-7)
