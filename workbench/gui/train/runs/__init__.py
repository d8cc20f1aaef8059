"""The list of runs and what can be done with them.

A run that cannot be read has a line in the list, with the reason.
"""
