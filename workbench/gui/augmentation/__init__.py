"""Augmentation, seen: its layers in order, and what they make of the project's own images.

A dialog beside the window, opened from the design view, from the data view and from the menu. Every
edit is one of the document; the images come from the service worker, from the function that makes
the batches of training.
"""
