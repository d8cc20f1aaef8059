"""How the exports of a run compare with its model, as a table: for window and terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workbench.core.format import bytes_text, count, memory_text, milliseconds_text, share
from workbench.protocol.export import ExportProof

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
