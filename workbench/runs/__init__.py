"""A run on disk: request, event log, control, lock, weights. No Qt, no TensorFlow: the window
and the command line use the same code, and a run is followed the same way in both.
"""
