"""A network as the reader of foreign weights needs it: its layers with weights, and its calls."""

from __future__ import annotations

from workbench.worker.foreign.architecture import read_architecture, snake_case
from workbench.worker.foreign.file_layers import Expected, Layer, Network
from workbench.worker.model.build import BuiltModel, named_variables
from workbench.worker.saved_models.keras2_file import keras2_weights


def weights_layout(built: BuiltModel) -> Network:
    """The layers with weights of a network, built with `whole=True`, in Keras's order; the arrays
    of each as Keras saves them, trainable ones first.
    """
    keys = {id(variable): key for key, variable in named_variables(built).items()}
    layers = [
        Layer(
            layer.name,
            tuple(
                Expected(keys[id(variable)], tuple(map(int, variable.shape)), str(variable.dtype))
                for variable in keras2_weights(layer)
            ),
            snake_case(type(layer).__name__),
        )
        for layer in built.model.layers
        if layer.weights
    ]
    return Network(layers, read_architecture(built.model.to_json()))
