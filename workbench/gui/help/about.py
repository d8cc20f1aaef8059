"""About: versions and the system, to be copied into a report."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QWidget

import workbench
from workbench.gui.kit.fonts import mono_font
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import column
from workbench.runs.home import data_home

_PACKAGES = (
    "tensorflow",
    "keras",
    "onnxruntime",
    "numpy",
    "msgspec",
    "pillow",
    "PySide6-Essentials",
    "pyqtgraph",
)
_HEIGHT_PX = 250


def system_info() -> str:
    """Versions and system as lines of text; packages are looked up by name, not imported."""
    lines = [
        f"Workbench {workbench.__version__}",
        f"Python {platform.python_version()} ({platform.python_implementation()})",
        f"System {platform.platform()}",
        f"Qt {qVersion()}, platform {QGuiApplication.platformName()}",
    ]
    lines += [f"{name} {_version(name)}" for name in _PACKAGES]
    lines.append(f"Data folder {data_home()}")
    return "\n".join(lines)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


class AboutDialog(QDialog):
    """Name, license, versions; a button copies them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("About Workbench")
        self.setMinimumWidth(520)
        title = plain_label(f"Workbench {workbench.__version__}", role="title")
        words = (
            "Assemble image-classification networks by drag and drop, train them with "
            "TensorFlow and Keras, classify pictures. Free software under the Apache License "
            "2.0. Nothing is sent anywhere unless you train on another computer."
        )
        info = QPlainTextEdit(system_info())
        info.setReadOnly(True)
        info.setFont(mono_font())
        info.setMinimumHeight(_HEIGHT_PX)
        info.setAccessibleName("Versions and system")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        copy = buttons.addButton("Copy system info", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(info.toPlainText()))
        buttons.rejected.connect(self.reject)
        parts = (title, plain_label(words, wrap=True), info, buttons)
        column(*parts, parent=self, margins=(20, 18, 20, 14), spacing=10)
