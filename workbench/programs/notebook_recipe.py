"""The training of a program for notebook services: the recipe in a loop of its own.

The loop is written out, as Keras's `fit` cannot run many steps in one call on several cores.
What the recipe does not ask for is not in the text.
"""

from __future__ import annotations

from workbench.core.training.recipe import TrainingRecipe
from workbench.programs.code import call, literal
from workbench.programs.training import TrainingText

_TRAIN_STEP = '''def train_step(x, y, weights):
    """One step on this core's images: its part of the loss, and the number of correct ones."""
    variables = network.trainable_variables
    with tf.GradientTape() as tape:
        outputs = network(x, training=True)
        loss = tf.reduce_sum(loss_of(y, outputs) * weights) / BATCH_SIZE
        loss += penalty() / CORES
    gradients = tape.gradient(loss, variables)
{clip}    optimizer.apply(gradients, variables)  # adds up the gradients of all cores
    is_right = tf.argmax(outputs, axis=-1) == {labels}
    return loss, tf.reduce_sum(tf.cast(is_right, tf.float32))


@tf.function
def train_steps(count):
    """Many steps in one call: loss and accuracy of each batch."""
    losses = tf.TensorArray(tf.float32, size=count)
    accuracies = tf.TensorArray(tf.float32, size=count)
    for step in tf.range(count):
        loss, num_right = strategy.run(train_step, args=next(batches))
        num_right = strategy.reduce("SUM", num_right, axis=None)
        losses = losses.write(step, strategy.reduce("SUM", loss, axis=None))
        accuracies = accuracies.write(step, num_right / BATCH_SIZE)
    return losses.stack(), accuracies.stack()


def score_step(x, y, weights):
    """Sums over this core's images; the padding of the last batch has weight 0."""
    outputs = network(x, training=False)
    losses = loss_of({targets}, outputs) + penalty()
    is_right = tf.cast(tf.argmax(outputs, axis=-1) == y, tf.float32)
{top_k}    values = {values}
    return [tf.reduce_sum(one * weights) for one in values]


@tf.function
def score_batch(x, y, weights):
    """The sums over the images of all cores."""
    sums = strategy.run(score_step, args=(x, y, weights))
    return [strategy.reduce("SUM", one, axis=None) for one in sums]


def score(data, start=""):
    """Loss and accuracy over all images of `data`, by names that begin with `start`."""
    rows = [[float(one) for one in score_batch(*batch)] for batch in data]
    *sums, count = np.sum(rows, axis=0)
    names = {names}
    return {{name: float(total / count) for name, total in zip(names, sums)}}
'''

_CLIP = """    gradients = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
    gradients, _ = tf.clip_by_global_norm(gradients, {norm})
    gradients = [gradient / CORES for gradient in gradients]
"""

_PENALTY = '''def penalty():
    """The regularization losses of the layers."""
    return sum(tf.cast(one, tf.float32) for one in network.losses)


'''

_SWAP = '''def swap_averages():
    """Swaps the weights with their moving averages, and back."""
    averages = optimizer._model_variables_moving_average
    with strategy.scope():
        for variable, average in zip(network.trainable_variables, averages):
            kept = variable.numpy()
            variable.assign(average.numpy())
            average.assign(kept)


'''

_EPOCH = """history = {"losses": [], "accuracies": [], "epochs": []}
started = time.perf_counter()
for epoch in range(1, EPOCHS + 1):
    began = time.perf_counter()
    for first in range(0, STEPS, STEPS_PER_CALL):
        losses, accuracies = train_steps(tf.constant(min(STEPS_PER_CALL, STEPS - first)))
        history["losses"] += losses.numpy().tolist()
        history["accuracies"] += accuracies.numpy().tolist()
    entry = {
        "epoch": epoch,
        "step": epoch * STEPS,
        "loss": float(np.mean(history["losses"][-STEPS:])),
        "accuracy": float(np.mean(history["accuracies"][-STEPS:])),
        "learning_rate": float(optimizer.learning_rate.numpy()),
        "images_per_second": STEPS * BATCH_SIZE / (time.perf_counter() - began),
    }
"""


class LoopText:
    """Writes what depends on one recipe.

    Args:
        recipe: The recipe.
        is_logits: The network ends without softmax.
        has_front: Some layers run where the batches are made.
        has_penalty: Some layer adds to the loss.
    """

    def __init__(
        self, recipe: TrainingRecipe, *, is_logits: bool, has_front: bool, has_penalty: bool
    ) -> None:
        self._recipe = recipe
        self._text = TrainingText(recipe, is_logits=is_logits, has_own_loop=True)
        self._has_front = has_front
        self._has_penalty = has_penalty

    @property
    def _is_validated(self) -> bool:
        return self._recipe.validation != "none"

    # batches ----------------------------------------------------------------------------

    def make_batch(self) -> str:
        """The functions that make a batch out of raw images and labels."""
        recipe, made, lines = self._recipe, [], ["    x = tf.cast(x, tf.float32)"]
        seed = f"seed={recipe.seed}"
        if recipe.random_erasing:
            share = literal(recipe.random_erasing)
            words = [f"({share}, {share})", "fill_value=127.5", seed]
            made.append(call("erase = layers.RandomErasing", words))
            lines.append("    x = erase(x)")
        if self._has_front:
            lines.append("    x = front(x, training=True)")
        if self._text.is_one_hot:
            lines.append("    y = tf.one_hot(y, NUM_CLASSES)")
        if recipe.mixing != "none":
            made += self._mixer(seed)
            lines.append('    both = mix({"images": x, "labels": y})')
            lines.append('    x, y = both["images"], both["labels"]')
        lines.append(f"    weights = {self._weights()}")
        if recipe.label_smoothing:
            kept, spread = literal(1 - recipe.label_smoothing), literal(recipe.label_smoothing)
            lines.append(f"    y = {kept} * y + {spread} / NUM_CLASSES  # label smoothing")
        head = "".join(f"{line}\n" for line in (*self._class_weights(), *made))
        unchanged = "    x = tf.cast(x, tf.float32)\n"
        unchanged += f"    return {'front(x, training=False)' if self._has_front else 'x'}\n"
        gap = "\n\n" if head else ""
        return (
            f"{head}{gap}"
            "def make_batch(x, y):\n"
            '    """What one step trains on: images, targets and sample weights."""\n'
            + "\n".join(lines)
            + "\n    return x, y, weights\n\n\n"
            "def unchanged(x):\n"
            '    """Images for evaluation: no random changes."""\n' + unchanged
        )

    def _mixer(self, seed: str) -> list[str]:
        recipe = self._recipe
        if recipe.mixing == "mixup":
            return [call("mix = layers.MixUp", [literal(recipe.mixing_alpha), seed])]
        lines = [call("mix = layers.CutMix", [seed])]
        if recipe.mixing_alpha != 1.0:
            alpha = literal(recipe.mixing_alpha)
            lines.insert(
                0, f"# Keras cuts any share alike; the training settings have alpha = {alpha}."
            )
        return lines

    def _class_weights(self) -> list[str]:
        if self._recipe.class_weights != "balanced":
            return []
        return [
            "# All classes have the same total weight.",
            "counts = np.bincount(y_train, minlength=NUM_CLASSES)",
            "balanced = len(y_train) / (np.count_nonzero(counts) * np.maximum(counts, 1))",
            "balanced = (balanced * (counts > 0)).astype(np.float32)",
        ]

    def _weights(self) -> str:
        if self._recipe.class_weights != "balanced":
            return "tf.ones(BATCH_SIZE)"
        if self._text.is_one_hot:
            return "tf.linalg.matvec(y, balanced)"
        return "tf.gather(balanced, y)"

    # steps ------------------------------------------------------------------------------

    def optimizer(self) -> str:
        """The classes it needs, and the function that makes it."""
        helpers = self._text.helpers().lstrip()
        gap = "\n\n" if helpers else ""
        return (
            f"{helpers}{gap}"
            "def make_optimizer(steps):\n"
            '    """The optimizer, for this number of steps per epoch."""\n'
            f"{self._text.optimizer()}\n"
            "    return optimizer\n"
        )

    def loss(self) -> str:
        """The line that names the loss of each picture."""
        code = self._text.loss_code
        if code.definition:
            return f"loss_of = {code.name}\n"
        words = [*code.arguments, "reduction=None"]
        return call(f"loss_of = keras.losses.{code.name}", words) + "\n"

    def steps(self) -> str:
        """The functions of training and scoring."""
        recipe, text = self._recipe, _TRAIN_STEP
        if not self._has_penalty:
            text = text.replace("        loss += penalty() / CORES\n", "")
            text = text.replace(" + penalty()", "")
        is_one_hot = self._text.is_one_hot
        values, names, top_k = "losses, is_right", '"loss", start + "accuracy"', ""
        if recipe.top_k > 1:
            top_k = (
                f"    is_near = tf.math.in_top_k(y, tf.cast(outputs, tf.float32), {recipe.top_k})\n"
            )
            top_k += "    is_near = tf.cast(is_near, tf.float32)\n"
            values, names = f"{values}, is_near", f'{names}, "top_k_accuracy"'
        clip = "" if recipe.clip_norm is None else _CLIP.format(norm=literal(recipe.clip_norm))
        head = _PENALTY if self._has_penalty else ""
        head += _SWAP if recipe.ema_decay is not None else ""
        return head + text.format(
            clip=clip,
            labels="tf.argmax(y, axis=-1)" if is_one_hot else "y",
            targets="tf.one_hot(y, NUM_CLASSES)" if is_one_hot else "y",
            top_k=top_k,
            values=f"({values}, tf.ones_like(losses))",
            names=f"(start + {names})",
        )

    # the loop ---------------------------------------------------------------------------

    def loop(self) -> str:
        """The epochs, the best of them, and the test."""
        recipe, lines = self._recipe, []
        averages = recipe.ema_decay is not None
        if averages:
            lines.append("swap_averages()")
        if self._is_validated:
            lines.append('entry |= score(validation_batches, "val_")')
        lines += [
            'entry["seconds"] = time.perf_counter() - began',
            'history["epochs"].append(entry)',
            'print(" · ".join(f"{key} {value:.5g}" for key, value in entry.items()))',
            *self._best(),
        ]
        if averages:
            lines.append("swap_averages()")
        lines += [
            'if not np.isfinite(entry["loss"]):',
            '    print("The loss is NaN: try a lower learning rate.")',
            "    break",
            *self._endings(),
        ]
        start = "best_epoch, best_score = 0, (-np.inf, -np.inf)\n"
        start += "best_weights = None\n" if recipe.keep == "best" else ""
        start += "last_fall = 0\n" if recipe.schedule_spec.follows_metric else ""
        body = "".join(f"    {line}\n" for line in lines)
        return f"{start}{_EPOCH}{body}{self._end()}"

    def _best(self) -> list[str]:
        """Notes whether this epoch is the best: by the recipe's value, of equals by the loss."""
        value, loss = self._values()
        lines = [
            f"epoch_score = ({value}, {loss})",
            "if np.isfinite(epoch_score).all() and epoch_score > best_score:",
            "    best_epoch, best_score = epoch, epoch_score",
        ]
        if self._recipe.keep == "best":
            lines.append("    best_weights = model.get_weights()")
        return lines

    def _values(self) -> tuple[str, str]:
        recipe, start = self._recipe, "val_" if self._is_validated else ""
        loss = f'-entry["{start}loss"]'
        if recipe.keep_by == "loss":
            return '-entry["loss"]', loss
        if recipe.keep_by == "val_loss":
            return loss, loss
        has_top_k = recipe.keep_by == "top_k" and recipe.top_k > 1 and self._is_validated
        name = "top_k_accuracy" if has_top_k else f"{start}accuracy"
        return f'entry["{name}"]', loss

    def _endings(self) -> list[str]:
        recipe, lines = self._recipe, []
        if recipe.schedule_spec.follows_metric:
            lines += [
                f"if epoch - max(best_epoch, last_fall) >= {recipe.plateau_patience}:",
                "    last_fall = epoch",
                "    with strategy.scope():",
                f"        optimizer.learning_rate *= {literal(recipe.decay_factor)}",
            ]
        if recipe.early_stopping_patience is not None:
            lines += [
                f"if epoch - best_epoch >= {recipe.early_stopping_patience}:",
                '    print(f"Early stopping: epoch {best_epoch} is the best.")',
                "    break",
            ]
        return lines

    def _end(self) -> str:
        recipe, text = self._recipe, "seconds = time.perf_counter() - started\n"
        if recipe.keep == "best":
            text += "if best_weights is not None:\n    with strategy.scope():\n"
            text += "        model.set_weights(best_weights)\n"
        elif recipe.ema_decay is not None:
            text += "swap_averages()\n"
        text += 'history["test"] = score(test_batches) | {"count": len(x_test)}\n'
        return text + 'print("test:", history["test"])\n'
