"""What training makes small: the loss of each picture, in float32.

Made of Keras's own functions, so that the exported script, which names them, trains the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.core.training.recipe import TrainingRecipe

Weights = np.ndarray[Any, np.dtype[np.float32]]


def class_weights(recipe: TrainingRecipe, labels: Any, num_classes: int) -> Weights | None:
    """What a picture of each class counts, float32 (classes,); None where all count alike.

    Balanced: pictures / (classes * pictures of the class), so that the mean over all training
    pictures is 1 and every class weighs the same in all. A class without pictures counts 0.

    Args:
        recipe: Its `class_weights`.
        labels: Labels of the training images, int (count,).
        num_classes: Classes of the data set.
    """
    if recipe.class_weights == "none":
        return None
    counts = np.bincount(np.asarray(labels), minlength=num_classes)
    num_seen = np.count_nonzero(counts)
    weights = np.where(counts > 0, len(labels) / (num_seen * np.maximum(counts, 1)), 0.0)
    return weights.astype(np.float32)


class Objective:
    """The losses of one recipe.

    Args:
        tf: TensorFlow.
        keras: Keras on it.
        recipe: Loss, its gamma, and label smoothing.
        is_logits: The network ends without softmax.
        class_weights: What a picture of each class counts in training, or None.
    """

    def __init__(
        self,
        tf: Any,
        keras: Any,
        recipe: TrainingRecipe,
        *,
        is_logits: bool,
        class_weights: Weights | None = None,
    ) -> None:
        self._tf = tf
        self._keras = keras
        self._recipe = recipe
        self._is_logits = is_logits
        self._class_weights = class_weights

    def training(self, labels: Any, outputs: Any) -> Any:
        """The loss of each picture as it is trained, float32 (batch,).

        Args:
            labels: Classes, int (batch,); or shares of classes, float (batch, classes).
            outputs: Outputs of the network, float32 (batch, classes).
        """
        losses = self._losses(labels, outputs, self._recipe.label_smoothing)
        if self._class_weights is None:
            return losses
        return losses * self._weights_of(labels)

    def evaluation(self, labels: Any, outputs: Any) -> Any:
        """The loss of each picture as it is validated: neither smoothed nor weighted, so that
        runs of different recipes can be compared.
        """
        return self._losses(labels, outputs, 0.0)

    def _losses(self, labels: Any, outputs: Any, smoothing: float) -> Any:
        losses, loss = self._keras.losses, self._recipe.loss
        is_soft = len(labels.shape) == 2
        if loss == "cross_entropy" and not smoothing and not is_soft:
            return losses.sparse_categorical_crossentropy(
                labels, outputs, from_logits=self._is_logits
            )
        targets = labels if is_soft else self._tf.one_hot(labels, outputs.shape[-1])
        if smoothing:
            targets = targets * (1.0 - smoothing) + smoothing / outputs.shape[-1]
        if loss == "mean_squared":
            return losses.mean_squared_error(targets, self._shares(outputs))
        if loss == "focal":
            return losses.categorical_focal_crossentropy(
                targets,
                outputs,
                alpha=1.0,
                gamma=self._recipe.focal_gamma,
                from_logits=self._is_logits,
            )
        return losses.categorical_crossentropy(targets, outputs, from_logits=self._is_logits)

    def _shares(self, outputs: Any) -> Any:
        return self._tf.nn.softmax(outputs) if self._is_logits else outputs

    def _weights_of(self, labels: Any) -> Any:
        weights = self._tf.constant(self._class_weights)
        if len(labels.shape) == 2:
            return self._tf.linalg.matvec(labels, weights)
        return self._tf.gather(weights, labels)
