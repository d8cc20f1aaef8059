"""The training loss of each image, in float32.

Made of Keras's own functions, so that the exported script, which names them, trains the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.specs import LossInputs
from workbench.worker.process.lazy_keras import keras, tf

Weights = np.ndarray[Any, np.dtype[np.float32]]


def class_weights(recipe: TrainingRecipe, labels: Any, num_classes: int) -> Weights | None:
    """What an image of each class counts, float32 (classes,); None where all count alike.

    Balanced: images / (classes * images of the class), so that the mean over all training
    images is 1 and every class weighs the same in all. A class without images counts 0.
    The labels are those of the training images, int (count,).
    """
    if recipe.class_weights == "none":
        return None
    counts = np.bincount(np.asarray(labels), minlength=num_classes)
    num_seen = np.count_nonzero(counts)
    weights = np.where(counts > 0, len(labels) / (num_seen * np.maximum(counts, 1)), 0.0)
    return weights.astype(np.float32)


@dataclass(frozen=True)
class Objective:
    """The losses of one recipe; `is_logits` where the network ends without softmax."""

    recipe: TrainingRecipe
    is_logits: bool
    class_weights: Weights | None = None

    def training(self, labels: Any, outputs: Any) -> Any:
        """The loss of each image as it is trained, float32 (batch,); from classes, int (batch,),
        or shares of them, float (batch, classes), and the network's outputs (batch, classes).
        """
        losses = self._losses(labels, outputs, self.recipe.label_smoothing)
        if self.class_weights is None:
            return losses
        return losses * self._weights_of(labels)

    def evaluation(self, labels: Any, outputs: Any) -> Any:
        """The loss of each image as it is validated: neither smoothed nor weighted, so that
        runs of different recipes can be compared.
        """
        return self._losses(labels, outputs, 0.0)

    def _losses(self, labels: Any, outputs: Any, smoothing: float) -> Any:
        spec, compute = self.recipe.loss_spec, self.recipe.loss_spec.compute
        is_soft = len(labels.shape) == 2
        if spec.compute_sparse is not None and not smoothing and not is_soft:
            targets, compute = labels, spec.compute_sparse
        else:
            targets = labels if is_soft else tf.one_hot(labels, outputs.shape[-1])
        if smoothing:
            targets = targets * (1.0 - smoothing) + smoothing / outputs.shape[-1]
        inputs = LossInputs(tf, keras, targets, outputs, self.is_logits)
        return compute(inputs, self.recipe.values_of(spec))

    def _weights_of(self, labels: Any) -> Any:
        weights = tf.constant(self.class_weights)
        if len(labels.shape) == 2:
            return tf.linalg.matvec(labels, weights)
        return tf.gather(weights, labels)
