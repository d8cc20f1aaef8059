"""Pictures of many kinds with the pixels that they must have, computed by hand.

What a format stores exactly is compared with the numbers that were written, scaled by NumPy; what
is stored with losses with what Pillow, called directly, makes of it.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import tifffile
from PIL import Image

Pixels = np.ndarray
SIZES = ((1, 1), (7, 5), (16, 16), (33, 20), (64, 48), (37, 101), (3, 90), (80, 31))
"""Heights and widths, odd ones too."""


@dataclass(frozen=True)
class Case:
    """A file, the pixels it must have, and the range that it is decoded with."""

    kind: str
    data: bytes
    expected: Pixels
    suffix: str
    value_range: str = ""


def truth(height: int, width: int, channels: int, seed: int) -> Pixels:
    """Smooth colors from 0 to 1, float64 (height, width, channels); both ends are there."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    waves = [
        np.sin(x * random.uniform(0.02, 0.3) + y * random.uniform(0.02, 0.3) + n)
        for n in range(channels)
    ]
    made = np.stack(waves, axis=-1) / 2 + 0.5
    made.reshape(-1)[0], made.reshape(-1)[-1] = 0.0, 1.0
    return made


def bytes_of(values: Pixels, black: float = 0, white: float = 1) -> Pixels:
    """Scaled to 0..255 and rounded, as RGB."""
    scaled = np.round(np.clip((values.astype(np.float64) - black) / (white - black), 0, 1) * 255)
    rgb = scaled if scaled.ndim == 3 else scaled[..., None]
    return np.broadcast_to(rgb, (*rgb.shape[:2], 3)).astype(np.uint8)


def on_white(color: Pixels, opacity: Pixels) -> Pixels:
    """8-bit colors over white; `opacity` from 0 to 1."""
    mixed = color * opacity[..., None] + 255 * (1 - opacity[..., None])
    return np.round(mixed).astype(np.uint8)


def saved(image: Image.Image, kind: str, **options) -> bytes:
    """The bytes of a file as Pillow writes it."""
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def plain(data: bytes) -> Pixels:
    """What Pillow makes of a file of 8 bits."""
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))


def png(values: Pixels, bits: int, color: int, extra: bytes = b"") -> bytes:
    """A PNG file of numbers (height, width, channels), by hand, of any depth."""
    height, width = values.shape[:2]
    rows = values.reshape(height, -1)
    if bits == 16:
        packed = [row.astype(">u2").tobytes() for row in rows]
    elif bits == 8:
        packed = [row.astype(np.uint8).tobytes() for row in rows]
    else:
        flags = (rows[..., None] >> np.arange(bits - 1, -1, -1)) & 1
        packed = [np.packbits(row.reshape(-1)).tobytes() for row in flags.astype(np.uint8)]
    header = struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in packed))
    chunks = _chunk(b"IHDR", header) + extra + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _chunk(name: bytes, data: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(name + data))
    return struct.pack(">I", len(data)) + name + data + check


def tiff(values: Pixels, **options) -> bytes:
    """A TIFF file as tifffile writes it."""
    file = io.BytesIO()
    tifffile.imwrite(file, values, **options)
    return file.getvalue()


def turned(pixels: Pixels, orientation: int) -> Pixels:
    """Stored pixels that the orientation turns back to `pixels`."""
    stored = pixels.transpose(1, 0, 2) if orientation > 4 else pixels
    flips = {2: (1,), 3: (0, 1), 4: (0,), 6: (0,), 7: (0, 1), 8: (1,)}.get(orientation, ())
    return np.ascontiguousarray(np.flip(stored, flips))


def cases() -> Iterator[Case]:
    """All of them, kind after kind."""
    for maker in _MAKERS:
        for seed, (height, width) in enumerate(SIZES):
            yield from maker(height, width, seed)


def _png_cases(height: int, width: int, seed: int) -> Iterator[Case]:
    gray, color = truth(height, width, 1, seed), truth(height, width, 4, seed)
    for bits in (1, 2, 4, 8, 16):
        top = 2**bits - 1
        numbers = np.round(gray * top).astype(np.uint16)
        yield Case(f"PNG gray {bits} bit", png(numbers, bits, 0), bytes_of(numbers, 0, top), ".png")
    for bits in (8, 16):
        top = 2**bits - 1
        numbers = np.round(color * top).astype(np.uint16)
        rgb = bytes_of(numbers[..., :3], 0, top)
        opacity = numbers[..., 3] / top
        yield Case(f"PNG RGB {bits} bit", png(numbers[..., :3], bits, 2), rgb, ".png")
        yield Case(f"PNG RGBA {bits} bit", png(numbers, bits, 6), on_white(rgb, opacity), ".png")
        pale = on_white(bytes_of(numbers[..., 0], 0, top), opacity)
        pair = numbers[..., [0, 3]]
        yield Case(f"PNG gray, alpha {bits} bit", png(pair, bits, 4), pale, ".png")
    for bits, kind in ((10, 1023), (12, 4095), (14, 16_383)):
        numbers = np.round(color * kind).astype(np.uint16)
        told = f"0-{kind}"
        of = f"PNG of {bits} bits in 16"
        yield Case(
            of, png(numbers[..., :1], 16, 0), bytes_of(numbers[..., 0], 0, kind), ".png", told
        )
        rgb = bytes_of(numbers[..., :3], 0, kind)
        yield Case(f"{of}, RGB", png(numbers[..., :3], 16, 2), rgb, ".png", told)
    colors = np.random.default_rng(seed).integers(0, 256, (256, 3), np.uint8)
    for bits in (1, 2, 4, 8):
        numbers = np.round(gray * (2**bits - 1)).astype(np.uint8)
        palette = _chunk(b"PLTE", colors[: 2**bits].tobytes())
        rgb = colors[numbers[..., 0]]
        yield Case(f"PNG palette {bits} bit", png(numbers, bits, 3, palette), rgb, ".png")
        opacities = np.linspace(0, 255, 2**bits).round().astype(np.uint8)
        clear = palette + _chunk(b"tRNS", opacities.tobytes())
        mixed = on_white(rgb, opacities[numbers[..., 0]] / 255)
        yield Case("PNG palette, alpha", png(numbers, bits, 3, clear), mixed, ".png")


def _tiff_cases(height: int, width: int, seed: int) -> Iterator[Case]:
    gray, color = truth(height, width, 1, seed)[..., 0], truth(height, width, 4, seed)
    for order, words in (("<", "little"), (">", "big")):
        for packing in (None, "zlib"):
            more = {"byteorder": order, "compression": packing}
            yield from _whole_tiffs(gray, color, words, more)
            yield from _real_tiffs(gray, words, more)
    tiled = np.round(color[..., :3] * 65_535).astype(np.uint16)
    data = tiff(tiled, photometric="rgb", tile=(16, 16), planarconfig="contig")
    yield Case("TIFF uint16 RGB, tiled", data, bytes_of(tiled, 0, 65_535), ".tif")
    for name, packing in (
        ("LZW", "tiff_lzw"),
        ("PackBits", "packbits"),
        ("ZIP", "tiff_adobe_deflate"),
    ):
        rgb = bytes_of(color[..., :3])
        packed = saved(Image.fromarray(rgb), "TIFF", compression=packing)
        yield Case(f"TIFF RGB, {name}", packed, rgb, ".tif")
    flags = gray > 0.5
    fax = saved(Image.fromarray(flags), "TIFF", compression="group4")
    yield Case("TIFF 1 bit, group 4", fax, bytes_of(flags), ".tif")
    ink = np.round(color * 255).astype(np.uint8)
    paper = 255 - ink.astype(float)
    rgb = np.round(paper[..., :3] * paper[..., 3:] / 255).astype(np.uint8)
    yield Case("TIFF CMYK", saved(Image.fromarray(ink, "CMYK"), "TIFF"), rgb, ".tif")
    bands = np.concatenate([color, color[..., :1]], axis=2)
    five = np.round(bands * 255).astype(np.uint8)
    data = tiff(five, photometric="rgb", planarconfig="contig")
    yield Case("TIFF 5 bands", data, five[..., :3], ".tif")
    pages = np.stack([ink[..., :3], 255 - ink[..., :3]])
    yield Case("TIFF pages", tiff(pages, photometric="rgb"), ink[..., :3], ".tif")
    yield Case("BigTIFF", tiff(ink[..., :3], photometric="rgb", bigtiff=True), ink[..., :3], ".tif")


def _whole_tiffs(gray: Pixels, color: Pixels, words: str, more: dict) -> Iterator[Case]:
    for bits in (8, 16):
        top, dtype = 2**bits - 1, np.dtype(f"u{bits // 8}")
        numbers, of = np.round(color * top).astype(dtype), f"TIFF uint{bits}"
        flat = np.round(gray * top).astype(dtype)
        shown = bytes_of(flat, 0, top)
        yield Case(f"{of} {words}", tiff(flat, photometric="minisblack", **more), shown, ".tif")
        inverted = tiff(flat, photometric="miniswhite", **more)
        yield Case(f"{of}, white is 0", inverted, 255 - shown, ".tif")
        rgb = bytes_of(numbers[..., :3], 0, top)
        for plan in ("contig", "separate"):
            planes = np.ascontiguousarray(np.moveaxis(numbers[..., :3], -1, 0))
            given = planes if plan == "separate" else numbers[..., :3]
            data = tiff(given, photometric="rgb", planarconfig=plan, **more)
            yield Case(f"{of} RGB, {plan}", data, rgb, ".tif")
        clear = tiff(numbers, photometric="rgb", extrasamples=["unassalpha"], **more)
        yield Case(f"{of} RGBA", clear, on_white(rgb, numbers[..., 3] / top), ".tif")
    dim = np.round(color[..., :3] * 4095).astype(np.uint16)
    data = tiff(dim, photometric="rgb", planarconfig="contig", **more)
    yield Case("TIFF of 12 bits in 16", data, bytes_of(dim, 0, 4095), ".tif", "0-4095")
    bands = np.concatenate([dim, dim[..., :1]], axis=2)
    data = tiff(bands, photometric="rgb", extrasamples=["unspecified"], **more)
    yield Case("TIFF of 4 bands", data, bytes_of(dim, 0, 4095), ".tif", "0-4095")
    field = np.round(gray * 4095 - 1024)
    low, high = field.min(), field.max()
    for dtype in ("i2", "i4") if low < high else ():
        data = tiff(field.astype(dtype), photometric="minisblack", **more)
        yield Case(f"TIFF {dtype}, Hounsfield", data, bytes_of(field, low, high), ".tif")
        data = tiff(np.round(gray * 255).astype(dtype), photometric="minisblack", **more)
        yield Case(
            f"TIFF {dtype}, 0 to 255", data, bytes_of(np.round(gray * 255), 0, 255), ".tif", "0-255"
        )
    if low < high:
        wide = np.round(gray * (2**32 - 1)).astype(np.uint32)
        data = tiff(wide, photometric="minisblack", **more)
        yield Case("TIFF uint32", data, bytes_of(wide, 0, 2**32 - 1), ".tif")
    signed = np.round(gray * 255 - 128).astype(np.int8)
    data = tiff(signed, photometric="minisblack", **more)
    yield Case("TIFF int8", data, bytes_of(signed, -128, 127), ".tif", "-128-127")


def _real_tiffs(gray: Pixels, words: str, more: dict) -> Iterator[Case]:
    for low, high in ((0, 1), (0, 255), (0, 65_535), (-1, 1)):
        numbers = (gray * (high - low) + low).astype(np.float32)
        told = f"{low}-{high}"
        data = tiff(numbers, photometric="minisblack", **more)
        of = f"TIFF float32 {low} to {high}"
        yield Case(f"{of}, {words}", data, bytes_of(numbers, low, high), ".tif", told)
        if numbers.size > 500:  # enough numbers to see the range
            yield Case(f"{of}, inferred", data, bytes_of(numbers, low, high), ".tif")
    numbers = (gray * 3000 + 10).astype(np.float32)
    data = tiff(numbers, photometric="minisblack", **more)
    yield Case("TIFF float32, told", data, bytes_of(numbers, 0, 4000), ".tif", "0-4000")
    holes = numbers.copy()
    holes.reshape(-1)[: max(1, holes.size // 50)] = np.nan
    expected = np.nan_to_num(holes, nan=0.0)
    data = tiff(holes, photometric="minisblack", **more)
    yield Case("TIFF float32 with NaN", data, bytes_of(expected, 0, 4000), ".tif", "0-4000")


def _other_cases(height: int, width: int, seed: int) -> Iterator[Case]:
    rgb = bytes_of(truth(height, width, 3, seed))
    gray = np.ascontiguousarray(rgb[..., 0])
    clear = np.round(truth(height, width, 4, seed) * 255).astype(np.uint8)
    image, flat = Image.fromarray(rgb), Image.fromarray(gray)
    exact: dict[str, Callable[[], bytes]] = {
        "BMP": lambda: saved(image, "BMP"),
        "WebP lossless": lambda: saved(image, "WEBP", lossless=True, exact=True),
        "PPM": lambda: saved(image, "PPM"),
        "TGA": lambda: saved(image, "TGA"),
        "QOI": lambda: saved(image, "QOI"),
        "JPEG 2000 lossless": lambda: saved(image, "JPEG2000", irreversible=False),
        "PNG, P3 profile": lambda: saved(image, "PNG", icc_profile=_P3),
    }
    for kind, make in exact.items():
        suffix = ".tga" if kind == "TGA" else ".img"
        yield Case(kind, make(), rgb, suffix)
    yield Case("BMP gray", saved(flat, "BMP"), bytes_of(gray, 0, 255), ".bmp")
    over = on_white(clear[..., :3], clear[..., 3] / 255)
    yield Case(
        "WebP alpha",
        saved(Image.fromarray(clear), "WEBP", lossless=True, exact=True),
        over,
        ".webp",
    )
    for name, options in (
        ("JPEG", {}),
        ("JPEG progressive", {"progressive": True}),
        ("JPEG 4:4:4", {"subsampling": 0}),
        ("JPEG, P3 profile", {"icc_profile": _P3}),
    ):
        data = saved(image, "JPEG", quality=90, **options)
        yield Case(name, data, plain(data), ".jpg")
    for name, data in (
        ("JPEG gray", saved(flat, "JPEG")),
        ("GIF", saved(image.quantize(64), "GIF")),
        ("GIF animated", saved(image, "GIF", save_all=True, append_images=[image.rotate(180)])),
        ("WebP", saved(image, "WEBP")),
        ("AVIF", saved(image, "AVIF")),
    ):
        yield Case(name, data, plain(data), ".img")
    ink = saved(Image.fromarray(clear, "CMYK"), "JPEG", quality=95)
    with Image.open(io.BytesIO(ink)) as opened:
        paper = 255 - np.asarray(opened).astype(float)
    yield Case(
        "JPEG CMYK, Adobe",
        ink,
        np.round(paper[..., :3] * paper[..., 3:] / 255).astype(np.uint8),
        ".jpg",
    )
    for top in (255, 1023, 4095, 65_535):
        numbers = np.round(truth(height, width, 1, seed)[..., 0] * top)
        head = f"P5\n{width} {height}\n{top}\n".encode()
        body = numbers.astype(np.uint8 if top == 255 else ">u2").tobytes()
        yield Case(f"PGM to {top}", head + body, bytes_of(numbers, 0, top), ".pgm")
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        stored = Image.fromarray(turned(rgb, orientation))
        for kind in ("PNG", "TIFF", "WEBP"):
            more = {"lossless": True, "exact": True} if kind == "WEBP" else {}
            yield Case(f"{kind}, EXIF", saved(stored, kind, exif=exif, **more), rgb, ".img")
        data = saved(stored, "JPEG", quality=95, subsampling=0, exif=exif)
        back = {5: 5, 6: 8, 7: 7, 8: 6}.get(orientation, orientation)
        yield Case("JPEG, EXIF", data, turned(plain(data), back), ".jpg")


def _profile() -> bytes:
    """A small ICC profile: what it says is not applied."""
    from PIL import ImageCms

    return ImageCms.ImageCmsProfile(ImageCms.createProfile("XYZ")).tobytes()


_P3 = _profile()
_MAKERS = (_png_cases, _tiff_cases, _other_cases)
