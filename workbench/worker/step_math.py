"""What one step computes: forward, loss, gradients, update, and what is counted.

Runs on each replica within `strategy.run`; how many steps, and on which pictures, is the
loop's part.
"""

from __future__ import annotations

from typing import Any

from workbench.worker.build import BuiltModel


class StepMath:
    """The computations of one model's steps.

    Args:
        tf: TensorFlow.
        keras: Keras on it.
        strategy: Of `tf.distribute`; `built` and `optimizer` were made in its scope.
        built: The model; its pipeline layers run elsewhere.
        optimizer: Built for the model's variables.
        batch_size: Pictures a step, over all replicas together.
    """

    def __init__(
        self,
        tf: Any,
        keras: Any,
        strategy: Any,
        built: BuiltModel,
        optimizer: Any,
        *,
        batch_size: int,
    ) -> None:
        self._tf = tf
        self._keras = keras
        self._strategy = strategy
        self._model = built.model
        self._is_logits = built.is_logits
        self._optimizer = optimizer
        self._batch_size = batch_size
        self._dtype = self._input_type()

    def _input_type(self) -> str:
        # 0 to 255 is exact in bfloat16 too; what a pipeline made keeps its own precision.
        first = next((layer for layer in self._model.layers if layer.count_params()), None)
        return str(first.compute_dtype) if first is not None else "float32"

    def train(self, pictures: Any, labels: Any) -> tuple[Any, Any]:
        """One step of training on this replica's pictures; returns its loss and its hits."""
        tf = self._tf
        variables = self._model.trainable_variables
        with tf.GradientTape() as tape:
            outputs = self._model(tf.cast(pictures, self._dtype), training=True)
            # Divided by the batch of all replicas: the optimizer adds their gradients up.
            loss = tf.reduce_sum(self._losses(labels, outputs)) / self._batch_size
            loss += self._penalty()
        self._optimizer.apply(tape.gradient(loss, variables), variables)
        return loss, self._num_correct(labels, outputs)

    def _losses(self, labels: Any, outputs: Any) -> Any:
        """Cross-entropy of each picture, (batch,)."""
        return self._keras.losses.sparse_categorical_crossentropy(
            labels, outputs, from_logits=self._is_logits
        )

    def _penalty(self) -> Any:
        """This replica's share of the regularizers' penalties."""
        if not self._model.losses:
            return 0.0
        penalties = [self._tf.cast(loss, self._tf.float32) for loss in self._model.losses]
        return self._tf.add_n(penalties) / self._strategy.num_replicas_in_sync

    def _num_correct(self, labels: Any, outputs: Any, weights: Any = None) -> Any:
        tf = self._tf
        hits = tf.cast(tf.equal(tf.argmax(outputs, axis=-1), labels), tf.float32)
        return tf.reduce_sum(hits if weights is None else hits * weights)

    def evaluate(self, pictures: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
        """Sums over this replica's pictures: weighted losses, hits, weights."""
        tf = self._tf
        outputs = self._model(tf.cast(pictures, self._dtype), training=False)
        losses = tf.cast(self._losses(labels, outputs), tf.float32) + (
            self._penalty() * self._strategy.num_replicas_in_sync
        )
        hits = self._num_correct(labels, outputs, weights)
        return tf.reduce_sum(losses * weights), hits, tf.reduce_sum(weights)
