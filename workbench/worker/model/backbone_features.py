"""Features of images by a bundled backbone, for what is no training."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.backbones import insert_backbone
from workbench.core.network.graph import Graph, Node
from workbench.core.network.roles import specs_of
from workbench.core.specs import BackboneSpec, Role
from workbench.layers import all_layers
from workbench.pictures.steps import STEP
from workbench.worker.model.build import build_model
from workbench.worker.process.lazy_keras import tf

Pixels = np.ndarray[Any, np.dtype[np.uint8]]
Floats = np.ndarray[Any, np.dtype[np.float32]]

BATCH = STEP
"""Images of a call; fewer are filled up, so that the step is compiled once."""


class BackboneFeatures:
    """Computes features by a pretrained network without its top.

    Attributes:
        shape: (height, width, channels) of the images that it takes.
        num_features: Numbers for each image.

    Raises:
        WeightsError: its weights are missing or damaged.
    """

    def __init__(self, spec: BackboneSpec) -> None:
        layers = all_layers()
        start = specs_of(layers, Role.INPUT)[0]
        node = Node("n1", start.key, start.key, {start.params[0].key: spec.input_shape})
        inserted = insert_backbone(Graph.of([node]), spec, node.id, spec.input_shape)
        model = build_model(inserted.graph, layers, whole=True).model
        self.shape = spec.input_shape
        self.num_features = spec.num_features
        self._call = tf.function(
            lambda images: model(tf.cast(images, tf.float32), training=False),
            input_signature=[tf.TensorSpec((BATCH, *spec.input_shape), tf.uint8)],
        )

    def of(self, images: Pixels) -> Floats:
        """The features of at most BATCH images, uint8 (n, *shape): float32 (n, d)."""
        filled = np.zeros((BATCH, *self.shape), np.uint8)
        filled[: len(images)] = images
        features: Floats = self._call(tf.constant(filled)).numpy()[: len(images)]
        return features
