"""The ways to fit a picture into other proportions. Apart from fit.py, which needs Pillow:
forms only show them.
"""

from __future__ import annotations

FITS: dict[str, str] = {
    "crop": "the largest centred part of the right proportions",
    "stretch": "the whole picture, its proportions changed",
    "pad": "the whole picture, with black beside or above it",
}
"""Ways to fit a picture into other proportions: key -> words."""
