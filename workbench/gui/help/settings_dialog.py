"""The settings, in a dialog made from their specs; each change counts at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QWidget

from workbench.core.params import Param, PathParam
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.forms.param_form import ParamForm
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, row, scroll_area
from workbench.runs.home import default_runs_home
from workbench.settings.options import all_settings
from workbench.settings.options.runs_folder import SPEC as RUNS_FOLDER
from workbench.settings.schema import Settings

_LABEL_PX = 216
"""Room for the longest title in one line."""
_SIZE_PX = (560, 600)
_AROUND_PX = 96
"""What the title bar and a task bar take of a screen's height."""
_AFTER_RESTART = "Takes effect after restart."


def _with_place(param: Param) -> Param:
    """The runs folder with the place that it is in where none is chosen."""
    if param.key == RUNS_FOLDER.param.key and isinstance(param, PathParam):
        return replace(param, empty_text=str(default_runs_home()))
    return param


class SettingsDialog(QDialog):
    """A form of all settings, which scrolls where the screen is low.

    Args:
        context: The parts of the window.
        started: The settings that the window has started with.
        parent: The window.

    Signals:
        restart_asked: The dialog is closed; the window shall start again, with what it reads only
            when it starts.
    """

    restart_asked = Signal()

    def __init__(
        self, context: WindowContext, started: Settings, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._settings, self._started = context.settings, started
        self.setWindowTitle("Settings — Workbench")
        title = plain_label("Settings", role="title")
        specs = all_settings().values()
        params = [_with_place(spec.param) for spec in specs]
        notes = {spec.key: _AFTER_RESTART if spec.needs_restart else spec.note for spec in specs}
        values = self._settings.settings.values
        self.form = ParamForm(params, values, label_px=_LABEL_PX, notes=notes)
        problem = plain_label(self._settings.note, role="bad", wrap=True)
        page = QWidget()
        column(self.form, STRETCH, parent=page, margins=(20, 4, 20, 4))
        self.restart = button("Restart now", role="link")
        self.restart.clicked.connect(self._on_restart)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        form = scroll_area(page)
        form.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        head = column(title, problem, margins=(20, 18, 20, 0), spacing=8)
        end = row(self.restart, STRETCH, buttons, margins=(20, 0, 20, 14))
        column(head, (form, 1), end, parent=self, spacing=12)
        problem.setVisible(bool(self._settings.note))
        width, height = _SIZE_PX
        self.resize(width, min(height, self.screen().availableSize().height() - _AROUND_PX))
        self.form.value_changed.connect(self._on_value_changed)
        self._show_restart()

    def _show_restart(self) -> None:
        """Offers a restart where the window has not yet what is set."""
        settings = self._settings.settings
        late = [spec for spec in all_settings().values() if spec.needs_restart]
        is_new = any(settings.get(spec) != self._started.get(spec) for spec in late)
        self.restart.setVisible(is_new)

    def _on_restart(self) -> None:
        self.accept()
        self.restart_asked.emit()

    def _on_value_changed(self, key: str, value: Any) -> None:
        try:
            self._settings.change(**{key: value})
        except WorkbenchError as error:
            self.form.set_errors({key: str(error)})
        self._show_restart()
