"""The one analysis of a project: shapes, costs, problems and their fixes.

`analyse` is the only source of these, for window, command line and trainer. A fix is applied to the
value and checked before it is offered (`Trial`); one try is a whole check, so the window makes
a few in each turn of its event loop (`FixFinder` of `workbench.document`).

`input_shape` alone decides which shape the Input layer should have: when one is added, in
generated projects, and in the check that warns where color or detail is lost. `frozen_end` finds
the frozen part of a network: the layers whose outputs depend on the image alone, so that they can
be computed once.
"""
