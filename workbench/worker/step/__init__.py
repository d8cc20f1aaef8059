"""One training step and the loop that runs it: loss, optimizer, evaluation.

Everything goes through `tf.distribute`, so that a target with eight replicas runs the same code as
one processor. Each batch is a function of (seed, step) alone: a resumed run equals an uninterrupted
one bit for bit, or `RunStarted.bit_exact` lists the reasons why not.

For the training coach, layers are measured at the end of epochs (`LayerWatch`) in a hundredth of
the time, without changing a bit of the training.
"""
