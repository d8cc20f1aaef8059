"""Batch normalization on several replicas, each of which gets its part of the batch only.

*Synchronized*, all replicas normalize by the statistics of the whole batch: the same figures
as one device, for communication between the replicas at each layer. *Not synchronized*, each
uses its own part, and the running statistics are averaged over the replicas after each step: every
replica then holds the same values, so what is validated, checkpointed and exported agree.
"""

from __future__ import annotations

from typing import Any

from workbench.worker.process.lazy_keras import keras, tf


def synchronize(model: Any, *, is_on: bool) -> None:
    """Sets for all batch normalizations of a model not yet traced whether they go by the whole
    batch.
    """
    for layer in _normalizations(model):
        layer.synchronized = is_on


def drifting_statistics(model: Any) -> list[Any]:
    """The variables that a step moves differently on each replica: running means and
    variances of what is not synchronized.
    """
    return [
        variable
        for layer in _normalizations(model)
        if not layer.synchronized
        for variable in layer.non_trainable_variables
    ]


def _normalizations(model: Any) -> list[Any]:
    kind = keras.layers.BatchNormalization
    return [layer for layer in model.layers if isinstance(layer, kind)]


def average_over_replicas(variables: list[Any]) -> None:
    """Gives variables the mean of what the replicas hold; call within a replica's step."""
    if not variables:
        return
    context = tf.distribute.get_replica_context()
    values = [tf.convert_to_tensor(variable) for variable in variables]
    means = context.all_reduce(tf.distribute.ReduceOp.MEAN, values)
    for variable, mean in zip(variables, means, strict=True):
        variable.assign(mean)


def moments_of_all_replicas(values: Any) -> tuple[Any, Any]:
    """Mean and variance of the values of all replicas over all axes but the last; call within
    a replica's step.

    Each replica must have equally many. The moments of the parts are put together (Chan,
    Golub and LeVeque, 1979): unlike a mean of squares less a squared mean, that keeps its
    digits where the mean is far from zero. From float32 (batch, ..., channels) to float32
    (channels,) twice.
    """
    context = tf.distribute.get_replica_context()
    own_mean, own_variance = tf.nn.moments(values, axes=list(range(len(values.shape) - 1)))
    mean_op = tf.distribute.ReduceOp.MEAN
    mean = context.all_reduce(mean_op, own_mean)
    variance = context.all_reduce(mean_op, own_variance + tf.square(own_mean - mean))
    return mean, variance
