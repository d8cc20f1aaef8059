"""Features of a run's images: those of the image map, and the references of the distance."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from workbench.core.calibration import LEAST_REFERENCES, MOST_BYTES, Halves
from workbench.core.data_check.image_map import Features
from workbench.core.projects.data_edits import PART_NAMES
from workbench.errors import RunFolderError, WeightsError
from workbench.protocol.trained.calibration import NOT_YET, Calibration
from workbench.runs.folder import RunFolder
from workbench.runs.home import check_own
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.store.image_scores import KeptArrays, ScoredImages, columns_of, images_of
from workbench.runs.store.weights_file import Arrays, read_arrays, write_arrays

# image map -----------------------------------------------------------------------------------
# All images of a run as a map, and the features that it is made of: two files in its folder.
#
# Uncompressed arrays with a checksum (weights_file.py). In image_map.npz: the columns of
# image_scores.py; `role`, the part of the training that an image is in, int8 (n,); `totals`, images
# of each part, int64 (3,); `pca`, places, float32 (n, 2); `shares` of the whole variance,
# float64 (2,); `model`, checksum of the weights, uint8 (32,); `created`, seconds, float64 (). In
# image_features.npz: `features`, float16 (n, k), rows of length 1; `basis`, float16 (d, k), the
# directions that they were reduced to, (0, 0) for none; `model` and `created`.
#
# The first is small and for the window, too; the features are for the worker alone.

IMAGE_MAP_NAME = "image_map.npz"
IMAGE_FEATURES_NAME = "image_features.npz"

TRAINING, VALIDATION, TEST = range(3)
"""Parts of a training, as `role` has them; their names are PART_NAMES."""

_ROOM_BYTES = 100_000
"""Names, shapes and checksum."""
_MAP = KeptArrays(
    max_bytes=64 * 2**20 + _ROOM_BYTES,  # 40,000 images in files with long names
    damage="The kept map of the images is damaged.",
    fix="Compute it again.",
)
_FEATURES = replace(_MAP, max_bytes=96 * 2**20 + _ROOM_BYTES)
"""30,000 rows of 512 numbers, and the directions."""

Points = np.ndarray[Any, np.dtype[np.float32]]
Numbers = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class ImageMap:
    """The images of a run, or a sample of them, (n,) each.

    Attributes:
        images: Where each is, and what the model answers for it.
        role: The part of the training that it is in: TRAINING, VALIDATION or TEST; int8.
        totals: How many images each part has in all, int64 (3,).
        points: Places by their principal components, float32 (n, 2).
        shares: Share of the whole variance along each axis, 0..1.
        weights: Checksum of the weights that the features are by, hexadecimal.
        created: Seconds since the epoch.
    """

    images: ScoredImages
    role: Numbers
    totals: Numbers
    points: Points
    shares: Numbers
    weights: str
    created: float

    def __len__(self) -> int:
        return len(self.role)

    @cached_property
    def counts(self) -> list[int]:
        """Images of each part that are in the map."""
        counted: list[int] = np.bincount(self.role, minlength=len(PART_NAMES)).tolist()
        return counted

    @property
    def is_sample(self) -> bool:
        """Whether some images of the run are not in it."""
        return bool(np.any(self.totals != self.counts))


def keep_image_map(run: RunFolder, found: ImageMap, features: Features | None = None) -> None:
    """Replaces the map in a run's folder, and the features where they are given.

    Raises:
        LinkFoundError: the folder is a link.
        SaveError: it cannot be written.
    """
    check_own(run.path)
    marks: dict[str, Numbers] = {
        "model": np.frombuffer(bytes.fromhex(found.weights), np.uint8),
        "created": np.array(found.created, "<f8"),
    }
    if features is not None:
        basis = np.zeros((0, 0)) if features.basis is None else features.basis
        rows = {"features": np.asarray(features.rows, "<f2"), "basis": np.asarray(basis, "<f2")}
        write_arrays(run.path / IMAGE_FEATURES_NAME, {**rows, **marks})
    columns: dict[str, Numbers] = {
        **columns_of(found.images),
        "role": np.asarray(found.role, "<i1"),
        "totals": np.asarray(found.totals, "<i8"),
        "shares": np.asarray(found.shares, "<f8"),
        "pca": np.asarray(found.points, "<f4"),
        **marks,
    }
    # The map last: it is of features that are there.
    write_arrays(run.path / IMAGE_MAP_NAME, columns)


def new_time() -> float:
    """The time by which a map and its features are known to belong together."""
    return time.time()


def load_image_map(run: RunFolder, checksum: str, num_classes: int) -> ImageMap | None:
    """The map of a run's weights with this checksum; None where there is none, or it is of others.
    Not for the window's thread.

    Raises:
        RunFolderError: the file is damaged.
    """
    arrays = _MAP.read(run.path / IMAGE_MAP_NAME)
    if arrays is None:
        return None
    images = images_of(arrays, num_classes)
    if images is None or not _is_map(arrays, len(images)):
        raise _MAP.damaged(run.path / IMAGE_MAP_NAME, "columns that cannot be of this model")
    if arrays["model"].tobytes().hex() != checksum:
        return None
    return ImageMap(
        images=images,
        role=arrays["role"],
        totals=arrays["totals"],
        points=arrays["pca"],
        shares=arrays["shares"],
        weights=checksum,
        created=float(arrays["created"]),
    )


def load_features(run: RunFolder, found: ImageMap) -> Features | None:
    """The features of a map; None where they are not there any more.

    Raises:
        RunFolderError: the file is damaged.
    """
    path = run.path / IMAGE_FEATURES_NAME
    arrays = _FEATURES.read(path)
    if arrays is None:
        return None
    if {*arrays} != {"features", "basis", "model", "created"} or not _has_marks(arrays):
        raise _FEATURES.damaged(path, "other arrays than features")
    if float(arrays["created"]) != found.created:
        return None
    rows, basis = arrays["features"], arrays["basis"]
    if any(each.dtype != "<f2" or each.ndim != 2 for each in (rows, basis)):
        raise _FEATURES.damaged(path, f"features {rows.dtype} {rows.shape}"[:100])
    if len(rows) != len(found) or (basis.size and basis.shape[1] != rows.shape[1]):
        raise _FEATURES.damaged(path, f"features {rows.shape} by {basis.shape}"[:100])
    if not (np.isfinite(rows).all() and np.isfinite(basis).all()):
        raise _FEATURES.damaged(path, "features that are not finite")
    return Features(rows, basis if basis.size else None)


def _has_marks(arrays: Arrays) -> bool:
    weights, created = arrays["model"], arrays["created"]
    is_weights = weights.dtype == np.uint8 and weights.shape == (32,)
    return bool(is_weights and created.dtype == "<f8" and created.shape == ())


def _is_map(arrays: Arrays, count: int) -> bool:
    """Whether the columns beside those of the images can be shown: a file may come from
    elsewhere.
    """
    types: dict[str, tuple[str, tuple[int, ...]]]
    types = {"role": ("<i1", (count,)), "totals": ("<i8", (3,)), "shares": ("<f8", (2,))}
    types |= {"pca": ("<f4", (count, 2)), "model": ("|u1", (32,)), "created": ("<f8", ())}
    if not arrays.keys() >= types.keys() or any(
        arrays[name].dtype != kind or arrays[name].shape != shape
        for name, (kind, shape) in types.items()
    ):
        return False
    role, totals = arrays["role"], arrays["totals"]
    return (
        all(bool(np.isfinite(arrays[name]).all()) for name in ("pca", "shares"))
        and bool(((role >= 0) & (role < 3)).all())
        and bool((totals >= np.bincount(role, minlength=3)).all())
        and count > 0
    )


# references ----------------------------------------------------------------------------------
# The references of a model: hidden outputs of training images, for the distance of a new one.
#
# A file beside the weights, in their format: one array of float16, a row of length 1 for each
# image. It is small, and everything of it is checked before it is used: a folder may come from
# elsewhere.

REFERENCES_NAME = "references.npz"
MAX_FILE_BYTES = MOST_BYTES + 64 * 1024
"""The array, its names and checksum."""

_ARRAY = "references"
_MAX_LENGTH_ERROR = 0.01


def references_path(run: RunFolder) -> Path:
    """The file of a run."""
    return run.path / REFERENCES_NAME


def write_references(path: Path, references: Halves) -> str:
    """Writes the file and returns its checksum; raises SaveError."""
    return write_arrays(path, {_ARRAY: references})


def read_references(path: Path, checksum: str, data: bytes | None = None) -> Halves:
    """The references (m, d) in a file with that checksum, of `data` where that is its content.

    Raises:
        WeightsError: missing, damaged, too large, or not what a model is compared with.
    """
    arrays = read_arrays(path, checksum=checksum, data=data, max_bytes=MAX_FILE_BYTES)
    if set(arrays) != {_ARRAY}:
        raise _unusable(path, f"{len(arrays)} arrays")
    array = arrays[_ARRAY]
    if array.dtype != np.float16 or array.ndim != 2 or len(array) < LEAST_REFERENCES:
        raise _unusable(path, f"{array.dtype} {array.shape}"[:200])
    lengths = np.linalg.norm(array.astype(np.float32), axis=1)
    # A row of zeros is that of an image for which no unit was active.
    if not np.all((np.abs(lengths - 1) < _MAX_LENGTH_ERROR) | (lengths == 0)):
        raise _unusable(path, "rows that are not of length 1")
    return array


def keep_calibration(run: RunFolder, found: Calibration, references: Halves | None) -> Calibration:
    """Writes what calibrating a run's present weights has found into its folder, with the
    thresholds that the run has just then. Returns what it wrote.

    Args:
        run: The run.
        found: Its `distance` is without meaning where there are no references, else its checksum
            is that of these.
        references: For the check of the distance; None for none.

    Raises:
        LinkFoundError: the folder is a link.
        RunFolderError, SaveError: it cannot be read or written.
    """
    check_own(run.path)
    if references is not None and found.distance is not None:
        checksum = write_references(references_path(run), references)
        mark = msgspec.structs.replace(found.distance, checksum=checksum)
        found = msgspec.structs.replace(found, distance=mark)
    card = run.model_card()
    found = found.with_thresholds_of(card.calibration)
    # The card last: it names no file that is not there.
    write_card(run.path, msgspec.structs.replace(card, calibration=found))
    return found


def keep_thresholds(
    run: RunFolder,
    *,
    least_probability: float | msgspec.UnsetType | None = msgspec.UNSET,
    checks_distance: bool | msgspec.UnsetType = msgspec.UNSET,
) -> Calibration:
    """Keeps when an answer is "unknown", and returns the whole calibration.

    Args:
        run: The run, which may not be training: its end writes another card.
        least_probability: Least probability of an answer, 0..1; None for any, UNSET to leave it.
        checks_distance: Whether the distance is checked, where the run has what that needs; UNSET
            to leave it.

    Raises:
        LinkFoundError: the folder is a link.
        RunFolderError, SaveError: it is training, or cannot be read or written.
    """
    check_own(run.path)
    if run.is_alive():
        raise RunFolderError(
            "The thresholds cannot be saved while the run is training.",
            where=str(run.path),
            fix="Wait for its end, or stop it.",
        )
    card: ModelCard = run.model_card()
    found = card.calibration or Calibration(reason=NOT_YET)
    least = found.least_probability
    found = found.with_thresholds(
        least_probability=least
        if isinstance(least_probability, msgspec.UnsetType)
        else least_probability,
        checks_distance=None if isinstance(checks_distance, msgspec.UnsetType) else checks_distance,
    )
    write_card(run.path, msgspec.structs.replace(card, calibration=found))
    return found


def thresholds_alone(found: Calibration | None) -> Calibration | None:
    """What of a calibration holds for other weights of the same run; None where nothing does."""
    return None if found is None else Calibration(reason=NOT_YET).with_thresholds_of(found)


def _unusable(path: Path, received: str) -> WeightsError:
    return WeightsError(
        "The file with the references cannot be used.",
        where=str(path),
        received=received,
        expected=f"at least {LEAST_REFERENCES} rows of float16 and length 1, at most "
        f"{MAX_FILE_BYTES:,} bytes",
        fix="Calibrate the run again.",
    )
