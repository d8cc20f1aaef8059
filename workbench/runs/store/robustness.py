"""The latest accuracy of a run's model on altered test images: `robustness.json` in its folder for
the tests of the project, `robustness_suite.json` for the ready suite.
"""

from __future__ import annotations

import math
import time

import msgspec

from workbench.protocol.trained.robustness import AlteredAccuracy, Robustness
from workbench.runs.folder import RunFolder
from workbench.runs.store.kept_file import KeptFile, is_count, is_share

ROBUSTNESS_NAME = "robustness.json"
SUITE_NAME = "robustness_suite.json"
ROBUSTNESS_VERSION = 1


class KeptRobustness(msgspec.Struct, frozen=True, kw_only=True):
    """A measurement and what it is of.

    Attributes:
        result: The accuracies.
        checksum: Checksum of the weights, as in the model card; "" where it has none.
        created: Seconds since the epoch.
    """

    result: Robustness
    checksum: str = ""
    created: float = 0.0
    format: str = "workbench-robustness"
    version: int = ROBUSTNESS_VERSION


_FILE, _SUITE_FILE = (
    KeptFile(
        name=name,
        kind=KeptRobustness,
        version=ROBUSTNESS_VERSION,
        max_bytes=1024 * 1024,
        title="robustness",
        fix="Measure it again.",
    )
    for name in (ROBUSTNESS_NAME, SUITE_NAME)
)


def keep_robustness(run: RunFolder, result: Robustness, checksum: str) -> None:
    """Replaces the measurement of its kind in a run's folder.

    Raises:
        LinkFoundError: the folder, or the file, is a link.
        RunFolderError: it is no run folder, or the measurement is too large to be kept.
        SaveError: it cannot be written.
    """
    kept = KeptRobustness(
        result=msgspec.structs.replace(result, id=0), checksum=checksum, created=time.time()
    )
    (_FILE if result.mean_accuracy is None else _SUITE_FILE).write(run, kept)


def read_robustness(run: RunFolder, *, is_suite: bool = False) -> KeptRobustness | None:
    """The kept measurement of a run on the tests of its project, or on the suite; None where
    nothing was kept.

    Raises:
        RunFolderError: the file is damaged or newer.
    """
    file = _SUITE_FILE if is_suite else _FILE
    return file.read(run, _is_sound, "figures that cannot be accuracies")


def _is_sound(kept: KeptRobustness) -> bool:
    result = kept.result
    return (
        is_share(result.accuracy)
        and 0 < result.count <= result.total
        and is_count(result.total)
        and (result.mean_accuracy is None or is_share(result.mean_accuracy))
        and all(map(_is_measured, result.measured))
    )


def _is_measured(case: AlteredAccuracy) -> bool:
    strengths = case.strengths.values()
    return (
        is_share(case.accuracy)
        and is_share(case.level)
        and len(case.strengths) > 0
        and all(map(math.isfinite, strengths))
    )
