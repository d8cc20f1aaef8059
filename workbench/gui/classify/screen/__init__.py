"""A region of the screen, dragged on a still image of it.

The image becomes a file, as all pictures do before they are sent to the worker.
"""
