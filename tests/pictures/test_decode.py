"""The one decoder: right pixels, or one clear error."""

from __future__ import annotations

import csv
import importlib.util
import io
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from workbench.errors import PictureError
from workbench.parts import HEIC
from workbench.pictures.fit import fit_picture, side_to_decode
from workbench.pictures.portable.signatures import sniff
from workbench.pictures.thumbnails import MAX_PIXELS, decode_picture, decode_reduced

MANIFEST = Path(__file__).resolve().parents[2].parent / "shared/data/odd_images/manifest.csv"
ODD = list(csv.DictReader(MANIFEST.read_text("utf-8").splitlines())) if MANIFEST.is_file() else []


def photo(width: int = 40, height: int = 30) -> np.ndarray:
    """A smooth picture whose four corners differ, so that every turn shows."""
    x, y = np.meshgrid(np.linspace(0, 1, width), np.linspace(0, 1, height))
    return np.stack([x * 255, y * 255, 128 + 100 * x * y], axis=-1).astype(np.uint8)


def as_bytes(image: Image.Image, kind: str, **options) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def difference(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a.astype(int) - b.astype(int)).mean())


def decoded(path: Path) -> tuple[np.ndarray | None, PictureError | None]:
    try:
        return decode_picture(path), None
    except PictureError as error:
        return None, error


@pytest.mark.skipif(not ODD, reason="the shared data folder is not beside this checkout")
def test_the_manifest_lists_all_odd_pictures():
    assert len(ODD) == 71


@pytest.mark.parametrize("row", ODD, ids=lambda row: row["file"])
def test_odd_pictures(row):
    path = MANIFEST.parent / row["file"]
    pixels, refusal = decoded(path)
    if pixels is None:
        assert row["decode"] != "yes", str(refusal)
        assert row["file"] in refusal.where
        assert refusal.what.endswith(".")
        assert "\n" not in str(refusal)
        assert len(str(refusal)) < 600
        return
    assert row["decode"] != "no"
    assert pixels.dtype == np.uint8
    assert pixels.flags.c_contiguous
    if row["width"]:
        assert pixels.shape == (int(row["height"]), int(row["width"]), 3)
    assert row["file"] == "png_1x1.png" or pixels.std() > 5  # neither white nor black


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_pictures_are_upright(orientation, kind):
    upright = photo()
    stored = upright
    if orientation in {5, 6, 7, 8}:
        stored = stored.transpose(1, 0, 2)
    # What the camera stores is turned the other way than the tag says to turn it back.
    stored = {
        1: lambda p: p,
        2: lambda p: p[:, ::-1],
        3: lambda p: p[::-1, ::-1],
        4: lambda p: p[::-1],
        5: lambda p: p,
        6: lambda p: p[::-1],
        7: lambda p: p[::-1, ::-1],
        8: lambda p: p[:, ::-1],
    }[orientation](stored)
    image = Image.fromarray(np.ascontiguousarray(stored))
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"JPEG": {"quality": 95}, "WEBP": {"lossless": True}}.get(kind, {})
    pixels = decode_picture(as_bytes(image, kind, exif=exif, **options))
    assert pixels.shape == upright.shape
    assert difference(pixels, upright) < 3


def test_odd_orientations_match_their_flower(shared_data):
    rows = [row for row in ODD if "orientation_" in row["file"]]
    assert len(rows) == 4
    for row in rows:
        flower = row["source"].removeprefix("flowers set: ")
        pixels = decode_picture(MANIFEST.parent / row["file"])
        upright = Image.fromarray(decode_picture(shared_data / "flowers" / flower))
        upright = upright.resize(pixels.shape[1::-1], Image.Resampling.LANCZOS)
        here = difference(pixels, np.asarray(upright))
        assert here < 8
        for turned in (pixels[::-1], pixels[:, ::-1], pixels[::-1, ::-1]):
            assert here < difference(turned, np.asarray(upright)) / 2


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
def test_damaged_exif_does_not_cost_the_picture():
    data = as_bytes(Image.fromarray(photo()), "JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\xff")
    assert decode_picture(data).shape == (30, 40, 3)


def test_cmyk_is_not_a_negative(shared_data):
    for name, flower in [
        ("jpeg_cmyk_photo.jpg", "sunflowers/9538283930_0faea083bb_n.jpg"),
    ]:
        pixels = decode_picture(MANIFEST.parent / name)
        flower_pixels = Image.fromarray(decode_picture(shared_data / "flowers" / flower))
        expected = np.asarray(flower_pixels.resize(pixels.shape[1::-1], Image.Resampling.LANCZOS))
        assert difference(pixels, expected) < 15
        assert difference(255 - pixels, expected) > 60


def test_adobe_cmyk_is_red_on_black(shared_data):
    pixels = decode_picture(shared_data / "odd_images/jpeg_cmyk_adobe.jpg")
    strong = pixels[pixels.max(axis=-1) > 200]
    assert pixels.mean() < 40
    assert len(strong) > 100
    assert strong[:, 0].mean() > 200
    assert strong[:, 1:].mean() < 60


def test_16_bit_grey_is_scaled_not_clipped():
    values = np.array([[0, 257, 24_158, 55_512, 65_535]], np.uint16)
    data = as_bytes(Image.fromarray(values), "PNG")
    assert decode_picture(data)[0, :, 0].tolist() == [0, 1, 94, 216, 255]
    assert decode_picture(as_bytes(Image.fromarray(values), "TIFF"))[0, :, 2].tolist() == [
        0, 1, 94, 216, 255,
    ]  # fmt: skip


def test_16_bit_coins_equal_the_8_bit_range(shared_data):
    pixels = decode_picture(shared_data / "odd_images/png_gray16.png")
    assert 60 < pixels.mean() < 140
    assert pixels.min() < 20
    assert pixels.max() >= 240
    assert (pixels[..., 0] == pixels[..., 1]).all()


def test_16_bit_rgb_matches_its_flower(shared_data):
    pixels = decode_picture(shared_data / "odd_images/png_rgb16.png")
    flower = decode_picture(shared_data / "flowers/daisy/4065883015_4bb6010cb7_n.jpg")
    small = Image.fromarray(flower).resize(pixels.shape[1::-1], Image.Resampling.LANCZOS)
    assert difference(pixels, np.asarray(small)) < 8


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 0.5, 1.0], [0, 128, 255]),
        ([0.0, 100.0, 255.0], [0, 100, 255]),
        ([-1.0, 0.0, 3.0], [0, 64, 255]),
        ([0.0, 32_767.5, 65_535.0], [0, 128, 255]),
        ([float("nan"), float("inf"), 1.0], [0, 0, 255]),
    ],
)
def test_real_numbers_are_brought_to_8_bits(values, expected):
    data = as_bytes(Image.fromarray(np.array([values], np.float32)), "TIFF")
    assert decode_picture(data)[0, :, 0].tolist() == expected


def test_transparency_becomes_white():
    rgba = np.zeros((1, 3, 4), np.uint8)
    rgba[0, :, 0] = 200
    rgba[0, :, 3] = [0, 128, 255]
    pixels = decode_picture(as_bytes(Image.fromarray(rgba), "PNG"))
    assert pixels[0, 0].tolist() == [255, 255, 255]
    assert pixels[0, 2].tolist() == [200, 0, 0]
    assert abs(int(pixels[0, 1, 1]) - 127) <= 1


def test_palette_transparency_becomes_white():
    image = Image.new("P", (2, 1))
    image.putpalette([10, 20, 30, 40, 50, 60])
    image.putpixel((1, 0), 1)
    pixels = decode_picture(as_bytes(image, "PNG", transparency=1))
    assert pixels[0].tolist() == [[10, 20, 30], [255, 255, 255]]


def test_first_frame():
    frames = [Image.new("RGB", (8, 8), color) for color in ("red", "blue")]
    data = as_bytes(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert decode_picture(data)[0, 0].tolist() == [255, 0, 0]


@pytest.mark.parametrize(
    "kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "AVIF", "ICO"]
)
def test_cut_files_are_refused_or_whole(kind):
    data = as_bytes(Image.fromarray(photo(256, 256)), kind)
    assert decode_picture(data).shape == (256, 256, 3)
    for share in (0.2, 0.5, 0.8):
        with pytest.raises(PictureError) as caught:
            decode_picture(data[: int(len(data) * share)], where="cut.bin")
        assert caught.value.where == "cut.bin"


def test_the_limit_of_pixels_is_read_from_the_header():
    side = int(MAX_PIXELS**0.5) + 1
    data = as_bytes(Image.new("1", (side, side)), "PNG")
    assert len(data) < 20_000
    with pytest.raises(PictureError, match="too many pixels") as caught:
        decode_picture(data)
    assert caught.value.received == f"{side * side:,} pixels"
    just_right = as_bytes(Image.new("1", (50_000, 1_000)), "GIF")
    assert decode_picture(just_right).shape == (1_000, 50_000, 3)


def test_a_folder_a_pipe_and_nothing(tmp_path):
    pipe = tmp_path / "pipe.png"
    os.mkfifo(pipe)
    for path, words in [
        (tmp_path, "folder"),
        (pipe, "regular file"),
        (tmp_path / "no.png", "no such"),
        (tmp_path / "a\0b.png", "cannot be read"),
        (tmp_path / ("x" * 300 + ".png"), "cannot be read"),
    ]:
        with pytest.raises(PictureError, match=words):
            decode_picture(path)


def test_a_tga_is_known_by_its_name_alone(tmp_path):
    path = tmp_path / "a.tga"
    path.write_bytes(as_bytes(Image.fromarray(photo()), "TGA"))
    assert difference(decode_picture(path), photo()) == 0
    other = path.rename(tmp_path / "a.jpg")
    other.write_bytes(other.read_bytes()[:-26])  # without its signature it could be anything
    with pytest.raises(PictureError):
        decode_picture(other)


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"", ""),
        (b"\0" * 100, "ZEROS"),
        (b"P6 3 4", "PPM"),
        (b"PS", "TEXT"),
        ("löwe".encode()[:2], "TEXT"),  # cut in the middle of a letter
        (b"\xef\xbb\xbf<?xml?><svg/>", "SVG"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0mif1avif", "AVIF"),
        (b"\0\0\0\x14ftypheic\0\0\0\0heic", "HEIC"),
        (b"\x80\x81\x82\x83", ""),
    ],
)
def test_sniff(head, kind):
    assert sniff(head) == kind


@pytest.mark.parametrize("orientation", [1, 6])
def test_large_photos_are_decoded_smaller_but_look_the_same(orientation):
    random = np.random.default_rng(3)
    coarse = random.integers(0, 256, (24, 32, 3), dtype=np.uint8)
    photo_image = Image.fromarray(coarse).resize((2900, 2000), Image.Resampling.BICUBIC)
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = as_bytes(photo_image, "JPEG", exif=exif, quality=92)
    shape = (200, 160, 3)
    whole, reduced = decode_picture(data), decode_reduced(data, side_to_decode(shape))
    assert reduced.full_size == whole.shape[:2]
    assert min(reduced.pixels.shape[:2]) == 2000 // 2
    for fit in ("crop", "stretch", "pad"):
        one, other = (fit_picture(p, shape, fit=fit) for p in (whole, reduced.pixels))
        assert np.abs(one.astype(int) - other).mean() < 1
    assert decode_reduced(data, 900).pixels.shape == reduced.pixels.shape
    assert decode_reduced(data, 1001).pixels.shape == whole.shape
    assert (decode_reduced(data, 0).pixels == whole).all()


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "TIFF"])
def test_other_files_are_decoded_whole(kind):
    image = Image.fromarray(np.full((900, 700, 3), 77, np.uint8))
    decoded = decode_reduced(as_bytes(image, kind), 50)
    assert decoded.pixels.shape == (900, 700, 3)
    assert decoded.full_size == (900, 700)


def test_what_is_no_image_is_said_once(tmp_path):
    path = tmp_path / "notes.jpg"
    path.write_text("Notes on the walk, and on the light that day.\n" * 9)
    with pytest.raises(PictureError) as caught:
        decode_picture(path)
    assert "not an image" in caught.value.what
    assert caught.value.received == "text"


def test_heic_photos_are_read_where_their_decoder_is_installed(shared_data):
    """Without it the message names the line that installs it."""
    photo = shared_data / "odd_images/heic_photo.heic"
    if importlib.util.find_spec("pillow_heif") is not None:
        original = decode_picture(shared_data / "flowers/tulips/15049902081_dd85361f8c_m.jpg")
        assert decode_picture(photo).shape[2] == original.shape[2] == 3
        assert abs(decode_picture(photo).mean() - original.mean()) < 3
        return
    with pytest.raises(PictureError, match="not an image that can be read") as caught:
        decode_picture(photo)
    assert HEIC.install_command in caught.value.fix
    assert caught.value.part == HEIC.key


def test_an_error_names_the_part_that_would_decode_the_picture(monkeypatch):
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    with pytest.raises(PictureError) as caught:
        decode_picture(b"\0\0\0\x14ftypheic\0\0\0\0heic")
    assert caught.value.part == HEIC.key
    with pytest.raises(PictureError) as caught:
        decode_picture(b"text")
    assert caught.value.part == ""
