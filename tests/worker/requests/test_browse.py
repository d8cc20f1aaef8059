"""ListImages, MakeThumbnails and IdentifyImages through a real service worker; its cache."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from workbench.core.projects.data_edits import is_content
from workbench.pictures.png import write_png
from workbench.protocol.describe_data import (
    IdentifyImages,
    ImagePlace,
    ListedImages,
    ListImages,
    MakeThumbnails,
    ThumbnailsMade,
)
from workbench.protocol.messages import Failed
from workbench.protocol.service_call import ServiceCall
from workbench.worker.requests.browse.handlers import ThumbnailCache

pytestmark = pytest.mark.worker

COUNT = 700
"""More than one answer holds."""


@pytest.fixture(scope="module")
def service():
    with ServiceCall() as service:
        yield service


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("data") / "trees"
    for label, name in enumerate(("ash", "oak")):
        (root / name).mkdir(parents=True)
        for number in range(COUNT if label else 3):
            pixels = np.full((30, 40, 3), (200 * label, number % 250, number // 250), np.uint8)
            write_png(root / name / f"{number}.png", pixels)
    Image.new("RGB", (600, 300), (9, 200, 9)).save(root / "ash" / "large.jpg")
    (root / "ash" / "bad.png").write_bytes(b"no image")
    return root


def source(folder, **edits):
    return {"source": "folder", "params": {"path": str(folder), "fit": "crop"}, "edits": edits}


def listed(service, folder, **edits):
    answers = list(service.answers(ListImages(id=1, **source(folder, **edits))))
    return [each for each in answers if isinstance(each, ListedImages)]


def made(service, folder, *indices):
    images = [ImagePlace("train", index) for index in indices]
    request = MakeThumbnails(id=1, images=images, **source(folder))
    answers = list(service.answers(request))
    parts = [each for each in answers if isinstance(each, ThumbnailsMade)]
    paths = [path for part in parts for path in part.paths]
    assert [image for part in parts for image in part.images] == images
    return paths


def test_all_images_are_listed_in_pieces(service, folder):
    pieces = listed(service, folder)
    assert len(pieces) > 1
    assert sum(len(piece.files) for piece in pieces) == COUNT + 5
    assert [piece.start for piece in pieces] == sorted(piece.start for piece in pieces)
    files = [file for piece in pieces for file in piece.files]
    assert len(set(files)) == len(files)
    sizes = [size for piece in pieces for size in piece.sizes]
    assert sizes == [Path(file).stat().st_size for file in files]
    labels = [label for piece in pieces for label in piece.labels]
    assert [Path(file).parent.name for file in files] == [("ash", "oak")[n] for n in labels]


def test_thumbnails_are_of_their_images_and_kept(service, folder):
    files = [file for piece in listed(service, folder) for file in piece.files]
    wanted = [files.index(str(folder / "oak" / f"{n}.png")) for n in range(40)]
    large = files.index(str(folder / "ash" / "large.jpg"))
    bad = files.index(str(folder / "ash" / "bad.png"))
    *paths, of_large, of_bad = made(service, folder, *wanted, large, bad)
    assert of_bad == ""
    with Image.open(of_large) as image:
        assert image.size == (128, 64)
    for number, path in enumerate(paths):
        with Image.open(path) as image:
            color = np.asarray(image)[15, 20].astype(int)
        assert np.abs(color - (200, number, 0)).max() < 8
    before = Path(paths[0]).stat().st_ino
    assert made(service, folder, wanted[0]) == [paths[0]]
    assert Path(paths[0]).stat().st_ino == before


def test_a_file_that_changes_has_another_thumbnail(service, folder):
    files = [file for piece in listed(service, folder) for file in piece.files]
    place = files.index(str(folder / "oak" / "7.png"))
    (before,) = made(service, folder, place)
    write_png(folder / "oak" / "7.png", np.full((30, 40, 3), 255, np.uint8))
    os.utime(folder / "oak" / "7.png", (1, 1))
    (after,) = made(service, folder, place)
    assert after != before
    with Image.open(after) as image:
        assert np.asarray(image).min() > 245


def test_contents_are_those_that_edits_name(service, folder):
    files = [file for piece in listed(service, folder) for file in piece.files]
    places = [files.index(str(folder / "oak" / f"{n}.png")) for n in (1, 2)]
    images = [ImagePlace("train", place) for place in places]
    *_, answer = service.answers(IdentifyImages(id=1, images=images, **source(folder)))
    assert all(map(is_content, answer.contents))
    left = [file for piece in listed(service, folder, left_out=answer.contents)
            for file in piece.files]  # fmt: skip
    gone = {str(folder / "oak" / f"{n}.png") for n in (1, 2)}
    # 251 and 252 have another third channel: no other image is an exact copy of these.
    assert set(files) - set(left) == gone


@pytest.mark.parametrize("place", [ImagePlace("train", 10**6), ImagePlace("test", 0)])
def test_an_image_that_is_gone_is_an_error(service, folder, place):
    for kind in (MakeThumbnails, IdentifyImages):
        *_, answer = service.answers(kind(id=1, images=[place], **source(folder)))
        assert isinstance(answer, Failed)
        assert "no longer in it" in answer.error.what


# the cache -------------------------------------------------------------------------------


def stored(cache, folder, number):
    file = folder / f"{number}.png"
    write_png(file, np.full((4, 4, 3), number, np.uint8))
    place = cache.place_of(str(file))
    assert cache.store(place, np.full((90, 90, 3), number, np.uint8))
    os.utime(place, (number, number))
    return place


def test_the_longest_unused_go_first(tmp_path):
    cache = ThumbnailCache(tmp_path / "cache", 96, keep_bytes=10**9)
    places = [stored(cache, tmp_path, number) for number in range(1, 7)]
    assert cache.find(places[0]), "used now"
    size = places[0].stat().st_size
    ThumbnailCache(tmp_path / "cache", 96, keep_bytes=3 * size).prune()
    assert [place.exists() for place in places] == [True, False, False, False, True, True]


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_nothing_is_written_through_a_link(tmp_path, depth):
    cache = ThumbnailCache(tmp_path / "cache", 96)
    place = stored(cache, tmp_path, 1)
    foreign = tmp_path / "foreign"
    link = (place, place.parent, place.parent.parent)[depth]
    if depth == 0:
        foreign.write_bytes(b"kept")
    link.rename(tmp_path / "away")
    foreign.mkdir() if depth else None
    link.symlink_to(foreign)
    assert not cache.store(place, np.zeros((9, 9, 3), np.uint8))
    assert not cache.find(place)
    assert foreign.read_bytes() == b"kept" if depth == 0 else not list(foreign.iterdir())


def test_a_missing_file_has_no_place(tmp_path):
    cache = ThumbnailCache(tmp_path, 96)
    assert cache.place_of(str(tmp_path / "gone.png")) is None
    assert cache.place_of("with\0zero") is None
