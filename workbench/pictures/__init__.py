"""Pictures: decoding, fitting, thumbnails, and preparing a data set for training.

Training, thumbnails and classification all decode here and fit here, so that a network is
given a picture exactly as in training. Pillow and numpy only: no Qt, no TensorFlow.
A data set is made ready for training by `workbench.pictures.prepare.prepare`.
"""
