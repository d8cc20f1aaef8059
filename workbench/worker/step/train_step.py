"""What one step computes: forward, loss, gradients, update, and what is counted.

Runs on each replica within `strategy.run`; how many steps, and on which images, is the
loop's part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.core.training.recipe import TrainingRecipe
from workbench.runs.log.confusion_history import MAX_CLASSES
from workbench.worker.model.build import BuiltModel
from workbench.worker.model.hidden_outputs import flat_hidden, with_hidden
from workbench.worker.model.synced_batch_norm import average_over_replicas, drifting_statistics
from workbench.worker.process.lazy_keras import keras, tf
from workbench.worker.step.losses import Objective, Weights


@dataclass(eq=False)
class StepMath:
    """The computations of one model's steps.

    Attributes:
        strategy: The `tf.distribute` strategy; `built` and `optimizer` were made in its scope.
        built: The model; its pipeline layers run elsewhere.
        optimizer: From `make_optimizer`, built for the model's variables.
        batch_size: Images per step, over all replicas together.
        recipe: Loss, smoothing, clipping, and what is counted.
        class_weights: What an image of each class counts in training, or None.
        objective: The loss of each image.
    """

    strategy: Any
    built: BuiltModel
    optimizer: Any
    batch_size: int
    recipe: TrainingRecipe
    class_weights: Weights | None = None

    def __post_init__(self) -> None:
        built = self.built
        self._model = built.model
        self.objective = Objective(self.recipe, built.is_logits, self.class_weights)
        self._num_classes = int(built.model.output_shape[-1])
        # 0 to 255 is exact in bfloat16 too; what a pipeline made keeps its own precision.
        self._dtype = built.input_dtype
        self.replicas = int(self.strategy.num_replicas_in_sync)
        self._drifting = drifting_statistics(built.model) if self.replicas > 1 else []

    # training --------------------------------------------------------------------------

    def train(self, pictures: Any, labels: Any, rate: Any = None) -> tuple[Any, Any]:
        """One step of training on this replica's images; returns its loss and its hits.

        Images are (batch, h, w, c), labels as for `Objective.training`; the learning rate of
        this step is float32 (), None for the optimizer's own.
        """
        variables = self._model.trainable_variables
        with tf.GradientTape() as tape:
            outputs = self._model(tf.cast(pictures, self._dtype), training=True)
            # Divided by the batch of all replicas: the optimizer adds their gradients up.
            loss = tf.reduce_sum(self.objective.training(labels, outputs)) / self.batch_size
            loss += self._penalty()
        self._update(self._clipped(tape.gradient(loss, variables)), variables, rate)
        average_over_replicas(self._drifting)
        return loss, self._num_correct(labels, outputs)

    def _update(self, gradients: list[Any], variables: list[Any], rate: Any) -> None:
        optimizer = self.optimizer
        if rate is None:
            optimizer.apply(gradients, variables)
            return
        # A value that flows in with the call, not a variable: nothing to assign each step,
        # and nothing that a checkpoint would have to hold.
        own = optimizer.learning_rate
        optimizer.learning_rate = lambda: rate
        optimizer.apply(gradients, variables)
        optimizer.learning_rate = lambda: own

    def _clipped(self, gradients: list[Any]) -> list[Any]:
        """Shortens the gradient of the whole batch where it is too long."""
        if self.recipe.clip_norm is None:
            return gradients
        replicas = self.replicas
        if replicas > 1:  # each replica has the gradient of its part only
            context = tf.distribute.get_replica_context()
            gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
        clipped, _ = tf.clip_by_global_norm(gradients, self.recipe.clip_norm)
        # The optimizer adds up what the replicas bring.
        return list(clipped) if replicas == 1 else [part / replicas for part in clipped]

    def _penalty(self) -> Any:
        """This replica's share of the regularizers' penalties."""
        if not self._model.losses:
            return 0.0
        penalties = [tf.cast(loss, tf.float32) for loss in self._model.losses]
        return tf.add_n(penalties) / self.replicas

    def _num_correct(self, labels: Any, outputs: Any, weights: Any = None) -> Any:
        if len(labels.shape) == 2:  # of a mixture, the class with the largest share
            labels = tf.argmax(labels, axis=-1)
        hits = tf.cast(tf.equal(tf.argmax(outputs, axis=-1), labels), tf.float32)
        return tf.reduce_sum(hits if weights is None else hits * weights)

    # evaluation ------------------------------------------------------------------------

    @property
    def has_confusion(self) -> bool:
        """Whether `evaluate` counts which class was taken for which."""
        return self._num_classes <= MAX_CLASSES

    def evaluation_zeros(self) -> list[Any]:
        """Initial sums of `evaluate`: float64 () each, then int64 (classes²,)."""
        zeros = [tf.constant(0.0, tf.float64)] * 4
        if self.has_confusion:
            zeros.append(tf.zeros((self._num_classes**2,), tf.int64))
        return zeros

    def evaluate(self, pictures: Any, labels: Any, weights: Any) -> tuple[Any, ...]:
        """Sums over this replica's images: weighted losses, hits, weights, hits among the
        `top_k` likeliest, and, with `has_confusion`, how often class i was taken for j at
        i * classes + j.
        """
        outputs = self._model(tf.cast(pictures, self._dtype), training=False)
        losses = tf.cast(self.objective.evaluation(labels, outputs), tf.float32) + (
            self._penalty() * self.replicas
        )
        hits = self._num_correct(labels, outputs, weights)
        sums = (tf.reduce_sum(losses * weights), hits, tf.reduce_sum(weights))
        top_k = hits if self.recipe.top_k == 1 else self._top_k(labels, outputs, weights)
        return (*sums, top_k, *self._confusion(labels, outputs, weights))

    def answering(self, hidden: str | None) -> Callable[..., tuple[Any, ...]]:
        """A function of this replica's images, labels and weights: class probabilities, outputs of
        the node `hidden` (no columns without one), cross-entropy, and loss as `evaluate` adds it
        up.
        """
        model = self._model if hidden is None else with_hidden(self.built, hidden)

        def answer(pictures: Any, labels: Any, _weights: Any) -> tuple[Any, ...]:
            found = model(tf.cast(pictures, self._dtype), training=False)
            raw, inner = (found, found[:, :0]) if hidden is None else found
            own = tf.cast(self.objective.evaluation(labels, raw), tf.float32)
            outputs, is_logits = tf.cast(raw, tf.float32), self.built.is_logits
            losses = keras.losses.sparse_categorical_crossentropy(
                labels, outputs, from_logits=is_logits
            )
            probabilities = tf.nn.softmax(outputs) if is_logits else outputs
            own += self._penalty() * self.replicas
            return probabilities, flat_hidden(inner), losses, own

        return answer

    def _top_k(self, labels: Any, outputs: Any, weights: Any) -> Any:
        k = min(self.recipe.top_k, self._num_classes)
        hits = tf.math.in_top_k(labels, tf.cast(outputs, tf.float32), k)
        return tf.reduce_sum(tf.cast(hits, tf.float32) * weights)

    def _confusion(self, labels: Any, outputs: Any, weights: Any) -> tuple[Any, ...]:
        if not self.has_confusion:
            return ()
        classes = self._num_classes
        cells = tf.cast(labels, tf.int64) * classes + tf.argmax(outputs, axis=-1)
        counts = tf.cast(weights, tf.int32)  # the filling of the last batch counts nothing
        return (tf.math.unsorted_segment_sum(counts, cells, classes**2),)
