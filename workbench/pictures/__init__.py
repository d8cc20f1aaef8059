"""Pictures: decoding, fitting, thumbnails, and preparing a data set for training.

Training, thumbnails and classification all decode here and fit here, so that a network is
asked about a picture exactly as it was taught. Pillow and numpy only: no Qt, no TensorFlow.
"""

from __future__ import annotations

from workbench.pictures.decode import MAX_PIXELS, decode_picture
from workbench.pictures.fit import FITS, fit_picture
from workbench.pictures.folders import list_pictures
from workbench.pictures.png import png_bytes, write_png
from workbench.pictures.prepare import PreparedData, PreparedPart, prepare
from workbench.pictures.thumbnails import thumbnail, write_thumbnails

__all__ = [
    "FITS",
    "MAX_PIXELS",
    "PreparedData",
    "PreparedPart",
    "decode_picture",
    "fit_picture",
    "list_pictures",
    "png_bytes",
    "prepare",
    "thumbnail",
    "write_png",
    "write_thumbnails",
]
