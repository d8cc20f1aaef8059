"""The training view: runs, curves, recipe."""
