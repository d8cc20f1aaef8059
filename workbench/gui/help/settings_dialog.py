"""The settings, in a dialog made from their specs; each change counts at once."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.forms.param_form import ParamForm
from workbench.gui.kit.labels import plain_label
from workbench.settings.options import all_settings


class SettingsDialog(QDialog):
    """A form of all settings."""

    def __init__(self, context: WindowContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings = context.settings
        self.setWindowTitle("Settings — Workbench")
        self.setMinimumWidth(520)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 14)
        column.setSpacing(12)
        column.addWidget(plain_label("Settings", role="title"))
        specs = all_settings().values()
        self.form = ParamForm([spec.param for spec in specs], self._settings.settings.values)
        column.addWidget(self.form)
        self._note = plain_label(self._settings.note, role="bad", wrap=True)
        self._note.setVisible(bool(self._settings.note))
        column.addWidget(self._note)
        for note in filter(None, (spec.note for spec in specs)):
            column.addWidget(plain_label(note, role="dim", wrap=True))
        column.addStretch(1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
        self.form.value_changed.connect(self._on_value_changed)

    def _on_value_changed(self, key: str, value: Any) -> None:
        try:
            self._settings.change(**{key: value})
        except WorkbenchError as error:
            self.form.set_errors({key: str(error)})
