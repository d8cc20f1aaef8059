"""The chooser of the data set: which source, its parameters, and a look into it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.core.format import bytes_text
from workbench.core.params import Param, check_all
from workbench.core.projects.project import Choice
from workbench.core.specs import DatasetSpec
from workbench.errors import SaveError
from workbench.gui.common.context import WindowContext
from workbench.gui.data.license_dialog import LicenseDialog
from workbench.gui.data.state import DataState
from workbench.gui.data.table_columns import TableColumnsDialog
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.forms.param_form import ParamForm
from workbench.gui.kit.buttons import button, show_instead
from workbench.gui.kit.cards import Box
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, add_to, column, row
from workbench.gui.kit.messages import ask_choice, show_error
from workbench.gui.kit.wait_label import SteadyBar
from workbench.pictures.listed.given import TABLE_PARAMS
from workbench.protocol.messages import Progress
from workbench.runs.places import place_words, remember

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
