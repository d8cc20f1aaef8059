"""The Augmentation dialog: the augmentation layers in order, and what they make of images.

A dialog beside the window, opened from the design view, from the data view and from the menu. Every
edit is one of the document. The previews come from the service worker, made by the function that
makes the batches of training (`training_pipeline`).
"""
