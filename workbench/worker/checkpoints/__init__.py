"""Checkpoints of a training: taking, writing and restoring its state.

- The state is the `tf.Variable`s of `Compiled.state_variables()` and the plain values of
  `TrainerState`, no more. Frozen pretrained weights are not in it; a resumed run compares them with
  a checksum (`TrainerState.given`).
- Two generations are kept, written by a thread (`CheckpointWriter`), never ahead of the event log:
  each epoch where that is cheap, at least every 25th part of the epochs.
- A full disk stops neither log nor training. At the end, checkpoints give way to the weights, or
  these wait in memory until there is room (`write_weights`).
"""
