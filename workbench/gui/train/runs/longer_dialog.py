"""Dialog for the epochs that a completed run is trained to, and what that means."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QWidget

from workbench.core.format import count
from workbench.core.params import IntParam
from workbench.core.training.longer import LongerTraining
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.errors import ParamError
from workbench.gui.common.run_text import elide_mode
from workbench.gui.forms.number_field import NumberField
from workbench.gui.kit.fonts import ui_font
from workbench.gui.kit.labels import ElidedLabel, plain_label, restyle
from workbench.gui.kit.layout import STRETCH, Gap, column, row

_WIDTH_PX = 460
_MARGIN_PX = 20
_MOST = max(p.maximum for p in RECIPE_PARAMS if p.key == "epochs" and isinstance(p, IntParam))


class TrainLongerDialog(QDialog):
    """Asks for the total number of epochs of a run with this name: `epochs` once accepted."""

    def __init__(self, label: str, longer: LongerTraining, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._longer = longer
        done = longer.epochs_done
        self.setWindowTitle("Train longer — Workbench")
        self.setFixedWidth(_WIDTH_PX)
        name = ElidedLabel()
        name.setFont(ui_font(weight=600))
        name.set_full_text(label, elide_mode(label))
        param = IntParam("epochs", min(2 * done, _MOST), "", minimum=done + 1, maximum=_MOST)
        self.number = NumberField(param)
        self.number.setAccessibleName("Epochs in total")
        self.words = plain_label(role="dim", wrap=True)
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel)
        self.buttons.button(kinds.Ok).setText("Train longer")
        restyle(self.buttons.button(kinds.Ok), role="primary")
        self.buttons.accepted.connect(self._on_accepted)
        self.buttons.rejected.connect(self.reject)
        self.number.entered.connect(self._on_entered)
        self._build(name, plain_label(f"{count(done)} done so far", role="dim"))
        self._on_entered(param.default)
        self.number.setFocus()

    def _build(self, name: QLabel, done: QLabel) -> None:
        title = plain_label("Epochs in total")
        title.setBuddy(self.number)
        line = row(title, self.number, done, STRETCH, spacing=12)
        parts = (name, Gap(4), line, Gap(4), self.words, Gap(8), self.buttons)
        column(*parts, parent=self, margins=(_MARGIN_PX, 16, _MARGIN_PX, 16), spacing=6)

    @property
    def epochs(self) -> int:
        """The total number of epochs."""
        return int(self.number.value())

    def _on_entered(self, value: object) -> bool:
        """Shows what a number means; False where it is not allowed."""
        if isinstance(value, int | float):
            self.number.set_value(value)
        try:
            epochs = self.number.checked()
        except ParamError as error:
            self._say(f"Expected: {error.expected}.")
            return False
        self._say("\n\n".join(self._longer.words(epochs)))
        return True

    def _say(self, words: str) -> None:
        """Shows some sentences; room that was taken once is kept, so that nothing moves."""
        self.words.setText(words)
        self.words.ensurePolished()
        height = self.words.heightForWidth(_WIDTH_PX - 2 * _MARGIN_PX)
        self.words.setMinimumHeight(max(self.words.minimumHeight(), height))
        self.adjustSize()

    def _on_accepted(self) -> None:
        if self._on_entered(None):
            self.accept()
