"""The parameter of all sources that says which number of an image is black and which is white."""

from __future__ import annotations

from workbench.core.params import TextParam
from workbench.pictures.portable.ranges import AUTO

_NUMBER = r"-?\d+(\.\d+)?(e[+-]?\d+)?"
_PATTERN = f"auto|each|min-max|{_NUMBER}-{_NUMBER}"
_ALLOWED = "auto, each, or the numbers of black and white such as 0-255, 0-4095 or -1-1"

RANGE = TextParam(
    "range",
    AUTO,
    "Which number is black and which is white, for images of more than 8 bits: auto finds it for "
    "all images together; each stretches every image for itself; 0-4095 is black and white.",
    title="Value range",
    pattern=_PATTERN,
    allowed=_ALLOWED,
    is_advanced=True,
)
"""For images in files."""

ARRAY_RANGE = TextParam(
    "range",
    AUTO,
    "Which number is black and which is white: auto finds it for each array; min-max takes its "
    "least and its greatest; each stretches every image for itself; 0-255 is black and white.",
    title="Value range",
    pattern=_PATTERN,
    allowed=f"{_ALLOWED}; or min-max",
    is_advanced=True,
)
"""For images in arrays."""
