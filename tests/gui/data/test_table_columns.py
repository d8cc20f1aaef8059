"""The columns of a table are shown and chosen; each choice is a parameter of the data set."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from workbench.core.params import defaults
from workbench.core.projects.project import Choice
from workbench.datasets import all_datasets
from workbench.gui.data.source import DataSourceBox, TableColumnsDialog
from workbench.gui.data.state import DataState
from workbench.pictures.png import png_bytes

IMAGE = png_bytes(np.zeros((2, 2, 3), np.uint8))


@pytest.fixture
def table(tmp_path):
    lines = ["image,place,species,width"]
    for number in range(24):
        (tmp_path / f"{number}.png").write_bytes(IMAGE)
        lines.append(f"{number}.png,{('wood', 'bog')[number % 2]},{('oak', 'fir', 'elm')[number % 3]},"
                     f"{number}.5")  # fmt: skip
    path = tmp_path / "list.csv"
    path.write_text("\n".join(lines))
    return path


def params_of(table, **values):
    return {**defaults(all_datasets()["csv"].params), "path": str(table), **values}


def open_dialog(qtbot, table, **values):
    dialog = TableColumnsDialog(table, params_of(table, **values))
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def headers(dialog):
    model = dialog.table
    return [model.horizontalHeaderItem(n).text().split("\n") for n in range(model.columnCount())]


def wait_for(qtbot, dialog, marks):
    qtbot.waitUntil(lambda: [mark for _, mark in headers(dialog)] == marks)


def choose(dialog, key, words):
    box = dialog.choices[key]
    index = box.findText(words)
    assert index >= 0
    box.setCurrentIndex(index)
    box.activated.emit(index)


def test_the_first_lines_and_the_columns_that_are_read(qtbot, table):
    dialog = open_dialog(qtbot, table)
    wait_for(qtbot, dialog, ["(image)", "", "(label)", ""])
    assert dialog.table.rowCount() == 10
    assert dialog.table.item(3, 2).text() == "oak"
    assert dialog.table.item(3, 2).font().bold()
    assert not dialog.table.item(3, 1).font().bold()
    assert dialog.choices["label"].currentText() == "Automatic (species)"
    assert dialog.choices["split"].currentText() == "Automatic (none)"
    assert dialog.words.text() == ""


def test_a_chosen_column_is_a_parameter(qtbot, table):
    dialog = open_dialog(qtbot, table)
    wait_for(qtbot, dialog, ["(image)", "", "(label)", ""])
    choose(dialog, "label", "place")
    wait_for(qtbot, dialog, ["(image)", "(label)", "", ""])
    assert dialog.chosen == params_of(table, label="place")
    choose(dialog, "label", "Automatic")
    wait_for(qtbot, dialog, ["(image)", "", "(label)", ""])
    assert dialog.chosen == params_of(table)


def test_what_cannot_be_read_is_said(qtbot, table):
    dialog = open_dialog(qtbot, table, label="@columns")
    qtbot.waitUntil(lambda: "no columns of zeros and ones" in dialog.words.text())
    assert dialog.table.item(0, 0).text() == "0.png"
    table.write_text("")
    empty = open_dialog(qtbot, table)
    qtbot.waitUntil(lambda: "not a table" in empty.words.text())
    assert empty.table.rowCount() == 0


def test_columns_without_a_name_of_their_own_have_a_number(qtbot, table):
    table.write_text(table.read_text().replace("image,place,species,width", "a,a,,7"))
    dialog = open_dialog(qtbot, table, label="gone")
    qtbot.waitUntil(lambda: "no such label column" in dialog.words.text())
    box = dialog.choices["label"]
    values = [box.itemData(number) for number in range(box.count())]
    assert values == ["", "1", "2", "3", "4", "@folder", "@columns", "gone"]
    assert box.currentText() == "gone"
    choose(dialog, "label", "column 3")
    wait_for(qtbot, dialog, ["(image)", "", "(label)", ""])


def test_the_data_view_offers_the_columns_of_tables_alone(window, qtbot, table):
    document = window.context.document
    document.set_dataset(Choice("csv", params_of(table)))
    box = DataSourceBox(DataState(window.context))
    qtbot.addWidget(box)
    box.show()
    assert box.columns_button.isVisible()

    def accept() -> None:
        dialog = QApplication.activeModalWidget()
        if not isinstance(dialog, TableColumnsDialog) or not dialog.table.rowCount():
            QTimer.singleShot(20, accept)
            return
        choose(dialog, "label", "place")
        dialog.accept()

    QTimer.singleShot(0, accept)
    box.columns_button.click()
    assert document.project.dataset.params["label"] == "place"
    document.undo_stack.undo()
    assert document.project.dataset.params["label"] == ""
    document.set_dataset(Choice("csv", {**params_of(table), "path": ""}))
    assert not box.columns_button.isVisible()
    document.set_dataset(Choice("fashion_mnist"))
    assert not box.columns_button.isVisible()
