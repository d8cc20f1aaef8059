"""How the exports of a run compare with its model, as a table: for window and terminal."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from workbench.core.format import bytes_text, count, memory_text, milliseconds_text, share
from workbench.errors import RunFolderError
from workbench.protocol.export import ExportProof
from workbench.runs.folder import RunFolder
from workbench.runs.store.evaluation import KeptFile, is_count, is_date, is_share

# exports -------------------------------------------------------------------------------------
# How a run's exports compare with its model: `exports.json` in its folder, the newest of each
# format.

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


# proof table ---------------------------------------------------------------------------------

_LEAST_POINTS = 0.001


@dataclass(frozen=True)
class Column:
    """A column's title, and whether numbers are in it."""

    title: str
    is_number: bool = True


COLUMNS = (
    Column("Format", is_number=False),
    Column("Size"),
    Column("Images"),
    Column("Difference"),
    Column("Same class"),
    Column("Accuracy"),
    Column("Model accuracy"),
    Column("Time"),
    Column("Memory"),
    Column("Result", is_number=False),
)


@dataclass(frozen=True)
class ProofRow:
    """A cell of each of COLUMNS; and whether the export disagrees and was not written."""

    format: str
    size: str
    images: str
    difference: str
    agreement: str
    accuracy: str
    model_accuracy: str
    milliseconds: str
    memory: str
    result: str
    is_wrong: bool


def proof_rows(proofs: Iterable[ExportProof], titles: Mapping[str, str]) -> list[ProofRow]:
    """A row for each export.

    Args:
        proofs: The exports of a run.
        titles: Titles of the formats, by key; the key itself stands for a missing one.
    """
    proofs = list(proofs)
    most = max((proof.checked_pictures for proof in proofs if not proof.is_noise), default=0)
    return [_row(proof, titles.get(proof.format, proof.format), most) for proof in proofs]


def _row(proof: ExportProof, title: str, most: int) -> ProofRow:
    """A row; accuracies on fewer images than the most say so, as they are not to be compared."""
    images = count(proof.checked_pictures) + (" (noise)" if proof.is_noise else "")
    is_fewer = 0 < proof.checked_pictures < most and not proof.is_noise
    of_images = f" of {count(proof.checked_pictures)}" if is_fewer else ""
    return ProofRow(
        format=title,
        size=bytes_text(proof.bytes),
        images=images,
        difference=difference_text(proof.max_difference),
        agreement=share(proof.top1_agreement),
        accuracy=share(proof.accuracy) + of_images,
        model_accuracy=share(proof.model_accuracy) + of_images,
        milliseconds=milliseconds_text(proof.milliseconds),
        memory=memory_text(proof.peak_bytes),
        result=fault_words(proof) or "agrees",
        is_wrong=bool(proof.reason),
    )


def difference_text(difference: float | None) -> str:
    """A difference of probabilities in percentage points, with two digits: 0.0172 -> "1.7%",
    0.0000077 -> "< 0.001%"; 0 -> "0"; None -> "–".
    """
    if difference is None:
        return "–"
    points = 100 * difference
    if not points:
        return "0"
    if points < _LEAST_POINTS:
        return f"< {_LEAST_POINTS:g}%"
    return f"{points:.0f}%" if points >= 10 else f"{points:.2g}%"


def fault_words(proof: ExportProof) -> str:
    """Why an export disagrees, and the first layer that does; "" where it agrees."""
    return proof.reason + (f", from the layer “{proof.layer}” on" if proof.layer else "")
