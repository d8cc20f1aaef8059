"""How the exports of a run compare with its model, as a table: for window and terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workbench.core.format import bytes_text, count, memory_text, share
from workbench.protocol.export import ExportProof


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
    Column("Model"),
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
        proofs: Of a run.
        titles: Of the formats, by key; the key itself stands for a missing one.
    """
    return [_row(proof, titles.get(proof.format, proof.format)) for proof in proofs]


def _row(proof: ExportProof, title: str) -> ProofRow:
    images = count(proof.checked_pictures) + (" (noise)" if proof.is_noise else "")
    difference = "–" if proof.max_difference is None else f"{proof.max_difference:.1e}"
    return ProofRow(
        format=title,
        size=bytes_text(proof.bytes),
        images=images,
        difference=difference,
        agreement=share(proof.top1_agreement),
        accuracy=share(proof.accuracy),
        model_accuracy=share(proof.model_accuracy),
        milliseconds=f"{proof.milliseconds:.3g} ms",
        memory=memory_text(proof.peak_bytes),
        result=fault_words(proof) or "agrees",
        is_wrong=bool(proof.reason),
    )


def fault_words(proof: ExportProof) -> str:
    """Why an export disagrees, and the first layer that does; "" where it agrees."""
    return proof.reason + (f", from the layer “{proof.layer}” on" if proof.layer else "")
