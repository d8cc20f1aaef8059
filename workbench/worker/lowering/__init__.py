"""Lowering of a training step by XLA, in a child process with a deadline."""
