"""What a file is, by its first bytes: names are often wrong, contents rarely.

Neither Pillow nor puremagic answers this. Pillow has no name for what it cannot decode and
opens a decoder for the rest; puremagic 1.30 takes a HEIC photo for .mp4, text for .info and
zero bytes for .xxx, and does not detect BigTIFF or the side files of a Mac.
"""

from __future__ import annotations

MAX_FILE_BYTES = 512 * 2**20
"""Size of the largest picture file that is read."""

HEAD_BYTES = 4096
"""How much of a file's beginning `sniff` needs."""

DECODED: frozenset[str] = frozenset(
    {
        "PNG",
        "JPEG",
        "GIF",
        "BMP",
        "WEBP",
        "TIFF",
        "AVIF",
        "ICO",
        "PPM",
        "QOI",
        "JPEG2000",
        "PSD",
    }
)
"""Formats that decode here, by Pillow's names (TGA too, but it has no first bytes)."""

UNSUPPORTED: dict[str, str] = {
    "SVG": "an SVG drawing, which has no pixels",
    "HEIC": "a HEIC photo, whose decoder (pillow-heif) is not installed",
    "JXL": "a JPEG XL image, which needs a decoder that is not part of Workbench",
    "EPS": "a PostScript drawing, which has no pixels",
    "PDF": "a PDF document",
    "ZIP": "an archive",
    "HTML": "a web page (a failed download leaves such files)",
    "APPLE_DOUBLE": "a Mac side file (its name begins with ._)",
    "TEXT": "text",
    "ZEROS": "only zero bytes (a crashed copy leaves such files)",
}
"""Contents that are recognized in order to be rejected with a reason."""

_STARTS: dict[str, tuple[bytes, ...]] = {
    "PNG": (b"\x89PNG\r\n\x1a\n",),
    "JPEG": (b"\xff\xd8\xff",),
    "GIF": (b"GIF87a", b"GIF89a"),
    "BMP": (b"BM",),
    "TIFF": (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
    "ICO": (b"\0\0\1\0",),
    "QOI": (b"qoif",),
    "PSD": (b"8BPS",),
    "JPEG2000": (b"\xff\x4f\xff\x51", b"\0\0\0\x0cjP  \r\n\x87\n"),
    "JXL": (b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n"),
    "EPS": (b"%!PS",),
    "PDF": (b"%PDF",),
    "ZIP": (b"PK\x03\x04",),
    "APPLE_DOUBLE": (b"\0\5\x16\7",),
}

_HEIC_BRANDS = (b"heic", b"heix", b"hevc", b"heim", b"mif1", b"msf1")
_BRANDS = dict.fromkeys(_HEIC_BRANDS, "HEIC") | dict.fromkeys(
    (b"avif", b"avis"), "AVIF"
)


def sniff(head: bytes) -> str:
    """The kind of a file whose first HEAD_BYTES are `head`.

    Returns:
        A member of DECODED, a key of UNSUPPORTED, or "" when nothing fits.
    """
    for kind, starts in _STARTS.items():
        if head.startswith(starts):
            return kind
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WEBP"
    if head[:1] == b"P" and head[1:2] in b"123456" and head[2:3].isspace():
        return "PPM"
    if head[4:8] == b"ftyp":
        return _sniff_heif(head)
    return _sniff_other(head)


def _sniff_heif(head: bytes) -> str:
    """AVIF and HEIC share a container: the brands distinguish them, AVIF anywhere wins."""
    size = min(int.from_bytes(head[:4], "big"), len(head))
    brands = [head[8:12], *(head[i : i + 4] for i in range(16, size, 4))]
    kinds = [_BRANDS[brand] for brand in brands if brand in _BRANDS]
    return "AVIF" if "AVIF" in kinds else (kinds[0] if kinds else "")


def _sniff_other(head: bytes) -> str:
    if head and not head.strip(b"\0"):
        return "ZEROS"
    try:
        text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "strict").lower()
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3:  # not just a letter cut in two at the end
            return ""
        text = head[: error.start].decode("utf-8").lower()
    if "<svg" in text:
        return "SVG"
    if "<html" in text or "<!doctype html" in text:
        return "HTML"
    return "TEXT" if text.strip() and "\0" not in text else ""
