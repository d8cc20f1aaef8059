"""The map of a run's images: its points, how they are drawn and picked, and the panel.

The window reads the map from the run folder in a thread; the features behind it are for the worker
alone. Which points lie within a lasso is computed in `workbench.core.image_map`.
"""
