"""The ways to fit a picture into other proportions. Apart from fit.py, which needs Pillow:
forms only show them.
"""

from __future__ import annotations

FITS: dict[str, str] = {
    "crop": "the largest centered part with the right proportions",
    "stretch": "the whole image, distorted",
    "pad": "the whole image, with black borders",
}
"""Ways to fit a picture into other proportions: key -> words."""
