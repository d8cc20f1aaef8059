"""The columns of a table of images: its first lines, and which column is what."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from workbench.client.background import Background
from workbench.core.params import Params
from workbench.errors import WorkbenchError
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.kit.labels import plain_label, set_role
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.pictures.listed.given import FOLDERS, INDICATORS, NONE, Given
from workbench.pictures.listed.table import Preview, preview_table

_SIZE_PX = (860, 560)
_CHOICE_PX = 190
_MOST_LETTERS = 60
_EXPLANATION = (
    "The first lines of the table. The columns that are read are marked. “Automatic” finds them by "
    "their names, their contents and the files that are there."
)
_ROLES = {"image": "Image", "label": "Label", "split": "Split"}
_OTHERS = {
    "image": (),
    "label": ((FOLDERS, "The folder of each image"), (INDICATORS, "The columns of 0 and 1")),
    "split": ((NONE, "None"), (FOLDERS, "The first folder of each path")),
}
"""What can be chosen besides columns: value and words."""


class TableColumnsDialog(QDialog):
    """Shows a table, read in another thread, and lets the columns be chosen.

    Args:
        path: The table.
        values: The parameters of the data set.

    Attributes:
        table: The first lines.
        choices: A box for the image, the label and the split.
        words: Why the table cannot be read as it is chosen.
    """

    def __init__(self, path: Path, values: Params, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"Columns of {path.name} — Workbench")
        self.resize(*_SIZE_PX)
        self._path = path
        self._values = dict(values)
        self._is_closed = threading.Event()
        self._background = Background(self, max_threads=1)
        self._asked = 0
        self.choices = {key: self._choice(key) for key in _ROLES}
        self.table = QTableWidget()
        self.table.setAccessibleName("First lines of the table")
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.table.verticalHeader().hide()
        self.words = plain_label("Reading the table…", role="dim", wrap=True)
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.finished.connect(self._close)
        named = [
            column(plain_label(title, role="strong"), self.choices[key], spacing=4)
            for key, title in _ROLES.items()
        ]
        parts = (
            plain_label(_EXPLANATION, role="dim", wrap=True),
            row(*named, STRETCH, spacing=16),
            self.table,
            self.words,
            self.buttons,
        )
        column(*parts, parent=self, margins=(16, 16, 16, 16), spacing=12)
        self._read()

    @property
    def chosen(self) -> dict[str, Any]:
        """The parameters with the columns that were chosen."""
        return dict(self._values)

    def _choice(self, key: str) -> NoWheelComboBox:
        box = NoWheelComboBox()
        box.setAccessibleName(f"{_ROLES[key]} column")
        box.setFixedWidth(_CHOICE_PX)
        box.activated.connect(partial(self._on_chosen, key))
        return box

    def _on_chosen(self, key: str, index: int) -> None:
        self._values[key] = self.choices[key].itemData(index)
        self._read()

    def _read(self) -> None:
        """Reads the table as it is chosen now; an earlier reading is passed over."""
        self._asked += 1
        number, given, path = self._asked, Given.of(self._values), self._path
        work = partial(preview_table, path, given, self._check_open)

        def on_done(preview: Preview) -> None:
            if number == self._asked:
                self._show(preview)

        def on_failed(error: WorkbenchError) -> None:
            if number == self._asked:
                self._say(error)

        self._background.run(work, on_done, on_failed)

    def _check_open(self) -> None:
        if self._is_closed.is_set():
            raise WorkbenchError("Canceled.")

    def _close(self) -> None:
        self._is_closed.set()
        self._background.close()

    def _show(self, preview: Preview) -> None:
        self._say(preview.problem)
        for key, box in self.choices.items():
            self._fill(key, box, preview)
        roles = dict.fromkeys(preview.labels, "label")
        roles |= {preview.image: "image", preview.split: "split"}
        titles = [_title(preview, number) for number in range(len(preview.header))]
        self.table.setColumnCount(len(titles))
        self.table.setRowCount(len(preview.lines))
        self.table.setHorizontalHeaderLabels(
            [
                f"{title}\n({roles[n]})" if n in roles else f"{title}\n"
                for n, title in enumerate(titles)
            ]
        )
        for at, line in enumerate(preview.lines):
            for number in range(len(titles)):
                text = line[number] if number < len(line) else ""
                self.table.setItem(at, number, _cell(text, is_read=number in roles))
        self.table.resizeColumnsToContents()

    def _fill(self, key: str, box: NoWheelComboBox, preview: Preview) -> None:
        """Fills in what can be chosen, with what is taken where nothing is."""
        chosen = self._values.get(key, "")
        box.clear()
        box.addItem(self._automatic(key, preview), "")
        for value, words in (*_columns(preview), *_OTHERS[key]):
            box.addItem(words, value)
        place = box.findData(chosen)
        if place < 0:
            box.addItem(str(chosen), chosen)
            place = box.count() - 1
        box.setCurrentIndex(place)

    def _automatic(self, key: str, preview: Preview) -> str:
        if self._values.get(key) or preview.problem is not None:
            return "Automatic"
        taken = {"image": (preview.image,), "label": preview.labels, "split": (preview.split,)}[key]
        names = [_title(preview, number) for number in taken if number >= 0]
        return f"Automatic ({names[0] if len(names) == 1 else len(names) or 'none'})"

    def _say(self, error: WorkbenchError | None) -> None:
        self.words.setText("" if error is None else f"{error.what} {error.received}".strip())
        self.words.setVisible(error is not None)
        set_role(self.words, "dim" if error is None else "bad")


def _title(preview: Preview, number: int) -> str:
    return preview.header[number][:_MOST_LETTERS] or f"column {number + 1}"


def _columns(preview: Preview) -> Iterator[tuple[str, str]]:
    """Value and words of each column: by its name, or its number where no name is its own."""
    for number, name in enumerate(preview.header):
        is_own = bool(name) and preview.header.count(name) == 1 and not name.isdecimal()
        yield name if is_own else str(number + 1), _title(preview, number)


def _cell(text: str, *, is_read: bool) -> QTableWidgetItem:
    shown = "".join(c if c.isprintable() else " " for c in text)[:_MOST_LETTERS]
    item = QTableWidgetItem(shown)
    item.setFlags(Qt.ItemFlag.ItemIsEnabled)
    font = QFont()
    font.setBold(is_read)
    item.setFont(font)
    return item
