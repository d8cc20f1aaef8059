"""Precision, recall and F1 of each class."""

from __future__ import annotations

from workbench.core.format import count, share
from workbench.gui.kit.theme import Theme
from workbench.gui.tables.number_table import Cell, Column, NumberTable
from workbench.protocol.trained.evaluate import ClassScore

CLASS_COLUMNS = (
    Column("Class"),
    Column("Precision", 86, "Of the images predicted as this class, the share that belongs to it"),
    Column("Recall", 74, "Of the images of this class, the share predicted as it"),
    Column("F1", 70, "Harmonic mean of precision and recall"),
    Column("Support", 80, "Images of this class"),
)


def class_table(theme: Theme) -> NumberTable:
    """An empty table of them."""
    return NumberTable(theme, "Scores per class", CLASS_COLUMNS)


def class_row(score: ClassScore) -> list[Cell]:
    """The row of a class."""
    figures = (score.precision, score.recall, score.f1)
    numbers = [Cell(share(value), value) for value in figures]
    return [Cell(score.name), *numbers, Cell(count(score.count), score.count)]
