"""The license of bundled images in full, with the names of the photographers."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QWidget

from workbench.assets import data_path
from workbench.core.specs import DatasetSpec
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import column

_SIZE_PX = (760, 480)


class LicenseDialog(QDialog):
    """The text of a data set's `license_file`, to be read and copied."""

    def __init__(self, spec: DatasetSpec, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"License of the images: {spec.title}")
        self.resize(*_SIZE_PX)
        self.text = QPlainTextEdit(data_path(spec.license_file).read_text(encoding="utf-8"))
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setAccessibleName("License")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        title = plain_label(f"License: {spec.license}", role="strong", wrap=True)
        column(title, self.text, buttons, parent=self, margins=(16, 16, 16, 16), spacing=12)
