"""Live curves. The only package that imports pyqtgraph: the rest of the window sees
LivePlot and RunPlots, so the library can be changed in one place.
"""
