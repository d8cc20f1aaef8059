"""Checks of a computer or target before training relies on it: doctor, parity, first TPU run; and
of a project on its data and its target.

For the window's dialogs and the commands alike; Qt-free. TensorFlow is never imported here: what
needs it runs as a training or in a child process.
"""
