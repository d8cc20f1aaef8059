"""Live curves. The only package that imports pyqtgraph: the rest of the window sees
LivePlot and RunPlots, so the library can be changed in one place.

A curve draws only what the pixels can show, from the lowest and highest values of ever larger
groups of points: a curve of any length takes a few thousand numbers, and no peak is lost.
"""
