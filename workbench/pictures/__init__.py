"""The data pipeline before training: decoding, fitting, edits, parts, thumbnails.

- Training, thumbnails and classification decode and fit by the same functions, so that a network
  is given a picture exactly as in training. Their rules are in `portable`.
- `edited` alone applies a data set's edits, `divide` alone divides it into parts; `prepare` makes
  of both what training takes. Edits identify an image by its content (`contents_of`).
- `heat` has the colors of heat maps and feature maps, for window and terminal.

Pillow and NumPy only: no Qt, no TensorFlow.
"""
