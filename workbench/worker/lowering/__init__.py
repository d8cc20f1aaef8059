"""Lowering of a training step by XLA, in a child process with a deadline.

The network is not trusted: it may be too large for XLA or TensorFlow, or compile for hours. Nothing
is run, and no image is read. What is offered as a fix has been tried.
"""
