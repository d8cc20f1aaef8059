"""Why a picture got its class: a heat map over it, and the check of the map.

The maps are made by the worker (`workbench.worker.explain`) and colored by the functions that the
terminal uses too (`heat_colors`).
"""
