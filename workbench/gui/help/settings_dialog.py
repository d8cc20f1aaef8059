"""The settings, in a dialog made from their specs; each change counts at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QWidget

from workbench.core.params import Param, PathParam
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.forms.param_form import ParamForm
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, add_to, column
from workbench.runs.home import default_runs_home
from workbench.settings.options import all_settings
from workbench.settings.options.runs_folder import SPEC as RUNS_FOLDER


def _with_place(param: Param) -> Param:
    """The runs folder with the place that it is in where none is chosen."""
    if param.key == RUNS_FOLDER.param.key and isinstance(param, PathParam):
        return replace(param, empty_text=str(default_runs_home()))
    return param


class SettingsDialog(QDialog):
    """A form of all settings."""

    def __init__(self, context: WindowContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings = context.settings
        self.setWindowTitle("Settings — Workbench")
        self.setMinimumWidth(520)
        title = plain_label("Settings", role="title")
        specs = all_settings().values()
        params = [_with_place(spec.param) for spec in specs]
        self.form = ParamForm(params, self._settings.settings.values)
        notes = [plain_label(spec.note, role="dim", wrap=True) for spec in specs if spec.note]
        if self._settings.note:
            notes.insert(0, plain_label(self._settings.note, role="bad", wrap=True))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = column(title, self.form, *notes, parent=self, margins=(20, 18, 20, 14), spacing=12)
        add_to(layout, STRETCH, buttons)
        self.form.value_changed.connect(self._on_value_changed)

    def _on_value_changed(self, key: str, value: Any) -> None:
        try:
            self._settings.change(**{key: value})
        except WorkbenchError as error:
            self.form.set_errors({key: str(error)})
