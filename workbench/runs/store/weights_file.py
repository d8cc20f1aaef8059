"""Weights as plain arrays in one file: no pickle, no HDF5, and a checksum over the content.

The file is an uncompressed `.npz` (NumPy reads it), whose zip comment holds the checksum.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import shutil
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from workbench.core.checks.analysis import analyse
from workbench.core.network.graph import Graph, keras_names
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import graph_from_plain
from workbench.core.storage.foreign_file import open_foreign
from workbench.core.storage.save import Sink, save_stream
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import UsageError, WeightsError
from workbench.layers import all_layers
from workbench.runs.environment import is_remote
from workbench.runs.folder import InitialWeights, RunFolder, create_run
from workbench.runs.model_card import WEIGHTS_NAME, ModelCard

Arrays = Mapping[str, np.ndarray[Any, Any]]

_PREFIX = b"workbench sha256:"
_KINDS = "biufc"
_ZIP_FAULTS = (zipfile.BadZipFile, NotImplementedError, RuntimeError)
"""What zipfile raises on damaged archives; RuntimeError where a flipped bit claims encryption."""

_MAX_HEADER_BYTES = 10_000
_MAX_DIRECTORY_BYTES = 8 * 1024 * 1024


def array_checksum(arrays: Arrays) -> str:
    """SHA-256 over names, types, shapes and values; the order does not matter."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        for part in _checked_parts(name, np.asarray(arrays[name])):
            digest.update(part)
    return digest.hexdigest()


def _checked_parts(name: str, array: np.ndarray[Any, Any]) -> tuple[bytes, memoryview]:
    """What of an array is in the checksum."""
    head = f"{name}\0{array.dtype.str}\0{array.shape}\0".encode()
    return head, np.ascontiguousarray(array).data


def write_arrays(path: Path, arrays: Arrays) -> str:
    """Writes all arrays, whole or not at all, without a second copy in memory; returns the
    checksum.

    Args:
        path: File to write; an earlier one stays until the new one is complete.
        arrays: Plain numeric arrays by name; names may hold "/".

    Raises:
        SaveError: the file cannot be written.
        TypeError: an array that is not numeric (a fault of the caller).
    """
    for name, array in arrays.items():
        if np.asarray(array).dtype.kind not in _KINDS:
            raise TypeError(f"{name}: {np.asarray(array).dtype} is not a plain number type")
    checksum = array_checksum(arrays)

    def write(file: Sink) -> None:
        with zipfile.ZipFile(cast("IO[bytes]", file), "w", zipfile.ZIP_STORED) as archive:
            for name, array in arrays.items():
                # A fixed date: equal weights give equal files.
                member = zipfile.ZipInfo(f"{name}.npy")
                with archive.open(member, "w", force_zip64=True) as part:
                    np.lib.format.write_array(part, np.asarray(array), allow_pickle=False)
            archive.comment = _PREFIX + checksum.encode()

    save_stream(path, write)
    return checksum


def read_arrays(
    path: Path,
    *,
    checksum: str = "",
    data: bytes | None = None,
    max_bytes: int | None = None,
    layers: Collection[str] | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """Reads all arrays, and checks them.

    Args:
        path: The file.
        checksum: Checksum in a model card, which the content must have; "" for any.
        data: The file's content, where that is read already.
        max_bytes: Longest file; None for any.
        layers: What the names of arrays may begin with, up to a "/"; None for anything.

    Raises:
        WeightsError: missing, damaged, too long, not ours, or not the file that the card names.
    """
    with _opened(path, data, max_bytes) as archive:
        if layers is not None:
            _refuse_others(archive.namelist(), layers)
        stored = archive.comment.removeprefix(_PREFIX).decode("ascii")
        arrays = {
            member.filename.removesuffix(".npy"): _read_member(archive, member)
            for member in archive.infolist()
        }
    _check_digest(path, array_checksum(arrays), stored, checksum)
    return arrays


def _check_digest(path: Path, actual: str, stored: str, checksum: str) -> None:
    if actual != stored:
        raise _damaged(path, "the content does not match its checksum")
    if checksum and actual != checksum:
        raise WeightsError(
            "The weights do not match the model card.",
            where=str(path),
            received=f"checksum {actual[:12]}...",
            expected=f"checksum {checksum[:12]}...",
            fix="Copy the whole run folder again.",
        )


def check_arrays(path: Path, *, checksum: str = "", max_bytes: int | None = None) -> None:
    """Checks a file as `read_arrays`, with one array at a time in memory; raises WeightsError."""
    digest = hashlib.sha256()
    with _opened(path, None, max_bytes) as archive:
        stored = archive.comment.removeprefix(_PREFIX).decode("ascii")
        members = {each.filename.removesuffix(".npy"): each for each in archive.infolist()}
        for name in sorted(members):
            for part in _checked_parts(name, _read_member(archive, members[name])):
                digest.update(part)
    _check_digest(path, digest.hexdigest(), stored, checksum)


def read_array(path: Path, name: str, *, max_bytes: int) -> np.ndarray[Any, Any]:
    """One array of at most so many bytes, not held against the checksum (zip's own CRC is); raises
    WeightsError.
    """
    with _opened(path) as archive:
        member = archive.getinfo(f"{name}.npy")
        if member.file_size > max_bytes:
            raise ValueError(f"an array of {member.file_size:,} bytes")
        return _read_member(archive, member)


@contextlib.contextmanager
def _opened(
    path: Path, data: bytes | None = None, max_bytes: int | None = None
) -> Iterator[zipfile.ZipFile]:
    """A file of arrays, or `data` in its place, whose directory claims no more than it has; raises
    WeightsError, also for what is raised inside.
    """
    try:
        with open_foreign(path) if data is None else io.BytesIO(data) as file:
            size = file.seek(0, io.SEEK_END)
            if max_bytes is not None and size > max_bytes:
                raise WeightsError(
                    "The weights file is too long for its network.",
                    where=str(path),
                    received=f"{size:,} bytes",
                    expected=f"at most {max_bytes:,} bytes",
                    fix="Copy the whole run folder again, or train again.",
                )
            with zipfile.ZipFile(cast("IO[bytes]", _Portions(file))) as archive:
                _check_directory(archive, size)
                yield archive
    except FileNotFoundError as error:
        raise WeightsError("The weights file is missing.", where=str(path)) from error
    except (OSError, ValueError, KeyError, EOFError, OverflowError, *_ZIP_FAULTS) as error:
        raise _damaged(path, str(error) or type(error).__name__) from error


class _Portions:
    """A file of which zipfile gets no more at once than an honest directory has: it would read a
    directory of any length that the last bytes of the file claim. `read_freely` ends that.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable
        self._file = file
        self._most: int | None = _MAX_DIRECTORY_BYTES

    def read_freely(self) -> None:
        """The directory was read, and its sizes are right."""
        self._most = None

    def read(self, size: int = -1) -> bytes:
        """Reads bytes as a file does; raises BadZipFile for a directory that is too long."""
        if self._most is None:
            return self._file.read(size)
        data = self._file.read(self._most + 1 if size < 0 else min(size, self._most + 1))
        if len(data) > self._most:
            raise zipfile.BadZipFile("a directory that is too long")
        return data

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def _check_directory(archive: zipfile.ZipFile, size: int) -> None:
    """Refuses a directory that has one name twice, or the same bytes as several arrays."""
    members = archive.infolist()
    if len({member.filename for member in members}) < len(members):
        raise ValueError("an array twice")
    if sum(member.file_size for member in members) > size:
        raise ValueError("more bytes of arrays than the file has")
    cast("_Portions", archive.fp).read_freely()


def _refuse_others(names: Iterable[str], layers: Collection[str]) -> None:
    others = [name for name in names if name.partition("/")[0] not in layers]
    if others:
        raise ValueError(f"{others[0][:80]!r}, which is no weight of this network")


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray[Any, Any]:
    # Stored, so that no small file unpacks into a huge one.
    if member.compress_type != zipfile.ZIP_STORED or not member.filename.endswith(".npy"):
        raise ValueError(f"unexpected member {member.filename[:80]!r}")
    with archive.open(member) as file:
        data = file.read()
    return _array_from(data)


def _array_from(data: bytes) -> np.ndarray[Any, Any]:
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read_header is None:
        raise ValueError(f"unexpected array version {version}")
    shape, is_fortran, dtype = read_header(file, max_header_size=_MAX_HEADER_BYTES)
    if dtype.kind not in _KINDS:
        raise ValueError(f"unexpected array type {dtype}")
    if any(size < 0 for size in shape):
        raise ValueError("negative array size")
    values = np.frombuffer(data, dtype, offset=file.tell())
    return values.reshape(shape, order="F" if is_fortran else "C").copy()


def _damaged(path: Path, reason: str) -> WeightsError:
    return WeightsError(
        "The weights file is damaged.",
        where=str(path),
        received=reason,
        expected="a weights file written by Workbench",
        fix="Restore the run folder from a copy, or train again.",
    )


# run weights ---------------------------------------------------------------------------------
# The weights that a run has kept, held against its own network before they are read.
#
# A run folder may come from elsewhere: a file of any length could have their name.

_ROOM_BYTES = 1024 * 1024
"""For names and shapes."""

_COPIES = 12
_CHECKPOINT_BYTES = 64 * 1024 * 1024


def read_run_weights(folder: Path, card: ModelCard) -> Arrays:
    """The weights in a run's folder, which are those of its card.

    Raises:
        ProjectFileError: the card's graph is damaged.
        WeightsError: missing, damaged, of another model, or more than twice as many bytes as the
            network's weights are.
    """
    path = folder / WEIGHTS_NAME
    graph = graph_from_plain(card.graph, str(folder))
    most = weights_room(graph)
    layers = frozenset(keras_names(graph).values())
    return read_arrays(path, checksum=card.checksum, max_bytes=most, layers=layers)


def bytes_of_weights(graph: Graph) -> int:
    """How many bytes the weights of a network are in float32."""
    return 4 * analyse(graph, all_layers(), recipe=TrainingRecipe()).costs.parameters.total


def weights_room(graph: Graph) -> int:
    """The most bytes that a file with the weights of a network can have."""
    return 2 * bytes_of_weights(graph) + _ROOM_BYTES


def checkpoint_room(run: RunFolder) -> int:
    """The most bytes that a checkpoint of a run can have: its weights with all that an optimizer
    keeps of each, their averages, and what the trainer knows beside them.

    Raises:
        RunFolderError, ProjectFileError: its request is missing or damaged.
    """
    return _COPIES * bytes_of_weights(run.request().to_project().graph) + _CHECKPOINT_BYTES


# initial weights -----------------------------------------------------------------------------
# Runs that start from the weights of another run.
#
# A copy of the weights is in the new run's folder: it can be resumed when the other run is gone, or
# has other weights.

INITIAL_NAME = "initial.npz"


def create_run_from(source: RunFolder | None, project: Project, **how: Any) -> RunFolder:
    """Makes the folder of a new run; it starts from the weights that another one has kept.

    Args:
        source: The other run; None to start from random and pretrained weights.
        project: What to train; layers of the same name and shape get the weights.
        how: As `create_run` takes it.

    Raises:
        RunFolderError, ProjectFileError, WeightsError: `source` has no weights, or damaged ones.
        UsageError: no layer can get any, or the target is another computer.
        SaveError, RunError: the new run cannot be written; nothing of it is left.
    """
    if source is None:
        return create_run(project, **how)
    if is_remote(project.target):
        raise UsageError(
            "A run on another computer cannot start from the weights of a run.",
            where="target",
            expected="training on this computer",
            fix="Train on this computer, or from new weights.",
        )
    card = source.model_card()
    arrays = read_run_weights(source.path, card)
    _check_names(source, project, arrays)
    words = _words(source, project)
    initial = InitialWeights(run=words, epoch=card.kept_epoch, checksum=card.checksum)
    run = create_run(project, initial=initial, **how)
    try:
        write_arrays(run.path / INITIAL_NAME, arrays)
    except BaseException:
        shutil.rmtree(run.path, ignore_errors=True)
        raise
    return run


def read_initial(run: RunFolder) -> Arrays | None:
    """The weights that a run starts from, by the names of `read_weights`; None for none.

    Raises:
        WeightsError: they are missing or damaged, or not those of the request.
    """
    initial = run.request().initial
    if initial is None:
        return None
    return read_arrays(
        run.path / INITIAL_NAME, checksum=initial.checksum, max_bytes=checkpoint_room(run)
    )


def initial_words(initial: InitialWeights | None) -> str:
    """Source of the initial weights: "run 3, epoch 5"; "" for random and pretrained ones."""
    if initial is None:
        return ""
    return f"{initial.run}, epoch {initial.epoch:,}" if initial.epoch else initial.run


def _words(source: RunFolder, project: Project) -> str:
    request = source.request()
    is_own = request.number and request.project_id == project.id
    return f"run {request.number}" if is_own else source.name


def _check_names(source: RunFolder, project: Project, arrays: Arrays) -> None:
    """Raises UsageError where no layer of the project has the name of one with weights."""
    have = {name.partition("/")[0] for name in arrays}
    if have.isdisjoint(node.name for node in project.graph.nodes.values()):
        raise UsageError(
            "The weights are of another network.",
            where=source.name,
            received=", ".join(sorted(have)[:6]),
            expected="layers with the names of the project's layers",
            fix="Choose a run of this network, or train from new weights.",
        )
