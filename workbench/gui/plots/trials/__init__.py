"""Figures of the trainings of a sweep: what values of settings came to.

Parallel coordinates and a scatter plot, which share colors, scales and the training under the
mouse.
"""
