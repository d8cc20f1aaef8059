"""How a run's exports compare with its model: `exports.json` in its folder, the newest of each
format.
"""

from __future__ import annotations

import contextlib
import math

import msgspec

from workbench.errors import RunFolderError
from workbench.protocol.export import ExportProof
from workbench.runs.folder import RunFolder
from workbench.runs.store.kept_file import KeptFile, is_count, is_date, is_share

EXPORTS_NAME = "exports.json"
EXPORTS_VERSION = 1


class KeptExports(msgspec.Struct, frozen=True, kw_only=True):
    """The exports of a run by their format's key.

    Attributes:
        created: When the newest was made, in seconds since the epoch.
    """

    exports: dict[str, ExportProof]
    created: float = 0.0
    format: str = "workbench-exports"
    version: int = EXPORTS_VERSION


_FILE = KeptFile(
    name=EXPORTS_NAME,
    kind=KeptExports,
    version=EXPORTS_VERSION,
    max_bytes=1024 * 1024,
    title="table of exports",
    fix="Export again.",
)


def keep_export(run: RunFolder, proof: ExportProof) -> None:
    """Replaces what is kept of the export's format. A table that cannot be read is replaced.

    Raises:
        LinkFoundError: the folder, or the file, is a link.
        RunFolderError: it is no run folder.
        SaveError: it cannot be written.
    """
    known: dict[str, ExportProof] = {}
    with contextlib.suppress(RunFolderError):
        known = read_exports(run)
    exports = {**known, proof.format: proof}
    _FILE.write(run, KeptExports(exports=exports, created=proof.created))


def read_exports(run: RunFolder) -> dict[str, ExportProof]:
    """The kept exports of a run by format; none where nothing was kept.

    Raises:
        RunFolderError: the file is damaged or newer.
    """
    kept = _FILE.read(run, _is_sound, "figures that cannot be of exports")
    return kept.exports if kept is not None else {}


def _is_sound(kept: KeptExports) -> bool:
    return all(key == proof.format and _is_proof(proof) for key, proof in kept.exports.items())


def _is_proof(proof: ExportProof) -> bool:
    shares = [proof.top1_agreement, proof.accuracy, proof.model_accuracy]
    numbers = [proof.milliseconds, proof.max_difference or 0.0]
    return (
        is_date(proof.created)
        and all(share is None or is_share(share) for share in shares)
        and all(math.isfinite(number) and number >= 0 for number in numbers)
        and all(map(is_count, (proof.bytes, proof.checked_pictures, proof.peak_bytes)))
        and min(proof.bytes, proof.checked_pictures, proof.peak_bytes) >= 0
    )
