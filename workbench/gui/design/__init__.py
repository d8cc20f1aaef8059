"""The design view: palette, canvas, inspector.

The view builds its panels, the panels use gestures, and gestures use the canvas: imports go down
only. What the panels share is the view's state. Each gesture and each action is one step of undo.
"""
