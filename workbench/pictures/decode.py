"""The one decoder: a picture file becomes upright 8-bit RGB pixels, or a PictureError.

Used for training, thumbnails and classification alike. Rules: the content says what a file
is, not its name; first frame or page; EXIF rotation applied; 16-bit values scaled, not
clipped; transparency on white; files that are cut off or too large are rejected.
"""

from __future__ import annotations

import importlib
import io
import os
import re
import stat
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from workbench.errors import PictureError
from workbench.parts import HEIC
from workbench.pictures.signatures import (
    DECODED,
    HEAD_BYTES,
    MAX_FILE_BYTES,
    UNSUPPORTED,
    sniff,
)

Pixels = np.ndarray[Any, np.dtype[np.uint8]]

MAX_PIXELS = 50_000_000
"""Width times height of the largest picture that is decoded."""

_CAN_READ = "PNG, JPEG, WebP, GIF, BMP, TIFF, AVIF, JPEG 2000, PSD, ICO, PPM, QOI or TGA"

_FIXES = dict.fromkeys(("SVG", "JXL", "EPS", "PDF"), "Save it as PNG or JPEG.") | {
    "HEIC": f"{HEIC.install_words}, or save it as JPEG."
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
"""What makes a picture upright, by its EXIF orientation."""

_SIDEWAYS = frozenset(_TURNS[orientation] for orientation in (5, 6, 7, 8))

# Pillow itself only warns between its limit and twice the limit: here that is an error too.
Image.MAX_IMAGE_PIXELS = MAX_PIXELS
warnings.filterwarnings("error", category=Image.DecompressionBombWarning)
# Odd metadata is no one's business while the pixels are whole.
warnings.filterwarnings("ignore", category=UserWarning, module=r"PIL\.")


@dataclass(frozen=True)
class Decoded:
    """An upright picture, perhaps made smaller while it was decoded.

    Attributes:
        pixels: uint8 (height, width, 3).
        full_size: (height, width) of the picture in its file, upright.
        format: What the file is by its content, by Pillow's name.
        mode: Pillow's mode of the picture in the file; "PA" where a palette has transparency.
        is_turned: EXIF says that the stored pixels are to be turned or mirrored.
    """

    pixels: Pixels
    full_size: tuple[int, int]
    format: str = ""
    mode: str = ""
    is_turned: bool = False


def decode_picture(source: str | Path | bytes, *, where: str = "") -> Pixels:
    """The picture of a file, or of the bytes of one, at its full size: uint8 (height, width, 3),
    upright. Raises PictureError as `decode_reduced` does.
    """
    return decode_reduced(source, 0, where=where).pixels


def decode_reduced(source: str | Path | bytes, side: int, *, where: str = "") -> Decoded:
    """Decodes a picture that is needed small: large JPEG photos at 1/2, 1/4 or 1/8.

    A 12-megapixel photo takes a fifth of the time then.

    Args:
        source: A file, or the bytes of one.
        side: Both sides stay at least this long, in pixels; 0 for the full size.
        where: How messages name it; the path by default.

    Raises:
        PictureError: whatever is wrong with it; names the file and the cause.
    """
    if isinstance(source, bytes):
        where = where or "an unnamed image"
        return _decode(source, side, where, is_tga=_has_tga_end(source))
    path = Path(source)
    where = where or str(path)
    data = _read(path, where)
    is_tga = path.suffix.lower() == ".tga" or _has_tga_end(data)
    return _decode(data, side, where, is_tga=is_tga)


def _has_tga_end(data: bytes) -> bool:
    return data[-26:].startswith(b"TRUEVISION-XFILE")


def _read(path: Path, where: str) -> bytes:
    """The bytes of a regular file: a pipe would block for ever, a device never end."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise PictureError("This is a folder, not an image.", where=where)
        if not stat.S_ISREG(status.st_mode):
            raise PictureError("This is not a regular file.", where=where)
        if status.st_size > MAX_FILE_BYTES:
            raise PictureError(
                "The image file is too large.",
                where=where,
                received=f"{status.st_size:,} bytes",
                expected=f"at most {MAX_FILE_BYTES:,} bytes",
                fix="Save a smaller copy of it.",
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise PictureError("There is no such image file.", where=where) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        cause = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else error
        raise PictureError(f"The image file cannot be read: {cause}.", where=where) from None


def _decode(data: bytes, side: int, where: str, *, is_tga: bool) -> Decoded:
    kind = _kind(data, where, is_tga=is_tga)
    try:
        with Image.open(io.BytesIO(data), formats=(kind,)) as image:
            full_size = image.size[::-1]
            _refuse_large(image.size, where)
            if side and image.mode in {"RGB", "L"}:
                image.draft(image.mode, (side, side))  # does nothing to other files than JPEG
            image.load()
            # After load(): TIFF and PNG have their orientation only then.
            upright = _TURNS.get(_orientation(image))
            mode = "PA" if image.mode == "P" and image.has_transparency_data else image.mode
            colored = _rgb(image)
            pixels = np.array(colored if upright is None else colored.transpose(upright))
    except PictureError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        counted = re.search(r"\((\d+) pixels\)", str(error))
        raise _too_large(f"{int(counted[1]):,} pixels" if counted else "", where) from None
    except MemoryError:
        raise PictureError("Not enough memory for this image.", where=where) from None
    except Exception as error:  # noqa: BLE001 - a decoder fails in any way on damaged bytes
        raise _damaged(kind, error, where) from None
    size = full_size[::-1] if upright in _SIDEWAYS else full_size
    return Decoded(pixels, size, kind, mode, upright is not None)


def _kind(data: bytes, where: str, *, is_tga: bool) -> str:
    if not data:
        raise PictureError("The image file is empty.", where=where, received="0 bytes")
    kind = sniff(data[:HEAD_BYTES])
    if kind in DECODED:
        return kind
    if kind == "HEIC" and _has_heif():
        return "HEIF"
    if is_tga:
        return "TGA"
    raise PictureError(
        "This file is not an image that can be read.",
        where=where,
        received=UNSUPPORTED.get(kind, "bytes of no known image format"),
        expected=_CAN_READ,
        fix=_FIXES.get(kind, ""),
    )


@cache
def _has_heif() -> bool:
    """Whether HEIC photos can be decoded: by pillow-heif, where that is installed."""
    try:
        heif = importlib.import_module("pillow_heif")
    except ImportError:
        return False
    heif.register_heif_opener()
    return True


def _refuse_large(size: tuple[int, int], where: str) -> None:
    width, height = size
    if width < 1 or height < 1:
        raise PictureError("The image has no pixels.", where=where)
    if width * height > MAX_PIXELS:
        raise _too_large(f"{width:,} × {height:,} pixels", where)


def _too_large(received: str, where: str) -> PictureError:
    return PictureError(
        "The image has too many pixels.",
        where=where,
        received=received,
        expected=f"at most {MAX_PIXELS // 1_000_000} million pixels",
        fix="Save a smaller copy of it.",
    )


def _damaged(kind: str, error: Exception, where: str) -> PictureError:
    words = "".join(c if c.isprintable() else " " for c in str(error))[:120].strip(" .")
    if "<_io.BytesIO" in words:  # Pillow's "cannot identify", without more
        words = "damaged header"
    is_cut = "truncated" in words.lower() or isinstance(error, EOFError)
    return PictureError(
        "The image file is cut off." if is_cut else "The image file is damaged.",
        where=where,
        received=f"{kind}: {words or type(error).__name__}",
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
    if image.mode == "F" or image.mode.startswith("I"):
        gray = _eight_bits(np.asarray(image), is_scaled=image.mode.startswith("I;16"))
        return Image.fromarray(gray).convert("RGB")
    if image.has_transparency_data or image.mode in {"La", "RGBa", "PA"}:
        colored = image.convert("RGBA")
        white = Image.new("RGBA", image.size, (255, 255, 255, 255))
        return Image.alpha_composite(white, colored).convert("RGB")
    return image if image.mode == "RGB" else image.convert("RGB")


def _eight_bits(values: np.ndarray[Any, Any], *, is_scaled: bool) -> Pixels:
    """Gray values of more than 8 bits as 8 bits.

    16-bit files use the whole range. Wider and real numbers state no range: 0..1, 0..255
    and 0..65535 are recognized, anything else is stretched from its least to its greatest.
    """
    if is_scaled:
        scaled: Pixels = ((values.astype(np.uint32) * 255 + 32_767) // 65_535).astype(np.uint8)
        return scaled
    numbers = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    low, high = float(numbers.min()), float(numbers.max())
    is_real = values.dtype.kind == "f"
    if low >= 0 and high <= 1 and is_real:
        numbers *= 255
    elif low >= 0 and high <= 65_535 and (high > 255 or not is_real):
        numbers *= 255 / 65_535
    elif low < 0 or high > 255:
        numbers = (numbers - low) * (255 / (high - low or 1))
    pixels: Pixels = np.round(numbers).astype(np.uint8)
    return pixels
