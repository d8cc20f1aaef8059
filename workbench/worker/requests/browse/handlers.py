"""ListImages, MakeThumbnails and IdentifyImages: all images of a data set, to look through."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from PIL import Image

from workbench.core.specs import FilePart, LoadedData, Part, parts_of
from workbench.core.storage.own_file import make_own_folder, refuse_link, replace_own
from workbench.errors import DatasetError, LinkFoundError, PictureError, SaveError
from workbench.pictures.contents import content_of_file, content_of_pixels
from workbench.pictures.png import write_png
from workbench.pictures.thumbnails import part_picture, thumbnail
from workbench.protocol.bases import DataRequest
from workbench.protocol.describe_data import (
    IdentifyImages,
    ImageContents,
    ImagePlace,
    ListedImages,
    ListImages,
    MakeThumbnails,
    ThumbnailsMade,
)
from workbench.protocol.messages import Done
from workbench.worker.input.sources import edits_of, load_source
from workbench.worker.requests.session import Job

# thumbnail cache -----------------------------------------------------------------------------
# Small images of files, kept on disk: by path, size and time of change of the file.
#
# They can be made again: the longest unused go first when there are too many, and a full disk only
# means that they are made each time.

KEEP_BYTES = 512 * 2**20
"""About 100,000 thumbnails."""

_LOOK_EVERY = 2_000
"""So many new ones are written before their sizes are added up."""

_QUALITY = 90

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


class ThumbnailCache:
    """The thumbnails of one size below a cache folder."""

    def __init__(self, cache_folder: Path, size: int, *, keep_bytes: int = KEEP_BYTES) -> None:
        self._folder = cache_folder / "thumbnails"
        self._size = size
        self._keep_bytes = keep_bytes
        self._num_new = 0

    def place_of(self, file: str, value_range: str = "") -> Path | None:
        """Path that the thumbnail of a file, decoded with a range, has or would have; None where
        there is no such file.
        """
        try:
            status = os.stat(file)  # noqa: PTH116 - a hundred thousand Paths are slow
        except (OSError, ValueError):
            return None
        mark = f"{os.path.abspath(file)}\0{status.st_size}\0{status.st_mtime_ns}\0{self._size}"  # noqa: PTH100 - as above
        mark += f"\0{value_range}" if value_range else ""
        digest = hashlib.blake2b(mark.encode(errors="surrogateescape"), digest_size=16).hexdigest()
        return self._folder / digest[:2] / f"{digest[2:]}.jpg"

    def find(self, place: Path) -> bool:
        """Whether a thumbnail is there; it counts as used then."""
        try:
            refuse_link(place)
            os.utime(place, follow_symlinks=False)
        except (OSError, LinkFoundError):
            return False
        return True

    def store(self, place: Path, pixels: Pixels) -> bool:
        """Keeps a thumbnail; False where that is not possible."""
        try:
            for folder in (self._folder, place.parent):
                make_own_folder(folder, parents=True)
            replace_own(place, _jpeg(pixels))
        except (OSError, LinkFoundError):
            return False
        self._num_new += 1
        if self._num_new % _LOOK_EVERY == 0:
            self.prune()
        return True

    def prune(self) -> None:
        """Removes the longest unused beyond what is kept."""
        found: list[tuple[float, int, Path]] = []
        for path in self._folder.glob("??/*.jpg"):
            with contextlib.suppress(OSError):  # another process has removed it
                status = path.lstat()
                found.append((status.st_mtime, status.st_size, path))
        spare = sum(size for _, size, _ in found) - self._keep_bytes
        for _, size, path in sorted(found):
            if spare <= 0:
                break
            spare -= size
            path.unlink(missing_ok=True)


def _jpeg(pixels: Pixels) -> bytes:
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    file = io.BytesIO()
    image = Image.fromarray(np.ascontiguousarray(pixels))
    image.save(file, "JPEG", quality=_QUALITY, subsampling=0)
    return file.getvalue()


# handlers ------------------------------------------------------------------------------------

SIZE_PX = 128
"""Longer side of a thumbnail."""

_SHARPNESS = 2
"""A thumbnail is made from an image at least this many times as large."""

_LISTED, _MADE = 500, 16
"""Images in an answer."""

_MOST_PATH_BYTES = 600_000
"""Bytes of all file names in an answer, which is one line of the protocol."""


@dataclass
class _Last:
    """The data set that was browsed last: it is loaded once."""

    key: str = ""
    loaded: LoadedData | None = None


_last = _Last()


def list_images(job: Job, request: ListImages) -> Done:
    """Lists them as they are now.

    Raises:
        DatasetError: the source cannot be loaded.
    """
    _last.key = ""
    loaded = _loaded(job, request)
    for name, part in parts_of(loaded):
        start = 0
        while start < len(part):
            job.check_cancelled()
            job.progress("Listing the images", start / len(part))
            listed = _listed(job, name, part, start)
            job.send(listed)
            start += len(listed.files)
    return Done(id=job.id)


def make_thumbnails(job: Job, request: MakeThumbnails) -> Done:
    """Makes them by several threads; an image that cannot be read has none.

    Raises:
        DatasetError: the source cannot be loaded any more.
    """
    files = request.files or [""] * len(request.images)
    wanted = list(zip(request.images, files, strict=False))
    parts = {} if all(files) else dict(parts_of(_loaded(job, request)))
    folder = job.folder / f"browsed-{hashlib.sha256(_last.key.encode()).hexdigest()[:16]}"
    make = partial(_make, parts, _cache(job.cache_folder), folder)
    with ThreadPoolExecutor() as pool:
        for start in range(0, len(wanted), _MADE):
            job.check_cancelled()
            some = wanted[start : start + _MADE]
            paths = list(pool.map(make, some))
            job.send(ThumbnailsMade(id=job.id, images=[place for place, _ in some], paths=paths))
    return Done(id=job.id)


def identify_images(job: Job, request: IdentifyImages) -> ImageContents:
    """Reads what is asked for, nothing else.

    Raises:
        DatasetError: the source cannot be loaded any more.
    """
    parts = dict(parts_of(_loaded(job, request)))
    contents = []
    for place in request.images:
        job.check_cancelled()
        contents.append(_content(parts, place))
    return ImageContents(id=job.id, contents=contents)


def _loaded(job: Job, request: DataRequest) -> LoadedData:
    key = json.dumps([request.source, request.params, request.edits], sort_keys=True)
    if _last.loaded is None or key != _last.key:
        edits = edits_of(request.edits)
        _last.loaded = load_source(job, request.source, request.params, edits)
        _last.key = key
    return _last.loaded


def _listed(job: Job, name: str, part: Part, start: int) -> ListedImages:
    stop = min(len(part), start + _LISTED)
    if isinstance(part, FilePart):
        files = list(_fitting(part.paths[start:stop]))
        sizes = list(map(_num_bytes, part.paths[start : start + len(files)]))
    else:
        files, sizes = [""] * (stop - start), [0] * (stop - start)
    labels = np.asarray(part.labels[start : start + len(files)]).tolist()
    return ListedImages(id=job.id, part=name, start=start, labels=labels, files=files, sizes=sizes)


def _fitting(paths: tuple[str, ...]) -> Iterator[str]:
    """Yields as many paths as fit into an answer; "" for one that no JSON can hold."""
    size = 0
    for path in paths:
        shown = path if path.isprintable() else ""
        size += len(shown.encode()) + 3
        if size > _MOST_PATH_BYTES:
            return
        yield shown


def _num_bytes(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 - a hundred thousand Paths are slow
    except (OSError, ValueError):
        return 0


def _part_of(parts: dict[str, Part], place: ImagePlace) -> Part:
    part = parts.get(place.part)
    if part is None or not 0 <= place.index < len(part):
        raise DatasetError(
            "The data set has changed: this image is no longer in it.",
            received=f"{place.part}, image {place.index:,}",
            fix="Rescan the data set.",
        )
    return part


@cache
def _cache(folder: str) -> ThumbnailCache:
    """One for the life of the worker: it counts what it writes."""
    return ThumbnailCache(Path(folder), SIZE_PX)


def _make(
    parts: dict[str, Part],
    kept_ones: ThumbnailCache,
    folder: Path,
    wanted: tuple[ImagePlace, str],
) -> str:
    """The path of a thumbnail; "" where the image cannot be read."""
    place, file = wanted
    if file:
        part, index = cast("Part", FilePart((file,), np.zeros(1, np.int64))), 0
    else:
        part, index = _part_of(parts, place), place.index
    kept = None
    if isinstance(part, FilePart):
        kept = kept_ones.place_of(part.paths[index], part.value_range)
    if kept is not None and kept_ones.find(kept):
        return str(kept)
    digest = hashlib.sha256(file.encode(errors="surrogateescape")).hexdigest()[:32]
    path = folder / (f"{digest}.png" if file else f"{place.part}-{place.index}.png")
    if kept is None and not file and path.is_file():
        return str(path)
    try:
        pixels = part_picture(part, index, side=_SHARPNESS * SIZE_PX)
        small = thumbnail(pixels, SIZE_PX)
        if kept is not None and kept_ones.store(kept, small):
            return str(kept)
        write_png(path, small)
    except (PictureError, SaveError):
        return ""
    return str(path)


def _content(parts: dict[str, Part], place: ImagePlace) -> str:
    part = _part_of(parts, place)
    if isinstance(part, FilePart):
        found = content_of_file(part.paths[place.index])
    else:
        found = content_of_pixels(np.asarray(part.pictures[place.index]))
    return found.hex() if found is not None else ""
