"""Random layers draw other numbers on each replica.

Keras keeps the state of a layer's generator in a variable that is equal on all replicas, so
that each would drop the same places of its part of the batch: with eight replicas, one mask
for eight images. Here the replica's number becomes part of the seed that is handed out. The
state itself stays equal everywhere, so a checkpoint of one replica's goes on exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.worker.process.lazy_keras import keras, tf

_STRIDE = 0x9E37
"""Between the seeds of two replicas. It goes to the part of the seed that is the layer's own:
the other one counts the calls, and there replicas would draw each other's numbers later.
"""


def fold_replicas(model: Any, replicas: int) -> None:
    """Lets the model's random layers draw differently on each of several replicas.

    With one replica nothing is touched. The first replica draws what it would alone. The model
    must not have been traced yet.
    """
    if replicas == 1:
        return
    for layer in model.layers:
        for value in vars(layer).values():
            if isinstance(value, keras.random.SeedGenerator):
                value.next = _of_this_replica(value.next)


def _of_this_replica(own_next: Callable[..., Any]) -> Callable[..., Any]:
    """`SeedGenerator.next` for the replica that calls it: two numbers, as before."""

    def following(*, ordered: bool = True) -> Any:
        seed = own_next(ordered=ordered)
        context = tf.distribute.get_replica_context()
        if context is None:  # outside of a step: nothing is split
            return seed
        number = tf.cast(context.replica_id_in_sync_group, seed.dtype)
        return seed + tf.stack([number * _STRIDE, tf.zeros_like(number)])

    return following
