"""Will this project train on a chosen TPU? Checked without a TPU, at three levels: our own
rules, XLA's lowering, and the verdict of the real TPU compiler where that is installed.
"""
