"""Live curves of runs.

All plots are drawn from the histories of runs by one timer, as often as the eye gains something.
"""
