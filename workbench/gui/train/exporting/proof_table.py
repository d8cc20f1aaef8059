"""How the exports of a run compare with its model: a row for the newest one of each format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView

from workbench.core.format import plural
from workbench.gui.common.run_text import when
from workbench.gui.kit.theme import Theme
from workbench.gui.tables.number_table import Cell, Column, NumberTable
from workbench.protocol.export import ExportProof
from workbench.runs.export.proof_table import COLUMNS, fault_words, proof_rows

_MOST_PX, _LEAST_PX, _RESULT_PX = 230, 56, 116
"""Largest and smallest width of a column, and the smallest of the last one, which has what the
others leave."""

_HEADING_PX = 26
"""Around the words of a heading: its margins, and room for the arrow of sorting."""

_FIRST_TO_GO = ("Memory", "Time", "Size", "Images")

_TIPS = (
    "",
    "All files of the export",
    "Images that both have classified",
    "Largest difference of a probability from the model's, in percentage points",
    "Images for which the export and the model predict the same class",
    "Of the export, on these images",
    "Of the model, on the same images",
    "For one image",
    "Of the process that runs the export",
    "",
)
_EARLIER = "earlier weights"
_MOST_WORDS = 300
"""Characters that are shown of a text from a file, which may come from elsewhere."""


class ProofTable(NumberTable):
    """The rows; what disagrees is red.

    Signals:
        row_picked: A row was chosen by mouse or keyboard.
    """

    row_picked = Signal()

    def __init__(self, theme: Theme) -> None:
        columns = [
            Column(column.title, _LEAST_PX if column.is_number else 0, tip)
            for column, tip in zip(COLUMNS, _TIPS, strict=True)
        ]
        super().__init__(theme, "Exports of this run", columns)
        self._proofs: list[ExportProof] = []
        self._checksum = ""
        self._widths_px: dict[str, int] = {}
        self.setMinimumHeight(84)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        header = self.horizontalHeader()
        header.setMinimumSectionSize(_LEAST_PX)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        self._fit()
        self.setTabKeyNavigation(False)  # Tab leads on: rows are chosen, not cells
        for news in (self.picked, self.chosen):
            news.connect(lambda _row: self.row_picked.emit())

    @property
    def proof(self) -> ExportProof | None:
        """The export of the chosen row; None where no row is chosen."""
        row = self.current
        return self._proofs[row] if row is not None else None

    def set_proofs(
        self, proofs: Iterable[ExportProof], titles: Mapping[str, str], checksum: str
    ) -> None:
        """Shows exports in this order.

        Args:
            proofs: The exports.
            titles: Titles of the formats, by key.
            checksum: Checksum of the run's present weights: an export of others is of earlier ones.
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
        self._fit()

    def _fit(self) -> None:
        """Makes columns as wide as what is in them, so that the last one has all other room."""
        header = self.horizontalHeader()
        words_px = header.fontMetrics().horizontalAdvance
        for place, column in enumerate(COLUMNS[:-1]):
            wanted = max(self.sizeHintForColumn(place) + 4, words_px(column.title) + _HEADING_PX)
            self._widths_px[column.title] = min(max(wanted, _LEAST_PX), _MOST_PX)
            header.resizeSection(place, self._widths_px[column.title])
        self._share_room()

    def _share_room(self) -> None:
        """In a narrow window the figures that matter least give way: formats and results stay."""
        shown = dict(self._widths_px)
        for title in _FIRST_TO_GO:
            if sum(shown.values()) + _RESULT_PX > self.viewport().width():
                del shown[title]
        for place, column in enumerate(COLUMNS[:-1]):
            self.setColumnHidden(place, column.title not in shown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """What is chosen stays in sight, also where a longer text takes its room."""
        self._share_room()
        super().resizeEvent(event)
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())

    def show_format(self, key: str) -> None:
        """Chooses the row of a format, the first one where there is none. One is always chosen: the
        first would be anyway, without a click, once the keyboard reaches the table.
        """
        formats = [proof.format for proof in self._proofs]
        self.select(formats.index(key) if key in formats else 0)
        self.scrollTo(self.currentIndex())

    def is_earlier(self, proof: ExportProof) -> bool:
        """Whether the run has other weights now."""
        return bool(proof.checksum and self._checksum) and proof.checksum != self._checksum

    def words(self, proof: ExportProof) -> str:
        """Place and time of an export, or why it was not written."""
        then = when(proof.created) + (f", of {_EARLIER}" if self.is_earlier(proof) else "")
        if proof.reason:
            return f"Not written ({then}): {fault_words(proof)[:_MOST_WORDS]}."
        return f"{proof.path[:_MOST_WORDS]} ({then})"

    def _cells(self, proof: ExportProof, texts: list[str]) -> list[Cell]:
        if self.is_earlier(proof):  # first, as the end may be cut
            texts[-1] = f"{_EARLIER}: {texts[-1]}"
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
        tips = _tips(proof)
        return [
            Cell(text[:_MOST_WORDS], number, is_bad=is_bad, tip=tip)
            for text, number, tip in zip(texts, numbers, tips, strict=True)
        ]


def _tips(proof: ExportProof) -> list[str]:
    """What is added to the cells of a row: exact figures, and what they were measured on."""
    tips = dict.fromkeys((column.title for column in COLUMNS), "")
    if proof.max_difference is not None:
        tips["Difference"] = f"{proof.max_difference:.3g}, where a probability is 0 to 1"
    if proof.accuracy is not None:
        images = plural(proof.checked_pictures, "test image")
        tips["Accuracy"] = tips["Model accuracy"] = f"On {images}"
    return list(tips.values())
