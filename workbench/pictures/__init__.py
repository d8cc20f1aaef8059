"""Pictures: decoding, fitting, thumbnails, and preparing a data set for training.

Training, thumbnails and classification all decode here and fit here, so that a network is
asked about a picture exactly as it was taught. Pillow and numpy only: no Qt, no TensorFlow.
A data set is made ready for training by `workbench.pictures.prepare.prepare`.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.pictures.decode import MAX_PIXELS, decode_picture, decode_reduced
    from workbench.pictures.fit import fit_picture, side_to_decode
    from workbench.pictures.fits import FITS
    from workbench.pictures.folders import list_pictures
    from workbench.pictures.png import png_bytes, write_png
    from workbench.pictures.thumbnails import thumbnail, write_thumbnails

_PLACES = {
    "MAX_PIXELS": "decode",
    "decode_picture": "decode",
    "decode_reduced": "decode",
    "fit_picture": "fit",
    "side_to_decode": "fit",
    "FITS": "fits",
    "list_pictures": "folders",
    "png_bytes": "png",
    "write_png": "png",
    "thumbnail": "thumbnails",
    "write_thumbnails": "thumbnails",
}
"""Name -> module. Imported when first asked for: the window reads the data sets' SPECs from
beside these, and would wait for Pillow, which it does not use."""

__all__ = [
    "FITS",
    "MAX_PIXELS",
    "decode_picture",
    "decode_reduced",
    "fit_picture",
    "list_pictures",
    "png_bytes",
    "side_to_decode",
    "thumbnail",
    "write_png",
    "write_thumbnails",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"workbench.pictures has no {name}")
    return getattr(importlib.import_module(f"workbench.pictures.{_PLACES[name]}"), name)
