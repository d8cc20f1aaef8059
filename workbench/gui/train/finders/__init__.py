"""The learning-rate and batch-size finders.

A search is a request to the worker for long work, one at a time; its result is one undoable edit.
"""
