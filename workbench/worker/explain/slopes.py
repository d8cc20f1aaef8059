"""Values inside a network and how a class's score changes with them, compiled once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from workbench.core.network.graph import Graph
from workbench.worker.explain.places import Places
from workbench.worker.model.build import BuiltModel
from workbench.worker.process.lazy_keras import keras, tf

Tensor = Any

Slopes = Callable[[Tensor, Tensor], tuple[list[Tensor], list[Tensor]]]
"""(images (n, height, width, channels), classes (n,)) -> for each place its values, float32
(n, h, w, c), and the gradient of the class's score with respect to them, of the same shape.
"""


def compile_slopes(
    graph: Graph, built: BuiltModel, places: Places, at: Sequence[str], *, is_chain: bool = False
) -> Slopes:
    """A function that is compiled on its first call, for any number of images and any class.

    The score is the logit of the probability, from what the network computes before its last
    activation: by how much a class is above the others. Behind a softmax the gradient of a class
    that the model is sure of is almost 0; and what raises all classes alike is no evidence for one.
    Each place counts for what reaches the scores without another one, so that their shares can be
    summed; or, where they are one behind the other, for all that goes through it.

    Args:
        graph: The network.
        built: The same, whole, with its weights, which may change later.
        places: The places of the network, as `find_places` gives them.
        at: Ids of the nodes in question.
        is_chain: They are in order one behind the other, and no way goes around one.
    """
    starts = at[:1] if is_chain else at
    before = {key for each in starts for key in (*graph.ancestors(each), each)}
    way = graph.ancestors(places.score) | {places.score}
    first = [key for key in graph.order if key in before]
    second = [key for key in graph.order if key in way - before]

    def slopes(images: Tensor, classes: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        tensors = {places.input: images}
        _run(graph, built.layers, places, tensors, first)
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch([tensors[each] for each in starts])
            _run(graph, built.layers, places, tensors, second)
            score = _above_others(tensors[places.score], classes)
        values = [tensors[each] for each in at]
        zero = tf.UnconnectedGradients.ZERO
        return values, tape.gradient(score, values, unconnected_gradients=zero)

    signature = [
        tf.TensorSpec((None, *built.input_shape), tf.float32),
        tf.TensorSpec((None,), tf.int64),
    ]
    return tf.function(slopes, input_signature=signature, autograph=False)  # type: ignore[no-any-return]


def _above_others(scores: Tensor, classes: Tensor) -> Tensor:
    """The score of one class each, less the soft maximum of the others; (n,) of (n, classes)."""
    own = tf.gather(scores, classes, axis=1, batch_dims=1)
    if scores.shape[1] == 1:
        return own
    hidden = tf.one_hot(classes, scores.shape[1], on_value=scores.dtype.min / 2, off_value=0.0)
    return own - tf.reduce_logsumexp(scores + hidden, axis=1)


def _run(
    graph: Graph,
    made: Mapping[str, Any],
    places: Places,
    tensors: dict[str, Tensor],
    keys: Sequence[str],
) -> None:
    """Calls layers in order, each on the outputs of those before it."""
    for key in keys:
        if key in tensors:
            continue
        layer, inputs = made[key], [tensors[source] for source in graph.sources(key)]
        # Keras has no other way to see whether a layer takes the argument.
        more = {"training": False} if getattr(layer, "_call_has_training_arg", False) else {}
        with _without_activation(layer if key == places.score else None):
            output = layer(inputs if len(inputs) > 1 else inputs[0], **more)
        tensors[key] = tf.stop_gradient(output) if key in places.stops else output


@contextmanager
def _without_activation(layer: Any | None) -> Iterator[None]:
    """While compiling, a layer gives what it computes before its activation."""
    activation = getattr(layer, "activation", None)
    if layer is None or activation is None:
        yield
        return
    layer.activation = keras.activations.linear
    try:
        yield
    finally:
        layer.activation = activation
