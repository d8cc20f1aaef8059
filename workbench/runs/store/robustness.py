"""The latest accuracy of a run's model on altered test images: `robustness.json` in its folder."""

from __future__ import annotations

import math
import time

import msgspec

from workbench.core.storage.json_file import DAMAGED, refuse_newer, save_json
from workbench.core.storage.own_file import refuse_link
from workbench.errors import RunFolderError, os_errors_as
from workbench.protocol.trained.robustness import AlteredAccuracy, Robustness
from workbench.runs.folder import RunFolder
from workbench.runs.ownership import check_own

ROBUSTNESS_NAME = "robustness.json"
ROBUSTNESS_VERSION = 1

_MAX_BYTES = 1024 * 1024
_MAX_COUNT = 2**53
_END_OF_DATES = 253_402_214_400.0
"""The last day of the year 9999."""


class KeptRobustness(msgspec.Struct, frozen=True, kw_only=True):
    """A measurement and what it is of.

    Attributes:
        result: The accuracies.
        checksum: Of the weights, as in the model card; "" where it has none.
        created: Seconds since the epoch.
    """

    result: Robustness
    checksum: str = ""
    created: float = 0.0
    format: str = "workbench-robustness"
    version: int = ROBUSTNESS_VERSION


def keep_robustness(run: RunFolder, result: Robustness, checksum: str) -> None:
    """Replaces the measurement in a run's folder.

    Raises:
        LinkFoundError: the folder, or the file, is a link.
        SaveError: it cannot be written.
    """
    check_own(run.path)
    path = run.path / ROBUSTNESS_NAME
    refuse_link(path)
    kept = KeptRobustness(
        result=msgspec.structs.replace(result, id=0), checksum=checksum, created=time.time()
    )
    save_json(path, kept)


def read_robustness(run: RunFolder) -> KeptRobustness | None:
    """The kept measurement of a run; None where nothing was kept.

    Raises:
        RunFolderError: the file is damaged or newer.
    """
    path = run.path / ROBUSTNESS_NAME
    if not path.is_file():
        return None
    what = "The kept robustness cannot be read."
    with os_errors_as(RunFolderError, what, path), path.open("rb") as file:
        data = file.read(_MAX_BYTES + 1)
    try:
        kept = msgspec.json.decode(data, type=KeptRobustness)
    except DAMAGED as error:
        raise _damaged(run, str(error)) from error
    what = "The robustness was kept by a newer version of Workbench."
    refuse_newer(RunFolderError, what, path, kept.version, ROBUSTNESS_VERSION)
    if len(data) > _MAX_BYTES or not _is_sound(kept):
        raise _damaged(run, "figures that cannot be accuracies")
    return kept


def _damaged(run: RunFolder, received: str) -> RunFolderError:
    return RunFolderError(
        "The kept robustness is damaged.",
        where=str(run.path / ROBUSTNESS_NAME),
        received=received[:200],
        fix="Measure it again.",
    )


def _is_sound(kept: KeptRobustness) -> bool:
    """Whether all of it can be shown: a file may come from elsewhere."""
    result = kept.result
    return (
        0 <= result.accuracy <= 1
        and 0 < result.count <= result.total <= _MAX_COUNT
        and all(map(_is_measured, result.measured))
        and 0 <= kept.created < _END_OF_DATES
    )


def _is_measured(case: AlteredAccuracy) -> bool:
    strengths = case.strengths.values()
    return (
        0 <= case.accuracy <= 1
        and 0 <= case.level <= 1
        and len(case.strengths) > 0
        and all(map(math.isfinite, strengths))
    )
