"""Checkpoints of a training: taking, writing and restoring its state."""
