"""Will this project train on a chosen TPU? Checked without a TPU, at three levels: our own
rules, XLA's lowering, and the verdict of the real TPU compiler where that is installed.

Lowering and compiling run in child processes with a deadline: a network may be too large for XLA,
or compile for hours. Each level reports its findings at once.
"""
