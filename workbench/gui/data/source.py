"""The chooser of the data set: which source, its parameters, and a look into it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QPlainTextEdit,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from workbench.assets import data_path
from workbench.client.background import Background
from workbench.core.format import bytes_text
from workbench.core.params import Param, Params, check_all
from workbench.core.projects.project import Choice
from workbench.core.specs import DatasetSpec
from workbench.errors import SaveError, WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.data.state import DataState
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.forms.param_form import ParamForm
from workbench.gui.kit.buttons import button, show_instead
from workbench.gui.kit.dialogs import ask_choice, show_error
from workbench.gui.kit.labels import plain_label, plain_tip, set_role
from workbench.gui.kit.layout import STRETCH, add_to, column, row
from workbench.gui.kit.widgets import Box, SteadyBar
from workbench.pictures.listed.given import FOLDERS, INDICATORS, NONE, TABLE_PARAMS, Given
from workbench.pictures.listed.table import Preview, preview_table
from workbench.protocol.messages import Progress
from workbench.runs.trust import place_words, remember

# license dialog ------------------------------------------------------------------------------
# The license of bundled images in full, with the names of the photographers.

_SIZE_PX_LICENSE_DIALOG = (760, 480)


class LicenseDialog(QDialog):
    """The text of a data set's `license_file`, to be read and copied."""

    def __init__(self, spec: DatasetSpec, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"License of the images: {spec.title}")
        self.resize(*_SIZE_PX_LICENSE_DIALOG)
        self.text = QPlainTextEdit(data_path(spec.license_file).read_text(encoding="utf-8"))
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setAccessibleName("License")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        title = plain_label(f"License: {spec.license}", role="strong", wrap=True)
        column(title, self.text, buttons, parent=self, margins=(16, 16, 16, 16), spacing=12)


# table columns -------------------------------------------------------------------------------
# The columns of a table of images: its first lines, and which column is what.

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


# source --------------------------------------------------------------------------------------

_LOAD, _RESCAN = "Load images", "Rescan"


class DataSourceBox(Box):
    """The chooser above the button that has the source read, and how far that is."""

    def __init__(self, state: DataState) -> None:
        super().__init__("card", 16, 10)
        self._state = state
        theme = state.context.theme
        self.chooser = DataSourcePanel(state.context)
        self.status = plain_label(role="dim", wrap=True)
        self.status.hide()
        self.progress = SteadyBar()
        self.describe_button = button(_LOAD, icon="rescan", theme=theme)
        self.cancel_button = button("Cancel")
        self.columns_button = button("Columns…", icon="grid", theme=theme)
        self.columns_button.setToolTip(
            plain_tip("Shows the first lines of the table, and lets its columns be chosen")
        )
        buttons = row(self.describe_button, self.cancel_button, self.columns_button, STRETCH)
        add_to(self.column, self.chooser, buttons, self.progress, self.status)
        self.describe_button.clicked.connect(lambda _=False: state.rescan())
        self.cancel_button.clicked.connect(state.cancel)
        self.columns_button.clicked.connect(lambda _=False: self._ask_columns())
        document = state.context.document
        for changed in (document.dataset_changed, document.project_replaced):
            changed.connect(self._show_columns_button)
        self._show_columns_button()
        state.busy_changed.connect(self._on_busy_changed)
        state.source_changed.connect(self._show_action)
        state.said.connect(self._say)
        state.place_unknown.connect(self._ask_place)
        state.progressed.connect(self._on_progressed)
        self._on_busy_changed(is_busy=False)

    def _on_busy_changed(self, is_busy: bool) -> None:  # noqa: FBT001 - Qt's signal
        self.progress.setVisible(is_busy)
        buttons = (self.cancel_button, self.describe_button)
        show_instead(*(buttons if is_busy else reversed(buttons)))
        self._show_action()
        self._show_fraction(None)

    def _show_columns_button(self) -> None:
        """A table has columns to choose."""
        choice = self._state.context.document.project.dataset
        spec = self._state.context.datasets.get(choice.key)
        is_table = spec is not None and all(param in spec.params for param in TABLE_PARAMS)
        is_chosen = spec is not None and not spec.unset(choice.params)
        self.columns_button.setVisible(is_table and is_chosen)

    def _ask_columns(self) -> None:
        document = self._state.context.document
        choice = document.project.dataset
        spec = self._state.context.datasets[choice.key]
        dialog = TableColumnsDialog(
            Path(choice.params[spec.source_param]).expanduser(), choice.params, self
        )
        if dialog.exec() and dialog.chosen != choice.params:
            document.set_dataset(Choice(choice.key, dialog.chosen))
            self._state.describe()

    def _ask_place(self, choice: Choice) -> None:
        """An address that may have come with a file is contacted when a person agrees to it."""
        words = place_words(choice)
        more = f"The images are there. Connect only if you know {words}. The answer is remembered."
        choices = (f"Connect to {words}", "Cancel")
        if ask_choice(self, f"Connect to {words}?", more, choices, default=1) != 0:
            self._say("The images were not loaded.")
            return
        try:
            remember(choice)
        except SaveError as error:
            show_error(self, error)
            return
        self._state.describe()

    def _show_action(self) -> None:
        self.describe_button.setText(_RESCAN if self._state.is_described else _LOAD)

    def _say(self, words: str) -> None:
        self.status.setText(words)
        self.status.setVisible(bool(words))

    def _on_progressed(self, progress: Progress) -> None:
        self._say(progress.text)
        self._show_fraction(progress.fraction)

    def _show_fraction(self, fraction: float | None) -> None:
        self.progress.setRange(0, 0 if fraction is None else 1000)
        if fraction is not None:
            self.progress.setValue(round(fraction * 1000))


def source_groups(
    specs: Iterable[DatasetSpec],
) -> list[tuple[str, list[DatasetSpec]]]:
    """Headings with data sets: those that are included, those that are downloaded, and the user's
    own files.
    """
    groups: dict[str, list[DatasetSpec]] = {"Included": [], "Downloads": [], "Your files": []}
    for spec in specs:
        is_own = bool(spec.source_param)
        groups["Your files" if is_own else "Downloads" if spec.downloads else "Included"].append(
            spec
        )
    return [(heading, found) for heading, found in groups.items() if found]


def source_text(spec: DatasetSpec) -> str:
    """A data set in a list, with the size of its download."""
    size = sum(file.num_bytes for file in spec.downloads)
    return f"{spec.title} · {bytes_text(size)}" if size else spec.title


class DataSourcePanel(QWidget):
    """Shows the project's data set and lets another be chosen; each change is undoable.

    Attributes:
        form: The form of the chosen source's parameters; None where it has none.
    """

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._document = context.document
        self._datasets = context.datasets
        self.form: ParamForm | None = None
        self._form_key = ""
        self._values: dict[str, Mapping[str, Any]] = {}
        self.sources = NoWheelComboBox()
        self.sources.setAccessibleName("Data source")
        self._fill_sources()
        self._summary = plain_label(role="dim", wrap=True)
        self._license = plain_label(role="dim", wrap=True)
        self.license_button = button("Show license", role="link")
        self.license_button.clicked.connect(self._show_license)
        self._place = QVBoxLayout()
        heading = plain_label("Data source", role="heading")
        parts = (
            heading,
            self.sources,
            self._summary,
            self._place,
            self._license,
            row(self.license_button, STRETCH),
        )
        column(*parts, parent=self, spacing=8)
        self.sources.activated.connect(self._on_source_chosen)
        self._document.dataset_changed.connect(self.refresh)
        self._document.project_replaced.connect(self._on_replaced)
        self.refresh()

    def _fill_sources(self) -> None:
        """The sources by where their images come from, each group below its heading."""
        for heading, specs in source_groups(self._datasets.values()):
            self.sources.addItem(heading)
            item = cast("QStandardItemModel", self.sources.model()).item(self.sources.count() - 1)
            item.setFlags(Qt.ItemFlag.NoItemFlags)
            for spec in specs:
                self.sources.addItem(source_text(spec), spec.key)

    def refresh(self) -> None:
        """Shows the document's data set."""
        choice = self._document.project.dataset
        self._values[choice.key] = choice.params
        self.sources.setCurrentIndex(self.sources.findData(choice.key))
        spec = self._datasets.get(choice.key)
        unknown = f"This version has no data source “{choice.key}”."
        self._summary.setText(spec.summary if spec else unknown)
        self._license.setText(f"License: {spec.license}" if spec else "")
        self._license.setVisible(bool(spec and spec.license))
        self.license_button.setVisible(bool(spec and spec.license_file))
        params = spec.params if spec else ()
        if choice.key != self._form_key:
            self._form_key = choice.key
            self._replace_form(params)
        if self.form is not None:
            self.form.set_values(check_all(params, choice.params)[0])

    def _show_license(self) -> None:
        spec = self._datasets[self._document.project.dataset.key]
        LicenseDialog(spec, self).exec()

    def _on_replaced(self) -> None:
        """What was chosen for another project is not for this one."""
        self._values.clear()
        self.refresh()

    def _replace_form(self, params: Sequence[Param]) -> None:
        if self.form is not None:
            self._place.removeWidget(self.form)
            self.form.hide()
            self.form.deleteLater()
        self.form = ParamForm(params) if params else None
        if self.form is not None:
            self.form.value_changed.connect(self._on_value_changed)
            self._place.addWidget(self.form)

    def _on_source_chosen(self, index: int) -> None:
        key = str(self.sources.itemData(index))
        if key != self._document.project.dataset.key:
            values, _ = check_all(self._datasets[key].params, self._values.get(key, {}))
            self._document.set_dataset(Choice(key, values))

    def _on_value_changed(self, key: str, value: Any) -> None:
        choice = self._document.project.dataset
        self._document.set_dataset(Choice(choice.key, {**choice.params, key: value}))
