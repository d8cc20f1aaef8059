"""The table of exports: what is chosen is in sight, and what matters is not cut."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt

from tests.gui.train.exporting.conftest import PROOF
from workbench.exports import run_exports
from workbench.gui.train.exporting.formats import ProofTable
from workbench.runs.export.proof_table import COLUMNS, keep_export

TITLES = [column.title for column in COLUMNS]


def proofs(**changes):
    """An export of each format, after earlier weights than "new"."""
    replace = msgspec.structs.replace
    return [replace(PROOF, format=key, checksum="old", **changes) for key in run_exports()]


def shown(table):
    return [title for place, title in enumerate(TITLES) if not table.isColumnHidden(place)]


def is_whole(table, row, place):
    """Whether a cell is in sight, and wide enough for its words."""
    index = table.model().index(row, place)
    cell, words = table.visualRect(index), table.fontMetrics().horizontalAdvance(index.data())
    return table.viewport().rect().contains(cell) and words + 10 <= cell.width()


@pytest.fixture
def dialog(show, run):
    for proof in proofs():
        keep_export(run, proof)
    return show(run)


def test_the_newest_export_is_in_sight(show, run, qtbot):
    dialog = show(run)
    for row, proof in enumerate(proofs()):
        keep_export(run, proof)
        dialog._look(proof.format)
        qtbot.waitUntil(lambda: not dialog._background.is_busy)
        assert dialog.table.proof == proof
        assert is_whole(dialog.table, row, 0)


@pytest.mark.parametrize("size", [(820, 560), (681, 540), (1200, 900)])
def test_a_chosen_format_stays_in_sight_in_a_dialog_of_another_size(dialog, size):
    dialog.resize(1060, 1200)
    key = list(run_exports())[-1]
    dialog.formats.select(key)
    dialog.table.show_format(key)
    dialog.resize(*size)
    line = dialog.formats.visualItemRect(dialog.formats.currentItem())
    assert dialog.formats.viewport().rect().contains(line)
    assert is_whole(dialog.table, dialog.table.currentIndex().row(), 0)


def test_the_first_export_leaves_the_chosen_format_in_sight(show, run, qtbot):
    dialog = show(run)
    dialog.formats.select("litert_dynamic")
    keep_export(run, PROOF)
    dialog._look("onnx")
    qtbot.waitUntil(dialog.table.isVisible)
    qtbot.waitUntil(lambda: not dialog._background.is_busy)
    line = dialog.formats.visualItemRect(dialog.formats.currentItem())
    assert dialog.formats.viewport().rect().contains(line)


def test_columns_give_way_where_the_dialog_is_narrow_and_words_are_not_cut(dialog):
    table = dialog.table
    dialog.resize(1060, 652)  # the platform's screen is narrower
    assert shown(table) == TITLES
    for width in (1060, 820, 700):
        dialog.resize(width, 652)
        places = [TITLES.index(title) for title in shown(table)]
        for row in range(table.model().rowCount()):
            table.select(row)
            table.scrollTo(table.currentIndex())
            assert all(is_whole(table, row, place) for place in places)
        assert not table.horizontalScrollBar().isVisible()
    assert {"Format", "Difference", "Accuracy", "Result"} <= set(shown(table))
    assert "Memory" not in shown(table)
    dialog.resize(1060, 652)
    assert shown(table) == TITLES


def test_earlier_weights_come_first(context, qtbot):
    table = ProofTable(context.theme)
    qtbot.addWidget(table)
    table.resize(760, 200)
    table.show()
    table.set_proofs(proofs(), {}, "new")
    result = TITLES.index("Result")
    assert table.model().index(0, result).data() == "earlier weights: agrees"
    table.set_proofs(proofs(), {}, "old")
    assert table.model().index(0, result).data() == "agrees"


def test_tooltips_have_the_exact_figures_and_the_number_of_images(context, qtbot):
    table = ProofTable(context.theme)
    qtbot.addWidget(table)
    few = msgspec.structs.replace(PROOF, format="tensorflowjs", checked_pictures=50)
    table.set_proofs([PROOF, few], {}, "")

    def cell(row, title):
        index = table.model().index(row, TITLES.index(title))
        return index.data(), index.data(Qt.ItemDataRole.ToolTipRole)

    exact = "2.4e-07, where a probability is 0 to 1"
    assert cell(0, "Difference") == ("< 0.001%", exact)
    assert cell(0, "Accuracy") == ("89.2%", "On 500 test images")
    assert cell(1, "Accuracy") == ("89.2% of 50", "On 50 test images")
    assert cell(1, "Model accuracy") == ("89.2% of 50", "On 50 test images")
