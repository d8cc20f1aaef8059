"""The images of a project as the file that an exported program trains on.

An .npz file: `x_train`, `y_train` and the same of `validation` and `test`: uint8 images of the
network's input shape (n, height, width, channels) and int64 class numbers, with the user's edits,
fitted and divided as a run of the project has them; `class_names`; `digest`, of all these; `split`,
where a split by content was cut, as JSON; and `format`. A part without images is there, too.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from workbench.core.format import bytes_text, list_text, plural
from workbench.core.projects.project import Project
from workbench.core.specs import LoadContext, LoadedData, Shape
from workbench.core.specs.dataset import SplitMarks, marks_to_plain
from workbench.core.storage.foreign_file import open_foreign
from workbench.core.storage.save import Sink, save_stream
from workbench.datasets import all_datasets
from workbench.errors import DatasetError, SaveError
from workbench.pictures.prepare import PreparedData, PreparedPart, prepare
from workbench.pictures.rows import Rows
from workbench.worker.input.sources import fit_of, load_data

FORMAT = "workbench-images 1"

MOST_BYTES = 4 * 10**9
"""Bytes of all images: a program holds them in memory twice, and Colab gives it 12 GB."""

_PARTS = ("train", "validation", "test")
_CHUNK_BYTES = 16 * 2**20
_DATE = (1980, 1, 1, 0, 0, 0)  # so that equal images are equal files
_LEVEL = 1  # photos hardly become smaller by more
_MOST_FORMAT_BYTES = 10_000

Labels = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class PackedImages:
    """Images, labels and parts of a project.

    Attributes:
        class_names: Name of each class number.
        parts: Images and labels by "train", "validation" and "test"; the second is empty where
            the test images validate.
        split: Where a split by content was cut.
        bad_files: (path, reason in words) of images that are not among them.
        source: The file or folder that they come from, which is never overwritten; None for
            none.
        ctx: Progress and canceling.
    """

    class_names: tuple[str, ...]
    parts: Mapping[str, tuple[Rows, Labels]]
    split: SplitMarks
    bad_files: tuple[tuple[str, str], ...]
    source: Path | None
    ctx: LoadContext

    @property
    def counts(self) -> tuple[int, int, int]:
        """Training, validation and test images."""
        train, validation, test = (len(labels) for _, labels in self.parts.values())
        return train, validation, test

    @cached_property
    def digest(self) -> str:
        """A sha256 of class names, labels and pixels, part by part: exported programs compute the
        same of what they read (`resources/programs/parts.py`).
        """
        digest = hashlib.sha256(json.dumps(list(self.class_names)).encode())
        for name, (rows, labels) in self.parts.items():
            digest.update(f"{name} {tuple(map(int, rows.shape))}".encode())
            digest.update(np.ascontiguousarray(labels, "<i8").tobytes())
            for chunk in self._chunks(rows, "Reading the images"):
                digest.update(chunk.tobytes())
        return digest.hexdigest()

    @property
    def words(self) -> str:
        """The parts, for people."""
        counts = zip(("training", "validation", "test"), self.counts, strict=True)
        words = list_text([f"{number:,} {name}" for name, number in counts if number])
        return f"{words} images of {plural(len(self.class_names), 'class', 'classes')}"

    def save(self, path: Path) -> None:
        """Writes the file.

        Raises:
            SaveError: another file than an earlier one of this kind has that name, or it could
                not be written.
        """
        self._refuse_other(path)
        save_stream(path, self._write)

    def _refuse_other(self, path: Path) -> None:
        is_source = self.source is not None and path.absolute() == self.source.absolute()
        if path.exists() and (is_source or not is_packed(path)):
            raise SaveError(
                "The images of the program were not written: another file has that name.",
                where=str(path),
                fix="Choose another name for the program, or move that file.",
            )

    def _write(self, file: Sink) -> None:
        with zipfile.ZipFile(cast("IO[bytes]", file), "w", allowZip64=True) as archive:
            _write_array(archive, "format", np.array(FORMAT))
            _write_array(archive, "digest", np.array(self.digest))
            _write_array(archive, "split", np.array(json.dumps(marks_to_plain(self.split))))
            _write_array(archive, "class_names", np.array(self.class_names))
            for name, (rows, labels) in self.parts.items():
                _write_array(archive, f"y_{name}", np.ascontiguousarray(labels, "<i8"))
                header = {"descr": "|u1", "fortran_order": False}
                with _member(archive, f"x_{name}") as member:
                    np.lib.format.write_array_header_2_0(
                        member, {**header, "shape": tuple(map(int, rows.shape))}
                    )
                    for chunk in self._chunks(rows, "Packing the images"):
                        member.write(chunk.tobytes())

    def _chunks(self, rows: Rows, words: str) -> Iterator[np.ndarray[Any, np.dtype[np.uint8]]]:
        count = len(rows)
        step = max(1, _CHUNK_BYTES // max(1, rows.nbytes // max(1, count)))
        for start in range(0, count, step):
            self.ctx.check_cancelled()
            self.ctx.progress(words, start / count)
            yield np.asarray(rows[start : start + step], np.uint8)


def is_loaded_there(project: Project, shape: Shape) -> bool:
    """Whether plain Keras loads the very images of a project: those of a published data set without
    edits, at its own size and without folds. They need no file.
    """
    spec = all_datasets().get(project.dataset.key)
    if spec is None or not spec.program or spec.shape != tuple(shape):
        return False
    return not project.edits.changes_data and not project.recipe.folds


def packed_images(
    ctx: LoadContext, project: Project, shape: Shape, num_outputs: int | None = None
) -> PackedImages:
    """What a run of a project would train on, validate and test with.

    Args:
        ctx: Progress and canceling.
        project: The project.
        shape: (height, width, channels) of the network's input.
        num_outputs: Scores that the network gives; None for any number.

    Raises:
        DatasetError: the images cannot be loaded, are too many, or have other classes than the
            network outputs.
        ParamError, UnknownPlaceError: as `load_data`.
    """
    loaded = load_data(ctx, project)
    if num_outputs is not None:
        refuse_other_outputs(loaded.class_names, num_outputs)
    _refuse_too_many(loaded, shape)
    params = project.dataset.params
    # Decoded once: they are read for the checksum, and once more to be written.
    recipe = project.recipe.with_values(pipeline="auto")
    prepared = prepare(loaded, shape=shape, fit=fit_of(params), recipe=recipe, ctx=ctx)
    return PackedImages(
        class_names=prepared.class_names,
        parts=_parts(prepared, shape),
        split=prepared.marks,
        bad_files=prepared.bad_files,
        source=Path(str(params["path"])) if params.get("path") else None,
        ctx=ctx,
    )


def refuse_other_outputs(class_names: Sequence[str], num_outputs: int) -> None:
    """Raises DatasetError where a network has not an output for each class."""
    if len(class_names) != num_outputs:
        raise DatasetError(
            f"The network has {plural(num_outputs, 'output')}, and the data set "
            f"{plural(len(class_names), 'class', 'classes')}.",
            expected="an output for each class",
            fix="Change the units of the last layer in Design.",
        )


def is_packed(path: Path) -> bool:
    """Whether a file holds packed images, by its format."""
    try:
        with open_foreign(path) as opened, zipfile.ZipFile(opened) as archive:
            if archive.getinfo("format.npy").file_size > _MOST_FORMAT_BYTES:
                return False
        with open_foreign(path) as opened, np.load(opened, allow_pickle=False) as file:
            return str(file["format"]) == FORMAT
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return False


def _parts(data: PreparedData, shape: Shape) -> dict[str, tuple[Rows, Labels]]:
    none = PreparedPart(np.zeros((0, *shape), np.uint8), np.zeros(0, np.int64))
    validation = None if data.validation is data.test else data.validation
    found = (data.train, validation or none, data.test or none)
    return {name: (part.x, part.y) for name, part in zip(_PARTS, found, strict=True)}


def _refuse_too_many(loaded: LoadedData, shape: Shape) -> None:
    count = sum(map(len, loaded.parts))
    num_bytes = count * int(np.prod(shape))
    if num_bytes > MOST_BYTES:
        raise DatasetError(
            "The images are too many to be packed for a program.",
            received=f"{count:,} images, {bytes_text(num_bytes)} at {' × '.join(map(str, shape))}",
            expected=f"at most {bytes_text(MOST_BYTES)}: a program holds them in memory",
            fix="Choose a smaller Input, or train on another computer over ssh.",
        )


def _write_array(archive: zipfile.ZipFile, name: str, array: np.ndarray[Any, Any]) -> None:
    with _member(archive, name) as member:
        np.lib.format.write_array(member, array, allow_pickle=False)


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    info = zipfile.ZipInfo(f"{name}.npy", date_time=_DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    info._compresslevel = _LEVEL  # type: ignore[attr-defined]  # noqa: SLF001 - public in 3.13
    info.create_system = 3
    info.external_attr = 0o600 << 16
    return archive.open(info, "w", force_zip64=True)
