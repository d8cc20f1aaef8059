"""Deletes iterators of a data set again and again while they fetch; prints as JSON how many rows the
first replica has had, of 8 in a batch, and whether `tf.distribute` had made the iterators.

A process of its own: deleting the latter has ended processes with SIGSEGV.

    python iterators_script.py REPLICAS TIMES
"""

from __future__ import annotations

import json
import sys

import tensorflow as tf

from workbench.targets import all_targets
from workbench.worker.input.pipeline import WHOLE, iterate, next_batch


def main() -> None:
    """Takes one to five batches of each and leaves the rest."""
    replicas, times = (int(word) for word in sys.argv[1:])
    key, params = (
        ("virtual", {"replicas": replicas, "like_tpu": False})
        if replicas > 1
        else ("this_computer", {})
    )
    strategy = all_targets()[key].connect(tf, params)
    element = tf.zeros((8, 4)), tf.constant(1, tf.int64, (8,))
    batches = tf.data.Dataset.from_tensors(element).repeat().prefetch(2)

    @tf.function(autograph=False)
    def take(iterator, count):
        def body(number, total):
            part = strategy.experimental_local_results(next_batch(strategy, iterator, WHOLE)[1])[0]
            return number + 1, total + tf.reduce_sum(part)

        start = [tf.constant(0), tf.constant(0, tf.int64)]
        return tf.while_loop(lambda number, _: number < count, body, start)[1]

    rows, is_distributed = 0, False
    for number in range(times):
        iterator = iterate(strategy, batches, WHOLE)
        is_distributed |= isinstance(iterator, tf.distribute.DistributedIterator)
        rows += int(take(iterator, tf.constant(1 + number % 5)))
        del iterator
    print(json.dumps({"rows": rows, "is_distributed": is_distributed}))


if __name__ == "__main__":
    main()
