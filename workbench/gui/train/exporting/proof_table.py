"""How the exports of a run compare with its model: a row for the newest one of each format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple

from PySide6.QtCore import Signal

from workbench.gui.common.run_text import when
from workbench.gui.kit.theme import Theme
from workbench.gui.tables.number_table import Cell, Column, NumberTable
from workbench.protocol.export import ExportProof
from workbench.runs.export.proof_table import COLUMNS, fault_words, proof_rows

_WIDTHS_PX = (0, 72, 90, 88, 90, 80, 68, 88, 78, 0)
"""Of COLUMNS; 0 shares what is left."""

_TIPS = (
    "",
    "All files of the export",
    "Images that both have classified",
    "Largest difference of a probability from the model's",
    "Images for which the export and the model predict the same class",
    "Of the export, on these images",
    "Accuracy of the model on these images",
    "For one image",
    "Of the process that runs the export",
    "",
)
_EARLIER = "earlier weights"
_MOST_WORDS = 300
"""Of a text from a file that may come from elsewhere."""


class ProofTable(NumberTable):
    """The rows; what disagrees is red.

    Signals:
        row_picked: A row was chosen by mouse or keyboard.
    """

    row_picked = Signal()

    def __init__(self, theme: Theme) -> None:
        columns = [
            Column(column.title, width_px, tip)
            for column, width_px, tip in zip(COLUMNS, _WIDTHS_PX, _TIPS, strict=True)
        ]
        super().__init__(theme, "Exports of this run", columns)
        self._proofs: list[ExportProof] = []
        self._checksum = ""
        self.setMinimumHeight(84)
        self.setTabKeyNavigation(False)  # Tab leads on: rows are chosen, not cells
        for news in (self.picked, self.chosen):
            news.connect(lambda _row: self.row_picked.emit())

    @property
    def proof(self) -> ExportProof | None:
        """That of the chosen row."""
        row = self.current
        return self._proofs[row] if row is not None else None

    def set_proofs(
        self, proofs: Iterable[ExportProof], titles: Mapping[str, str], checksum: str
    ) -> None:
        """Shows exports in this order.

        Args:
            proofs: The exports.
            titles: Of the formats, by key.
            checksum: Of the run's weights: other ones are earlier.
        """
        self._checksum = checksum
        self._proofs = list(proofs)
        rows = proof_rows(self._proofs, titles)
        self.set_rows(
            [
                self._cells(proof, [str(text) for text in astuple(row)[:-1]])
                for proof, row in zip(self._proofs, rows, strict=True)
            ]
        )

    def show_format(self, key: str) -> None:
        """Chooses the row of a format, the first one where there is none. One is always chosen: the
        first would be anyway, without a click, once the keyboard reaches the table.
        """
        formats = [proof.format for proof in self._proofs]
        self.select(formats.index(key) if key in formats else 0)

    def is_earlier(self, proof: ExportProof) -> bool:
        """Whether the run has other weights now."""
        return bool(proof.checksum and self._checksum) and proof.checksum != self._checksum

    def words(self, proof: ExportProof) -> str:
        """Where and when it was written, or why it was not."""
        then = when(proof.created) + (f", of {_EARLIER}" if self.is_earlier(proof) else "")
        if proof.reason:
            return f"Not written ({then}): {fault_words(proof)[:_MOST_WORDS]}."
        return f"{proof.path[:_MOST_WORDS]} ({then})"

    def _cells(self, proof: ExportProof, texts: list[str]) -> list[Cell]:
        if self.is_earlier(proof):
            texts[-1] += f" ({_EARLIER})"
        shares = proof.top1_agreement, proof.accuracy, proof.model_accuracy
        numbers: list[float | None] = [
            None,
            proof.bytes,
            proof.checked_pictures,
            float("inf") if proof.max_difference is None else proof.max_difference,
            *(-1.0 if share is None else share for share in shares),
            proof.milliseconds,
            proof.peak_bytes,
            None,
        ]
        is_bad = bool(proof.reason)
        return [
            Cell(text[:_MOST_WORDS], number, is_bad=is_bad)
            for text, number in zip(texts, numbers, strict=True)
        ]
