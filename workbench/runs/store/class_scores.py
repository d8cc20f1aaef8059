"""The probability of each class for each image of a run's latest evaluation on a set of images:
`class_scores.npz` of a run for the test images, `class_scores_train.npz` for the training images.

Uncompressed arrays with a checksum (weights_file.py), an entry an image as in image_scores.py:

probabilities   float32 (n, classes), calibrated where the model was
actual          int32 (n,), the number of the class
created         of the evaluation that they belong to, float64 ()

Of more numbers than MOST_NUMBERS they are not kept; the areas of the curves are in the evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.protocol.trained.evaluate import ImageSet
from workbench.runs.folder import RunFolder
from workbench.runs.store.kept_arrays import KeptArrays
from workbench.runs.store.weights_file import Arrays, write_arrays

CLASS_SCORES_NAME = "class_scores.npz"

MOST_NUMBERS = 32 * 2**20
"""128 MiB: 3,000 images of 10,000 classes, or 100,000 of 300. The window reads it as a whole."""

_FILE = KeptArrays(
    max_bytes=4 * MOST_NUMBERS + 64 * 2**20,
    damage="The kept probabilities of the classes are damaged.",
    fix="Evaluate again.",
)


@dataclass(frozen=True)
class ClassScores:
    """Probabilities float32 (n, classes), and the actual classes int64 (n,)."""

    probabilities: np.ndarray[Any, np.dtype[np.float32]]
    actual: np.ndarray[Any, np.dtype[np.int64]]

    def answers(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, np.dtype[np.bool_]]]:
        """The probability of the predicted class, and whether that is the actual one, (n,) each."""
        shares = self.probabilities
        return shares.max(axis=1), shares.argmax(axis=1) == self.actual


def class_scores_path(run: RunFolder, part: ImageSet) -> Path:
    """The file of those of a set of images."""
    name = Path(CLASS_SCORES_NAME)
    return run.path / (name if part == "test" else name.with_stem(f"{name.stem}_{part}"))


def keep_class_scores(run: RunFolder, found: ClassScores, part: ImageSet, created: float) -> None:
    """Replaces those of a set of images by those of the evaluation of this time; removes them where
    there are too many to be kept. Raises LinkFoundError, SaveError.
    """
    path = class_scores_path(run, part)
    if found.probabilities.size > MOST_NUMBERS:
        path.unlink(missing_ok=True)
        return
    write_arrays(
        path,
        {
            "probabilities": np.asarray(found.probabilities, "<f4"),
            "actual": np.asarray(found.actual, "<i4"),
            "created": np.array(created, "<f8"),
        },
    )


def load_class_scores(
    run: RunFolder, part: ImageSet, created: float, num_classes: int
) -> ClassScores | None:
    """Reads the class scores of the evaluation of this time; None where they were not kept, or are
    of another one. Takes a second for the largest: not for the window's thread.

    Raises:
        RunFolderError: the file is damaged, or too large.
    """
    path = class_scores_path(run, part)
    arrays = _FILE.read(path)
    if arrays is None:
        return None
    if not _is_sound(arrays, num_classes):
        raise _FILE.damaged(path, "arrays that cannot be of this model")
    if float(arrays["created"]) != created:
        return None
    return ClassScores(arrays["probabilities"], arrays["actual"].astype(np.int64))


def _is_sound(arrays: Arrays, num_classes: int) -> bool:
    if {*arrays} != {"probabilities", "actual", "created"}:
        return False
    shares, actual, created = arrays["probabilities"], arrays["actual"], arrays["created"]
    return (
        (shares.dtype, actual.dtype, created.dtype) == ("<f4", "<i4", "<f8")
        and actual.ndim == 1
        and shares.shape == (len(actual), num_classes)
        and created.shape == ()
        and bool(((shares >= 0) & (shares <= 1.001)).all())
        and bool(((actual >= 0) & (actual < num_classes)).all())
    )
