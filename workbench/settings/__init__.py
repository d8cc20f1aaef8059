"""Typed settings and where they are kept.

A setting is a file in `options`. Reading never fails: what is wrong in the file is reported, and
the default is used.
"""
