"""What a file is, told from its first bytes: names lie, contents rarely do.

Neither Pillow nor puremagic answers this. Pillow has no name for what it cannot decode and
opens a decoder for the rest; puremagic 1.30 takes a HEIC photo for .mp4, text for .info and
zero bytes for .xxx, and does not know BigTIFF or the side files of a Mac.
"""

HEAD_BYTES = 4096
"""How much of a file's beginning `sniff` wants."""

DECODED: frozenset[str] = frozenset(
    {"PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "AVIF", "ICO", "PPM", "QOI", "JPEG2000", "PSD"}
)
"""Formats that decode here, by Pillow's names (TGA too, but it has no first bytes)."""

UNSUPPORTED: dict[str, str] = {
    "SVG": "an SVG drawing, which has no pixels",
    "HEIC": "a HEIC photo, which needs a decoder that is not part of Workbench",
    "JXL": "a JPEG XL picture, which needs a decoder that is not part of Workbench",
    "EPS": "a PostScript drawing, which has no pixels",
    "PDF": "a PDF document, not a picture",
    "ZIP": "an archive, not a picture",
    "HTML": "a web page, not a picture (a failed download leaves such files)",
    "APPLE_DOUBLE": "a Mac side file (its name begins with ._), not a picture",
    "TEXT": "text, not a picture",
    "ZEROS": "only zero bytes (a crashed copy leaves such files)",
}
"""Contents that are recognized in order to be refused in words."""

_STARTS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"BM", "BMP"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"II+\0", "TIFF"),
    (b"MM\0+", "TIFF"),
    (b"\0\0\1\0", "ICO"),
    (b"qoif", "QOI"),
    (b"8BPS", "PSD"),
    (b"\xff\x4f\xff\x51", "JPEG2000"),
    (b"\0\0\0\x0cjP  \r\n\x87\n", "JPEG2000"),
    (b"\xff\x0a", "JXL"),
    (b"\0\0\0\x0cJXL \r\n\x87\n", "JXL"),
    (b"%!PS", "EPS"),
    (b"%PDF", "PDF"),
    (b"PK\x03\x04", "ZIP"),
    (b"\0\5\x16\7", "APPLE_DOUBLE"),
)

_BRANDS: dict[bytes, str] = {
    b"avif": "AVIF",
    b"avis": "AVIF",
    b"heic": "HEIC",
    b"heix": "HEIC",
    b"hevc": "HEIC",
    b"heim": "HEIC",
    b"mif1": "HEIC",
    b"msf1": "HEIC",
}


def sniff(head: bytes) -> str:
    """The kind of a file whose first HEAD_BYTES are `head`.

    Returns:
        A member of DECODED, a key of UNSUPPORTED, or "" when nothing fits.
    """
    for start, kind in _STARTS:
        if head.startswith(start):
            return kind
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WEBP"
    if head[:1] == b"P" and head[1:2] in b"123456" and head[2:3].isspace():
        return "PPM"
    if head[4:8] == b"ftyp":
        return _sniff_heif(head)
    return _sniff_other(head)


def _sniff_heif(head: bytes) -> str:
    """AVIF and HEIC share a container: the brands tell them apart, AVIF anywhere wins."""
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
