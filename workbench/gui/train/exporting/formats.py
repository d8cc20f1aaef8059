"""Choice of an export's format and path, and the table of how exact each one was."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple
from itertools import count
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QLineEdit, QTreeWidget, QTreeWidgetItem, QWidget

from workbench.core.format import plural
from workbench.core.specs import ExportSpec
from workbench.exports import is_export_folder
from workbench.gui.common.run_text import when
from workbench.gui.kit.dialogs import (
    ask_choice,
    ask_save_path,
    choose_folder,
    keep_folder,
    start_folder,
)
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import row
from workbench.gui.kit.theme import Theme, heading_font
from workbench.gui.tables import Cell, Column, NumberTable
from workbench.protocol.export import ExportProof
from workbench.runs.export.proof_table import COLUMNS, fault_words, proof_rows
from workbench.runs.naming import SEPARATOR

# format list ---------------------------------------------------------------------------------
# The formats of a trained model: what each is for, what it writes, and what it lacks here.

_COLUMNS = {"Format": 200, "Purpose": 0, "Writes": 110}
"""Column title -> width in pixels; 0 takes what is left."""

_KEY = int(Qt.ItemDataRole.UserRole)
_ROW_PX, _HEADING_PX_FORMAT_LIST = 26, 26
_NUM_SHOWN = 4


class FormatList(QTreeWidget):
    """A line for each format, below the heading of its group; one is chosen.

    Signals:
        picked: Another format was chosen.
    """

    picked = Signal()

    def __init__(self, theme: Theme, specs: Mapping[str, ExportSpec]) -> None:
        super().__init__()
        self._theme = theme
        self._specs = dict(specs)
        self._lacking: dict[str, str] = {}
        self.setObjectName("formats")
        self.setAccessibleName("Formats")
        self.setHeaderLabels(list(_COLUMNS))
        self.setRootIsDecorated(False)
        self.setAllColumnsShowFocus(True)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumHeight(_NUM_SHOWN * _ROW_PX)
        self._set_header()
        self._items: dict[str, QTreeWidgetItem] = {}
        self._headings: list[QTreeWidgetItem] = []
        self._fill()
        self.set_lacking({})
        self._key = next(iter(self._items))
        self.select(self._key)
        self.currentItemChanged.connect(self._on_current)
        theme.changed.connect(self._color)

    def _set_header(self) -> None:
        header = self.header()
        header.setStretchLastSection(False)
        for section, width_px in enumerate(_COLUMNS.values()):
            if width_px:
                header.resizeSection(section, width_px)
            else:
                header.setSectionResizeMode(section, QHeaderView.ResizeMode.Stretch)

    def _fill(self) -> None:
        group = ""
        for key, spec in self._specs.items():
            if spec.group != group:
                group = spec.group
                self._add_heading(group)
            item = QTreeWidgetItem([spec.title, "", spec.suffix or "a folder"])
            item.setData(0, _KEY, key)
            for section in range(len(_COLUMNS)):
                item.setSizeHint(section, QSize(0, _ROW_PX))
            self.addTopLevelItem(item)
            self._items[key] = item

    def _add_heading(self, title: str) -> None:
        item = QTreeWidgetItem([title])
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        item.setFont(0, heading_font())
        item.setSizeHint(0, QSize(0, _HEADING_PX_FORMAT_LIST))
        self.addTopLevelItem(item)
        self._headings.append(item)
        self.setFirstColumnSpanned(self.indexOfTopLevelItem(item), self.rootIndex(), True)

    @property
    def current(self) -> ExportSpec:
        """The chosen format."""
        return self._specs[self._key]

    def select(self, key: str) -> None:
        """Chooses a format."""
        self.setCurrentItem(self._items[key])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The chosen format stays in sight, also once the exports below take room."""
        super().resizeEvent(event)
        self.scrollToItem(self._items[self._key])

    def _on_current(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            self._key = item.data(0, _KEY)
            self.picked.emit()

    def set_lacking(self, lacking: Mapping[str, str]) -> None:
        """Marks the formats that cannot be written here, by key, and why: their lines say so."""
        self._lacking = dict(lacking)
        for key, item in self._items.items():
            spec = self._specs[key]
            words = self._lacking.get(key, spec.summary)
            item.setText(1, words)
            item.setToolTip(1, plain_tip(words))
            item.setData(0, Qt.ItemDataRole.AccessibleTextRole, f"{spec.title}: {words}")
        self._color()

    def _color(self) -> None:
        colors = self._theme.colors
        for item in self._headings:
            item.setForeground(0, QColor(colors.dim))
        for key, item in self._items.items():
            is_lacking = key in self._lacking
            for section in range(len(_COLUMNS)):
                usual = colors.dim if section else colors.text
                item.setForeground(section, QColor(colors.faint if is_lacking else usual))


# proof table ---------------------------------------------------------------------------------
# How the exports of a run compare with its model: a row for the newest one of each format.

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


# place ---------------------------------------------------------------------------------------
# Dialogs for the path of an export. A file is named in a dialog that saves; a folder is made in one
# that is chosen, as dialogs that save enter a folder whose name is typed, and cannot replace it.

_NAME_PX = 140
_KIND = "export"
_NO_QUOTES = str.maketrans("", "", "“”")
"""Names of layers are quoted in labels; in a terminal such quotes cannot be typed."""


class FolderName(QWidget):
    """The name of the folder that is to be written; keeps its room while it is hidden.

    Attributes:
        field: What was proposed, or typed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._proposed = ""
        self.field = QLineEdit()
        self.field.setAccessibleName("Folder name")
        self.field.setMinimumWidth(_NAME_PX)
        self.field.textChanged.connect(lambda words: self.field.setToolTip(plain_tip(words)))
        row(plain_label("Folder name"), (self.field, 1), parent=self, spacing=8)
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)

    def propose(self, name: str) -> None:
        """Proposes a name; what was typed stays as long as the same one is proposed."""
        if name != self._proposed:
            self._proposed = name
            self.field.setText(name)
            self.field.setCursorPosition(0)

    @property
    def text(self) -> str:
        """A name without a path; the proposed one where none was typed."""
        name = self.field.text().replace("/", "-").strip()
        return self._proposed if name in {"", ".", ".."} else name


def proposed_name(
    title: str, spec: ExportSpec, specs: Iterable[ExportSpec], *, is_folder: bool
) -> str:
    """The name of an export, without an ending. Folders, and formats that share their ending with
    others, have that of the format in it.
    """
    name = title.replace(SEPARATOR, " ")
    is_shared = sum(each.suffix == spec.suffix for each in specs) > 1
    if is_folder or is_shared:
        name = f"{name} {spec.title.replace(',', '')}"
    return name.replace("/", "-").translate(_NO_QUOTES)


def ask_file(parent: QWidget, title: str, name: str, spec: ExportSpec) -> str:
    """Asks for the file to write; "" when canceled."""
    filters = f"{spec.title} (*{spec.suffix})"
    path, _ = ask_save_path(parent, title, name + spec.suffix, filters, kind=_KIND)
    return path


def ask_new_folder(parent: QWidget, name: str) -> str:
    """Asks in which folder to make one of this name; an earlier export may be chosen itself. What
    is there already is replaced only when confirmed, and only where it is an export.

    Returns:
        The path of the folder to write; "" when canceled.
    """
    start = start_folder(parent, _KIND)
    chosen = choose_folder(parent, f"Choose where to write “{name}”", start)
    if not chosen:
        return ""
    target = Path(chosen)
    if not is_export_folder(target):
        target /= name
    path = _replaced_or_free(parent, target)
    keep_folder(parent, _KIND, path)
    return path


def _replaced_or_free(parent: QWidget, target: Path) -> str:
    """The folder itself where there is none yet or it may be replaced, or one beside it."""
    if not target.exists() and not target.is_symlink():
        return str(target)
    free = free_name(target)
    where = f"in {target.parent}. Keeping both writes “{free.name}”."
    if is_export_folder(target):
        what = f"Replace {target.name}?"
        more = f"Replacing removes all that is in the earlier export with that name {where}"
        paths, choices = [str(target), str(free)], ["Replace", "Keep both", "Cancel"]
    else:
        one = "A folder" if target.is_dir() else "A file"
        what = f"{target.name} is there already, and is no export."
        more = f"{one} with that name is {where}"
        paths, choices = [str(free)], ["Keep both", "Cancel"]
    answer = ask_choice(parent, what, more, choices, default=len(choices) - 1)
    return paths[answer] if 0 <= answer < len(paths) else ""


def free_name(path: Path) -> Path:
    """The first of "name 2", "name 3"… that is not there."""
    names = (path.with_name(f"{path.name} {number}") for number in count(2))
    return next(each for each in names if not each.exists() and not each.is_symlink())
