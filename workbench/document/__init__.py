"""The project being edited: undo, selection, analysis, file. QtCore and QtGui, no widgets.

The document holds the current project and an undo stack of before/after values with their
selections: an edit is never an inverse operation. Shapes, costs and problems are recomputed before
any signal is emitted, so that a slot finds them in step. `FixFinder` tries fixes in slices, a few
in each turn of the event loop. Folding a group is stored in the project, but is no step of undo
(`placement`). Files are written by a thread (`FileWriter`); a version of the file that another
program has written is never replaced without a question.
"""
