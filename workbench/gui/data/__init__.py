"""The data view: source, classes, split.

What its panels share is `DataState`: the contents of the chosen source, as the worker describes
them. Choosing, relabeling, leaving out and renaming are edits of the document; no file of the user
is changed.
"""
