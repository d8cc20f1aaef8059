"""Live curves, and what plots are made of: axes, zoom, headers, figures as files. On pyqtgraph.

Plots of features begin with `PlotAxes` and `LiveCurve`. A few figures outside (the image map, the
class curves, parity) use pyqtgraph's items themselves.

A curve draws only what the pixels can show, from the lowest and highest values of ever larger
groups of points: a curve of any length takes a few thousand numbers, and no peak is lost.
"""
