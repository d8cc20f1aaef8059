"""Figures of the trainings of a sweep: what values of settings came to."""
