"""The references of a model: hidden outputs of training images, for the distance of a new one.

A file beside the weights, in their format: one array of float16, a row of length 1 for each image.
It is small, and everything of it is checked before it is used: a folder may come from elsewhere.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from workbench.core.calibration.distance import LEAST_REFERENCES, MOST_BYTES, Halves
from workbench.errors import RunFolderError, WeightsError
from workbench.protocol.trained.calibration import NOT_YET, Calibration
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.ownership import check_own
from workbench.runs.store.weights_file import read_arrays, write_arrays

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
