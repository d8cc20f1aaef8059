"""Ids of images by their content: equal for equal bytes, read once, stable, never through links."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from tests.contexts import CancelledForTest, PlainContext
from workbench.core.projects.data_edits import is_content
from workbench.core.specs import ArrayPart, FilePart
from workbench.errors import LinkFoundError
from workbench.pictures import contents as contents_module
from workbench.pictures.contents import contents_of


def part_of(paths: list[Path]) -> FilePart:
    return FilePart(tuple(map(str, paths)), np.zeros(len(paths), np.int64))


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.fixture
def ctx(tmp_path):
    return PlainContext(tmp_path / "cache")


def ids(part, ctx) -> list[str]:
    return [each.decode() for each in contents_of(part, ctx)]


def test_a_file_has_the_first_half_of_its_sha256(tmp_path, ctx):
    path = write(tmp_path, "a/one.png", b"some bytes")
    assert ids(part_of([path]), ctx) == [hashlib.sha256(b"some bytes").hexdigest()[:32]]
    assert is_content(ids(part_of([path]), ctx)[0])


def test_copies_and_renamed_files_have_one_id(tmp_path, ctx):
    paths = [write(tmp_path, f"{n}/{n}.jpg", b"same" * 9) for n in range(3)]
    paths.append(write(tmp_path, "other.jpg", b"other"))
    found = ids(part_of(paths), ctx)
    assert len(set(found[:3])) == 1
    assert found[3] != found[0]
    moved = paths[0].rename(tmp_path / "elsewhere.jpg")
    assert ids(part_of([moved]), ctx) == found[:1]


def test_a_second_look_reads_no_file_and_a_changed_file_is_read_again(tmp_path, ctx, monkeypatch):
    paths = [write(tmp_path, f"data/{n}.jpg", f"image {n}".encode()) for n in range(200)]
    first = ids(part_of(paths), ctx)
    paths[17].write_bytes(b"changed, and longer")
    read = []
    real = contents_module.content_of_file
    monkeypatch.setattr(
        contents_module, "content_of_file", lambda path: (read.append(path), real(path))[1]
    )
    second = ids(part_of(paths), ctx)
    assert read == [str(paths[17])]
    assert [n for n in range(200) if first[n] != second[n]] == [17]


def test_parts_of_one_folder_keep_each_others_ids(tmp_path, ctx, monkeypatch):
    paths = [write(tmp_path, f"data/{n}.jpg", f"image {n}".encode()) for n in range(20)]
    first = ids(part_of(paths[:10]), ctx) + ids(part_of(paths[10:]), ctx)
    monkeypatch.setattr(contents_module, "content_of_file", lambda path: None)
    assert ids(part_of(paths[:10]), ctx) + ids(part_of(paths[10:]), ctx) == first


def test_unreadable_files_have_ids_of_their_paths(tmp_path, ctx):
    missing = [tmp_path / "data/gone.jpg", tmp_path / "data/gone2.jpg", tmp_path / "zero\0.jpg"]
    os.mkfifo(tmp_path / "pipe.jpg")  # opening it would wait for ever
    paths = [*missing, tmp_path / "pipe.jpg", tmp_path]
    found = ids(part_of(paths), ctx)
    assert len(set(found)) == 5
    assert all(map(is_content, found))
    assert ids(part_of(paths), ctx) == found


def test_a_file_that_becomes_readable_gets_the_id_of_its_bytes(tmp_path, ctx):
    path = tmp_path / "data/late.jpg"
    before = ids(part_of([path]), ctx)
    write(tmp_path, "data/late.jpg", b"here now")
    assert ids(part_of([path]), ctx) == [hashlib.sha256(b"here now").hexdigest()[:32]] != before


@pytest.mark.parametrize(
    "harm", [lambda data: data[:-5], lambda data: data[:60] + b"?" + data[61:]]
)
def test_a_damaged_index_is_made_again(tmp_path, ctx, harm):
    paths = [write(tmp_path, f"data/{n}.jpg", f"image {n}".encode()) for n in range(20)]
    first = ids(part_of(paths), ctx)
    (index,) = (Path(ctx.cache_folder) / "contents").glob("*.index")
    index.write_bytes(harm(index.read_bytes()))
    assert ids(part_of(paths), ctx) == first
    assert contents_module._read_index(index)


def test_no_index_is_written_through_a_link(tmp_path, ctx):
    outside = tmp_path / "outside"
    outside.mkdir()
    cache = Path(ctx.cache_folder)
    cache.mkdir(exist_ok=True)
    (cache / "contents").symlink_to(outside)
    path = write(tmp_path, "data/a.jpg", b"x")
    with pytest.raises(LinkFoundError):
        contents_of(part_of([path]), ctx)
    assert not list(outside.iterdir())


def test_images_in_memory_count_by_pixels_and_shape(ctx):
    pixels = np.arange(2 * 4 * 6 * 1, dtype=np.uint8).reshape(2, 4, 6, 1)
    same = np.concatenate([pixels, pixels[:1]])
    labels = np.zeros(3, np.int64)
    found = ids(ArrayPart(same, labels), ctx)
    assert found[0] == found[2] != found[1]
    turned = ids(ArrayPart(same.reshape(3, 6, 4, 1), labels), ctx)
    assert not set(turned) & set(found)


def test_it_can_be_canceled_and_reports_progress(tmp_path):
    paths = [write(tmp_path, f"data/{n}.jpg", f"image {n}".encode()) for n in range(500)]
    ctx = PlainContext(tmp_path / "cache")
    contents_of(part_of(paths), ctx)
    assert any("500" in text for text, _ in ctx.reported)
    stopped = PlainContext(tmp_path / "cache2", cancel_after=1)
    with pytest.raises(CancelledForTest):
        contents_of(part_of(paths), stopped)


def test_no_images_have_no_ids(ctx):
    assert len(contents_of(part_of([]), ctx)) == 0
