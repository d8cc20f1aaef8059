"""Checks of a computer or target before training relies on it: doctor, parity, first TPU run; and
of a project on its data and its target.
"""
