"""Live curves. The only package that imports pyqtgraph: the rest of the window sees
LivePlot and PlotPair, so the library can be changed in one place.
"""
