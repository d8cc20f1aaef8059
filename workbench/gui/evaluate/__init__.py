"""The evaluate view: confusion matrix, scores per class, calibration, images, slices, robustness.

What its panels share is the evaluation that is shown, in the view's state; panels never import the
view. Results are kept with the run (`workbench.runs.store`), so they are there again without being
computed. Relabeling and tags are edits of the open project.
"""
