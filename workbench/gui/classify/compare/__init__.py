"""A second network's answers to the same pictures, beside those of the first.

Class names of the two may differ; whether two answers agree is decided here, Qt-free.
"""
