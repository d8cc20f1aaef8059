"""What one step computes: forward, loss, gradients, update, and what is counted.

Runs on each replica within `strategy.run`; how many steps, and on which images, is the
loop's part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.training.optimizers import NOT_DECAYED
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.specs import LossInputs
from workbench.runs.log.confusion_history import MAX_CLASSES
from workbench.worker.model.build import BuiltModel
from workbench.worker.model.fast_layers import average_over_replicas, drifting_statistics
from workbench.worker.model.inference_form import flat_hidden, with_hidden
from workbench.worker.process.lazy_keras import keras, tf

# losses --------------------------------------------------------------------------------------
# The training loss of each image, in float32.
#
# Made of Keras's own functions, so that the exported script, which names them, trains the same.

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


# optimizers ----------------------------------------------------------------------------------
# The optimizer of a recipe, and the moving average of the weights that it may keep.


def make_optimizer(recipe: TrainingRecipe) -> Any:
    """The recipe's optimizer; call within the strategy's scope, then build it.

    Its learning rate is a function, not a variable: each step is given its own (see
    `StepMath.train`), and without one it is the recipe's.
    """
    rate = recipe.peak_rate
    kind = recipe.optimizer_spec.keras_class(keras)
    optimizer = kind(learning_rate=lambda: rate, **recipe.optimizer_arguments())
    if not recipe.decay_biases:
        optimizer.exclude_from_weight_decay(var_names=list(NOT_DECAYED))
    return optimizer


class Averaging:
    """Swaps a model's weights with their averages, and back.

    Keras's optimizer keeps the averages (`use_ema`), so they are among its variables, and a
    checkpoint of those has them. Statistics of normalizations are no weights and stay. Model
    and optimizer, built for its trainable variables, were made in the strategy's scope.
    """

    def __init__(self, strategy: Any, model: Any, optimizer: Any) -> None:
        self._strategy = strategy
        self._optimizer = optimizer
        self._pairs: list[tuple[Any, Any]] = []
        if optimizer.use_ema:
            averages = optimizer._model_variables_moving_average  # noqa: SLF001 - no public way
            variables = model.trainable_variables
            self._pairs = [
                pair for pair in zip(variables, averages, strict=True) if pair[1] is not None
            ]

    @property
    def is_on(self) -> bool:
        """Whether averages are kept at all."""
        return bool(self._pairs)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Within it the model has the averages for its weights; the weights come back exactly.

        Does nothing where no averages are kept, or before the first step made any.
        """
        if not self._pairs or int(self._optimizer.iterations.numpy()) == 0:
            yield
            return
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        with self._strategy.scope():
            for variable, average in self._pairs:
                kept = variable.numpy()
                variable.assign(average.numpy())
                average.assign(kept)


# train step ----------------------------------------------------------------------------------


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
