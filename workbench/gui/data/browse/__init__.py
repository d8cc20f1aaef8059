"""All images of a data set, to look through: found, enlarged, left out, relabeled.

The list comes from the worker in pieces; the grid asks only for thumbnails that can be seen.
"""
