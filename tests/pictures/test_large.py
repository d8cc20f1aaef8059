"""Photos of today's telephones, and files that only say that they are so large."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from workbench.errors import PictureError
from workbench.pictures.thumbnails import MAX_PIXELS, decode_picture, decode_reduced

CORNERS = ((230, 20, 30), (20, 210, 40), (30, 40, 220), (240, 230, 90))


def photo(width, height, **options):
    """A JPEG file whose quarters have four colors, as small in memory as it can be made."""
    image = Image.new("RGB", (width, height))
    half = (width // 2, height // 2)
    for number, color in enumerate(CORNERS):
        left, top = (number % 2) * half[0], (number // 2) * half[1]
        image.paste(color, (left, top, left + half[0], top + half[1]))
    file = io.BytesIO()
    image.save(file, "JPEG", quality=85, **options)
    return file.getvalue()


def quarters(pixels):
    height, width = pixels.shape[:2]
    places = [(height // 4, width // 4), (height // 4, 3 * width // 4)]
    places += [(3 * height // 4, width // 4), (3 * height // 4, 3 * width // 4)]
    return [pixels[place].astype(int) for place in places]


@pytest.mark.parametrize(
    ("width", "height", "options"),
    [
        (12_000, 9_000, {}),
        (12_000, 9_000, {"progressive": True}),
        (16_320, 12_240, {}),
    ],
)
def test_large_photos_are_decoded_smaller(width, height, options):
    data = photo(width, height, **options)
    for side in (640, 0):
        decoded = decode_reduced(data, side)
        assert decoded.full_size == (height, width)
        assert min(decoded.pixels.shape[:2]) >= side
        assert decoded.pixels.shape[0] * decoded.pixels.shape[1] <= MAX_PIXELS
        for found, color in zip(quarters(decoded.pixels), CORNERS, strict=True):
            assert np.abs(found - color).max() <= 6


def test_a_large_photo_is_turned():
    exif = Image.Exif()
    exif[0x0112] = 6
    decoded = decode_reduced(photo(12_000, 9_000, exif=exif), 640)
    assert decoded.full_size == (12_000, 9_000)
    order = (2, 0, 3, 1)  # a quarter turn clockwise
    for found, number in zip(quarters(decoded.pixels), order, strict=True):
        assert np.abs(found - CORNERS[number]).max() <= 6


def with_size(data, width, height):
    """A JPEG file whose header has another size."""
    at = data.index(b"\xff\xc0")
    return data[: at + 5] + struct.pack(">HH", height, width) + data[at + 9 :]


def test_what_is_larger_is_refused_by_its_header():
    data = photo(64, 64)
    with pytest.raises(PictureError, match="too many pixels") as caught:
        decode_picture(with_size(data, 65_000, 65_000))
    assert caught.value.received == "65,000 × 65,000 pixels"
    header = struct.pack(">IIBBBBB", 9_000, 9_000, 8, 2, 0, 0, 0)
    chunk = (
        struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    )
    with pytest.raises(PictureError, match="too many pixels"):
        decode_picture(b"\x89PNG\r\n\x1a\n" + chunk + b"\0\0\0\0IDAT\x35\xaf\x06\x1e")


def test_a_large_file_in_several_scans_must_fit_into_memory():
    """All coefficients of such a file are held: 6 bytes a pixel without subsampling."""
    data = photo(64, 64, progressive=True, subsampling=0)
    at = data.index(b"\xff\xc2")
    large = data[: at + 5] + struct.pack(">HH", 9_000, 12_000) + data[at + 9 :]
    with pytest.raises(PictureError, match="too many pixels") as caught:
        decode_picture(large)
    assert caught.value.expected == "at most 70 million pixels"
    ordinary = photo(64, 64)
    at = ordinary.index(b"\xff\xda")
    one_channel = ordinary[: at + 4] + b"\1" + ordinary[at + 5 :]
    with pytest.raises(PictureError, match="too many pixels"):
        decode_picture(with_size(one_channel, 16_000, 12_000))
