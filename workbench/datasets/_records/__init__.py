"""TFRecord files: frames, examples, and which of their features are images and labels.

Own code, with bounds, instead of TensorFlow's: a length that a file only claims crashes that.
"""
