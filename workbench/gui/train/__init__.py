"""The training view: runs, curves, recipe.

The view follows the library's current run through its event log, and no other way: a run that
another window or a command has started looks the same. Plots and exporting are used by the other
packages here and import none of them.
"""
