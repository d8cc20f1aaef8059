"""From the bytes of an image file to upright 8-bit RGB pixels.

The content says what a file is, not its name; first frame or page; EXIF rotation applied; colors
as they are stored, without their ICC profile; transparency on white; files that are cut off or too
large are refused. Of images of more than 8 bits, integers of 16 bits have their whole range unless
another is given; others are brought to 8 bits by what `ranges` infers of each.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import stat
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, JpegImagePlugin

from workbench.pictures.portable.deep import deep
from workbench.pictures.portable.signatures import (
    DECODED,
    HEAD_BYTES,
    MAX_FILE_BYTES,
    UNSUPPORTED,
    sniff,
)

Pixels = np.ndarray[Any, np.dtype[Any]]

MAX_PIXELS = 50_000_000
"""Width times height of the largest image that is decoded whole."""

MAX_JPEG_PIXELS = 256_000_000
"""Width times height of the largest JPEG file: it is decoded at 1/2, 1/4 or 1/8, in strips."""

_MAX_COEFFICIENTS = 420_000_000
"""Bytes of the coefficients of a JPEG file in several scans, which are all held in memory."""

_LARGE_PIXELS = 25_000_000
"""A JPEG file that is too large for memory is decoded to at most so many pixels."""

CAN_READ = "PNG, JPEG, WebP, GIF, BMP, TIFF, AVIF, JPEG 2000, PSD, ICO, PPM, QOI or TGA"

_FIXES = dict.fromkeys(("SVG", "JXL", "EPS", "PDF"), "Save it as PNG or JPEG.") | {
    "HEIC": "Install pillow-heif (pip install pillow-heif), or save it as JPEG."
}

_TURNS: dict[int, Image.Transpose] = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What makes an image upright, by its EXIF orientation."""

_SIDEWAYS = frozenset(_TURNS[orientation] for orientation in (5, 6, 7, 8))

# Pillow itself only warns between its limit and twice the limit: here that is an error too.
Image.MAX_IMAGE_PIXELS = MAX_PIXELS
warnings.filterwarnings("error", category=Image.DecompressionBombWarning)
# Odd metadata is no one's business while the pixels are whole.
warnings.filterwarnings("ignore", category=UserWarning, module=r"PIL\.")


class ImageError(ValueError):
    """A file that is no image, or one that is not read.

    Args:
        what: The reason, as a sentence.
        received, expected, fix: What was there, what is read, what helps; "" for nothing to say.
        kind: What the file is, a key of UNSUPPORTED; "" for another reason.
    """

    def __init__(
        self,
        what: str,
        received: str = "",
        expected: str = "",
        fix: str = "",
        kind: str = "",
    ) -> None:
        told = [what, f"Received: {received}." if received else ""]
        told += [f"Expected: {expected}." if expected else "", fix]
        super().__init__(" ".join(words for words in told if words))
        self.what, self.received, self.expected, self.fix = (
            what,
            received,
            expected,
            fix,
        )
        self.kind = kind


class Decoded(NamedTuple):
    """An upright image, perhaps made smaller while it was decoded.

    Attributes:
        pixels: uint8 (height, width, 3).
        full_size: (height, width) of the image in its file, upright.
        format: What the file is by its content, by Pillow's name.
        mode: Pillow's mode of the image in the file; "PA" where a palette has transparency.
        is_turned: EXIF says that the stored pixels are to be turned or mirrored.
        cut: Share of numbers beyond black and white of the value range.
    """

    pixels: Pixels
    full_size: tuple[int, int]
    format: str = ""
    mode: str = ""
    is_turned: bool = False
    cut: float = 0.0


def read_file(path: str | Path) -> bytes:
    """The bytes of a regular file: a pipe would block for ever, a device never end.

    Raises:
        ImageError: it cannot be read, or is too large.
    """
    path = Path(path)
    try:
        status = path.stat()
        _refuse_irregular(status)
        return path.read_bytes()
    except ImageError:
        raise
    except FileNotFoundError:
        raise ImageError("There is no such image file.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        cause = (
            os.strerror(error.errno)
            if isinstance(error, OSError) and error.errno
            else error
        )
        raise ImageError(f"The image file cannot be read: {cause}.") from None


def _refuse_irregular(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise ImageError("This is a folder, not an image.")
    if not stat.S_ISREG(status.st_mode):
        raise ImageError("This is not a regular file.")
    if status.st_size > MAX_FILE_BYTES:
        raise ImageError(
            "The image file is too large.",
            f"{status.st_size:,} bytes",
            f"at most {MAX_FILE_BYTES:,} bytes",
            "Save a smaller copy of it.",
        )


def has_tga_end(data: bytes) -> bool:
    """Whether bytes end as TGA files do, which have no first bytes of their own."""
    return data[-26:].startswith(b"TRUEVISION-XFILE")


def decode(
    data: bytes, side: int, *, is_tga: bool = False, value_range: str = ""
) -> Decoded:
    """Decodes an image file.

    Args:
        data: The bytes of the file.
        side: Both sides stay at least this long, in pixels, where a JPEG file is decoded smaller;
            0 for the full size.
        is_tga: Take it for TGA where nothing else fits.
        value_range: Black and white of images of more than 8 bits; "" by their own numbers.

    Raises:
        ImageError: whatever is wrong with it.
    """
    kind = _kind(data, is_tga=is_tga)
    with _failures(kind), _opened(data, kind) as image:
        full_size = image.size[::-1]
        _refuse_large(image, kind, data)
        _draft(image, side)
        numbers = deep(image, kind, lambda: _opened(data, kind))
        # After loading: TIFF and PNG have their orientation only then.
        upright = _TURNS.get(_orientation(image))
        mode = "PA" if image.mode == "P" and image.has_transparency_data else image.mode
        colored = _rgb(image if numbers is None else numbers.image(value_range))
        pixels = np.array(colored if upright is None else colored.transpose(upright))
    size = full_size[::-1] if upright in _SIDEWAYS else full_size
    cut = 0.0 if numbers is None else numbers.share_cut(value_range)
    return Decoded(pixels, size, kind, mode, upright is not None, cut)


def deep_values(data: bytes) -> Pixels | None:
    """The numbers of an image of more than 8 bits, without transparency, as stored;
    None for other images, and for those that state their range.

    Raises:
        ImageError: it cannot be read.
    """
    kind = _kind(data, is_tga=False)
    with _failures(kind), _opened(data, kind) as image:
        _refuse_large(image, kind, data)
        numbers = deep(image, kind, lambda: _opened(data, kind))
    return None if numbers is None or numbers.is_fixed else numbers.color


@contextlib.contextmanager
def _failures(kind: str) -> Iterator[None]:
    """Makes an ImageError of whatever a decoder raises."""
    try:
        yield
    except ImageError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        counted = re.search(r"\((\d+) pixels\)", str(error))
        received = f"{int(counted[1]):,} pixels" if counted else ""
        raise _too_large(received, MAX_PIXELS) from None
    except MemoryError:
        raise ImageError("Not enough memory for this image.") from None
    except Exception as error:  # noqa: BLE001 - a decoder fails in any way on damaged bytes
        raise _damaged(kind, error) from None


def _opened(data: bytes, kind: str) -> Any:
    """The image with its header read: Pillow would refuse large JPEG files, too."""
    if kind == "JPEG":
        return JpegImagePlugin.jpeg_factory(io.BytesIO(data))
    return Image.open(io.BytesIO(data), formats=(kind,))


def _kind(data: bytes, *, is_tga: bool) -> str:
    if not data:
        raise ImageError("The image file is empty.", "0 bytes")
    kind = sniff(data[:HEAD_BYTES])
    if kind in DECODED:
        return kind
    if kind == "HEIC" and _has_heif():
        return "HEIF"
    if is_tga:
        return "TGA"
    raise ImageError(
        "This file is not an image that can be read.",
        UNSUPPORTED.get(kind, "bytes of no known image format"),
        CAN_READ,
        _FIXES.get(kind, ""),
        kind,
    )


def _has_heif() -> bool:
    """Whether HEIC photos can be decoded: by pillow-heif, where that is installed by now."""
    try:
        heif = importlib.import_module("pillow_heif")
    except ImportError:
        return False
    heif.register_heif_opener()
    return True


def _refuse_large(image: Any, kind: str, data: bytes) -> None:
    width, height = image.size
    if width < 1 or height < 1:
        raise ImageError("The image has no pixels.")
    if width * height <= MAX_PIXELS:
        return
    limit = _jpeg_limit(image, data) if kind == "JPEG" else MAX_PIXELS
    if width * height > limit:
        raise _too_large(f"{width:,} × {height:,} pixels", limit)


def _jpeg_limit(image: Any, data: bytes) -> int:
    """Most pixels of a JPEG file of this layout."""
    if not image.info.get("progressive") and _has_one_scan(data, image.layers):
        return MAX_JPEG_PIXELS
    sides = [(layer[1], layer[2]) for layer in image.layer]
    whole = max(across for across, _ in sides) * max(down for _, down in sides)
    coefficients = sum(across * down for across, down in sides) / whole
    return max(MAX_PIXELS, int(_MAX_COEFFICIENTS / (2 * coefficients)))


def _has_one_scan(data: bytes, channels: int) -> bool:
    """Whether the first scan of a JPEG file has all channels."""
    at = 2
    while at + 4 < len(data) and data[at] == 0xFF:
        if data[at + 1] == 0xDA:  # start of scan
            return data[at + 4] == channels
        at += (
            1
            if data[at + 1] == 0xFF
            else 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        )
    return False


def _too_large(received: str, limit: int) -> ImageError:
    return ImageError(
        "The image has too many pixels.",
        received,
        f"at most {limit // 1_000_000} million pixels",
        "Save a smaller copy of it.",
    )


def _draft(image: Any, side: int) -> None:
    """Has a JPEG file decoded at 1/2, 1/4 or 1/8 where both sides stay long enough; and one that
    is too large for memory in any case.
    """
    width, height = image.size
    wanted = (side, side) if side and image.mode in {"RGB", "L"} else image.size
    if width * height > MAX_PIXELS:
        times = next(n for n in (2, 4, 8) if width * height <= n * n * _LARGE_PIXELS)
        wanted = (min(wanted[0], width // times), min(wanted[1], height // times))
    if wanted != image.size:
        image.draft(image.mode, wanted)  # does nothing to other files than JPEG


def _damaged(kind: str, error: Exception) -> ImageError:
    words = "".join(c if c.isprintable() else " " for c in str(error))[:120].strip(" .")
    if "<_io.BytesIO" in words:  # Pillow's "cannot identify", without more
        words = "damaged header"
    is_cut = "truncated" in words.lower() or isinstance(error, EOFError)
    return ImageError(
        "The image file is cut off." if is_cut else "The image file is damaged.",
        f"{kind}: {words or type(error).__name__}",
        fix="Copy or download it again.",
    )


def _orientation(image: Image.Image) -> int:
    """The EXIF orientation 1..8; 1 where there is none, or where the EXIF part is damaged."""
    try:
        value = image.getexif().get(0x0112, 1)
    except Exception:  # noqa: BLE001 - damaged EXIF fails in any way; the pixels are whole
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def _rgb(image: Image.Image) -> Image.Image:
    """The loaded frame as 8-bit RGB."""
    if image.has_transparency_data or image.mode in {"La", "RGBa", "PA"}:
        colored = image.convert("RGBA")
        white = Image.new("RGBA", image.size, (255, 255, 255, 255))
        return Image.alpha_composite(white, colored).convert("RGB")
    return image if image.mode == "RGB" else image.convert("RGB")
