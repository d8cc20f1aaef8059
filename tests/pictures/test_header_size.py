"""The size of a picture by its first bytes: as a decoder has it, and never an exception."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from workbench.pictures.header_size import header_size


@pytest.mark.parametrize("kind", ["png", "jpeg", "gif", "bmp"])
@pytest.mark.parametrize("size", [(1, 1), (37, 200), (640, 3)])
def test_it_is_what_a_decoder_finds(tmp_path, kind, size):
    path = tmp_path / f"picture.{kind}"
    Image.new("RGB", size, (10, 20, 30)).save(path)
    assert header_size(path) == (size[1], size[0])


def test_a_jpeg_with_a_preview_in_front(tmp_path):
    path = tmp_path / "photo.jpg"
    exif = Image.Exif()
    exif[0x010E] = "x" * 20_000
    Image.new("RGB", (50, 40)).save(path, exif=exif, progressive=True)
    assert header_size(path) == (40, 50)


def test_what_is_missing_or_of_another_kind_has_none(tmp_path):
    (tmp_path / "text.jpg").write_text("hello")
    assert header_size(tmp_path / "text.jpg") is None
    assert header_size(tmp_path / "absent.jpg") is None
    assert header_size(tmp_path) is None
    assert header_size("a\0b") is None


@given(st.sampled_from([b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"BM"]), st.binary())
def test_any_bytes_give_a_size_or_none(tmp_path_factory, start, rest):
    path = tmp_path_factory.mktemp("any") / "x"
    path.write_bytes(start + rest)
    size = header_size(path)
    assert size is None or (len(size) == 2 and min(size) > 0)
