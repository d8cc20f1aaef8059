"""Making another computer ready: environment, code and data sets.

Each is identified by its sha256 and sent once. Each step may be repeated at any time: what is there
is found by its content, what was cut off goes on where it stopped.
"""
