"""Images with the same content: an id of each image, made of its bytes.

The id of a file is the first half of the sha256 of its bytes, that of pixels in memory the same
of their shape and values (`core.projects.data_edits`). Files are read once: their ids are kept in
the cache folder under path, size and time of change.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from workbench.core.projects.data_edits import CONTENT_DIGITS
from workbench.core.specs import ArrayPart, FilePart, LoadContext, Part
from workbench.core.storage.foreign_file import open_foreign, read_foreign
from workbench.core.storage.own_file import make_private, refuse_link, replace_own
from workbench.errors import LinkFoundError

# steps ---------------------------------------------------------------------------------------
# Work on many images in threads, a step of images at a time, with progress.

STEP = 64
"""Images a thread takes at a time, where its results are small."""

_AHEAD = 2
"""Steps that are begun for each thread: memory does not grow with the number of images."""

T = TypeVar("T")


def in_steps(
    step: Callable[[slice], list[T]], count: int, ctx: LoadContext, words: str, *, size: int = STEP
) -> Iterator[T]:
    """What `step` gives for a few images at a time, side by side, in order; a few steps ahead at
    most.

    Args:
        step: Places of the images of a step -> a result for each of them.
        count: Number of all images.
        ctx: Progress is reported to it; its exception for canceling ends the work.
        words: What is being done.
        size: Images of a step.
    """
    workers = min(8, (os.cpu_count() or 1) + 1)
    waiting: deque[Future[list[T]]] = deque()
    steps = (slice(start, start + size) for start in range(0, count, size))
    done = 0
    pool = ThreadPoolExecutor(workers, thread_name_prefix="images")
    try:
        waiting.extend(pool.submit(step, places) for places in islice(steps, workers * _AHEAD))
        while waiting:
            ctx.check_cancelled()
            ctx.progress(f"{words}: {done:,} of {count:,}", done / count)
            results = waiting.popleft().result()
            waiting.extend(pool.submit(step, places) for places in islice(steps, 1))
            done += len(results)
            yield from results
    finally:
        pool.shutdown(cancel_futures=True)
    ctx.progress(f"{words}: {count:,} of {count:,}", 1.0)


# contents ------------------------------------------------------------------------------------

Contents = np.ndarray[Any, np.dtype[np.bytes_]]
"""Ids of images: (n,) of CONTENT_DIGITS hexadecimal digits, dtype S32."""


_DTYPE = np.dtype(f"S{CONTENT_DIGITS}")
_ID_BYTES = CONTENT_DIGITS // 2

_MAGIC = b"workbench contents 1\n"
_CHECKSUM_BYTES = 32
_WORDS = "Hashing the images"

_KEEP_OTHERS = 100_000
"""Entries of files that are not of the part at hand which an index keeps at least: another part
of the same folder may be read in turn with it."""

_MAX_INDEX_BYTES = 256 * 2**20
_KEEP_INDEXES = 64
"""Indexes kept, one for each folder; the longest unused go first."""


def contents_of(part: Part, ctx: LoadContext) -> Contents:
    """The id of each image of a part, in its order. Equal bytes, equal ids.

    A file that cannot be read has an id of its path, which no content has.

    Raises:
        LinkFoundError: a link is where the index belongs.
        Exception: the caller's own for canceling.
    """
    if isinstance(part, ArrayPart):
        return _of_arrays(part, ctx)
    return _of_files(part, ctx)


def content_of_pixels(pixels: np.ndarray[Any, np.dtype[np.uint8]]) -> bytes:
    """The id of one image in memory, (height, width, channels), as 16 bytes."""
    digest = hashlib.sha256(repr(tuple(map(int, pixels.shape))).encode())
    digest.update(np.ascontiguousarray(pixels).data)
    return digest.digest()[:_ID_BYTES]


def content_of_file(path: str) -> bytes | None:
    """The id of one file as 16 bytes; None where it cannot be read."""
    try:
        with open_foreign(path) as file:
            return hashlib.file_digest(file, "sha256").digest()[:_ID_BYTES]
    except OSError:
        return None


def _of_arrays(part: ArrayPart, ctx: LoadContext) -> Contents:
    def step(places: slice) -> list[bytes]:
        return [content_of_pixels(pixels) for pixels in np.asarray(part.pictures[places])]

    return np.array([content.hex() for content in in_steps(step, len(part), ctx, _WORDS)], _DTYPE)


def _of_files(part: FilePart, ctx: LoadContext) -> Contents:
    index = _Index.of(part.paths, Path(ctx.cache_folder) / "contents")
    marks = list(_marks(part.paths, ctx))
    ids = [None if mark is None else index.ids.get(mark) for mark in marks]
    missing = [at for at, found in enumerate(ids) if found is None]
    new: dict[bytes, bytes] = {}
    for at, found in zip(missing, _read([part.paths[at] for at in missing], ctx), strict=True):
        ids[at] = found
        mark = marks[at]
        if found is not None and mark is not None:
            new[mark] = found
    if new:
        index.store(new, in_use=marks)
    whole = [
        _of_path(path) if found is None else found
        for path, found in zip(part.paths, ids, strict=True)
    ]
    return np.array([found.hex() for found in whole], _DTYPE)


def _read(paths: Sequence[str], ctx: LoadContext) -> Iterator[bytes | None]:
    def step(places: slice) -> list[bytes | None]:
        return [content_of_file(path) for path in paths[places]]

    yield from in_steps(step, len(paths), ctx, _WORDS)


def _of_path(path: str) -> bytes:
    return hashlib.sha256(b"unreadable\0" + _absolute(path)).digest()[:_ID_BYTES]


def _absolute(path: str) -> bytes:
    return os.path.abspath(path).encode(errors="surrogateescape")  # noqa: PTH100 - bytes of it


def _marks(paths: Sequence[str], ctx: LoadContext) -> Iterator[bytes | None]:
    """Which file is at each path, by path, size and time of change; None where there is none."""

    def step(places: slice) -> list[bytes | None]:
        return [_mark(path) for path in paths[places]]

    yield from in_steps(step, len(paths), ctx, _WORDS)


def _mark(path: str) -> bytes | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - a hundred thousand Paths are slow
    except (OSError, ValueError):
        return None
    text = b"%b\0%d\0%d" % (_absolute(path), status.st_size, status.st_mtime_ns)
    return hashlib.blake2b(text, digest_size=_ID_BYTES).digest()


class _Index:
    """The ids of the files below one folder, kept on disk; one that is damaged is made again.

    Attributes:
        ids: Mark of a file (path, size, time of change) -> its id in bytes.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.ids = _read_index(path)

    @classmethod
    def of(cls, paths: Sequence[str], folder: Path) -> _Index:
        """The index for some files; raises LinkFoundError."""
        refuse_link(folder)
        folders = {os.path.dirname(_absolute(path)) for path in paths}  # noqa: PTH120 - bytes
        common = os.path.commonpath(folders) if folders else b""
        return cls(folder / f"{hashlib.sha256(common).hexdigest()[:32]}.index")

    def store(self, new: Mapping[bytes, bytes], in_use: Iterable[bytes | None]) -> None:
        """Adds ids; those of files not in use are kept as long as there are not too many of them.
        Where the disk is full the files are read again next time.
        """
        used = set(in_use)
        others = [mark for mark in self.ids if mark not in used][-_KEEP_OTHERS:]
        kept = [*others, *(mark for mark in self.ids if mark in used)]
        self.ids = {**{mark: self.ids[mark] for mark in kept}, **new}
        data = b"".join(mark + content for mark, content in self.ids.items())
        with contextlib.suppress(OSError, LinkFoundError):
            make_private(self._path.parent)
            replace_own(self._path, _MAGIC + hashlib.sha256(data).digest() + data)
            _forget_old(self._path.parent)


def _read_index(path: Path) -> dict[bytes, bytes]:
    """The entries of an index; none where there is none, or where it is damaged."""
    try:
        refuse_link(path)
        data = read_foreign(path, _MAX_INDEX_BYTES)
        os.utime(path, follow_symlinks=False)  # used just now
    except (OSError, LinkFoundError):
        return {}
    start = len(_MAGIC) + _CHECKSUM_BYTES
    entries, size = data[start:], 2 * _ID_BYTES
    is_whole = data.startswith(_MAGIC) and len(entries) % size == 0
    if not is_whole or hashlib.sha256(entries).digest() != data[len(_MAGIC) : start]:
        return {}
    return {
        entries[at : at + _ID_BYTES]: entries[at + _ID_BYTES : at + size]
        for at in range(0, len(entries), size)
    }


def _forget_old(folder: Path) -> None:
    """Removes the longest unused indexes."""
    paths = sorted(folder.glob("*.index"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in paths[_KEEP_INDEXES:]:
        path.unlink(missing_ok=True)
