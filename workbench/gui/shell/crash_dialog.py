"""What is shown after a fault in the window itself: a report to copy, and a way on."""

from __future__ import annotations

import traceback
from types import TracebackType

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QVBoxLayout, QWidget

from workbench.gui.help.about import system_info
from workbench.gui.kit.fonts import mono_font
from workbench.gui.kit.labels import plain_label

_SIZE_PX = (720, 460)


def crash_report(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> str:
    """Everything a developer needs, as plain text: it stays on this computer."""
    lines = traceback.format_exception(kind, error, trace)
    return f"{system_info()}\n\n{''.join(lines)}"


class CrashDialog(QDialog):
    """Accepted: go on. Rejected: close the window (unsaved work is asked for)."""

    def __init__(self, report: str, log_path: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Error in Workbench")
        self.resize(*_SIZE_PX)
        self.setWindowModality(Qt.WindowModality.ApplicationModal)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 14)
        column.setSpacing(10)
        column.addWidget(plain_label("An unexpected error occurred in Workbench", role="title"))
        words = (
            "Your last action may not have been completed. The project is still open, and "
            f"training continues in its own processes. This report is also in {log_path}. "
            "Nothing was sent anywhere."
        )
        column.addWidget(plain_label(words, wrap=True))
        self.report = QPlainTextEdit(report)
        self.report.setReadOnly(True)
        self.report.setFont(mono_font())
        self.report.setAccessibleName("Report")
        column.addWidget(self.report, 1)
        buttons = QDialogButtonBox()
        copy = buttons.addButton("Copy report", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(report))
        buttons.addButton("Close Workbench", QDialogButtonBox.ButtonRole.RejectRole)
        go_on = buttons.addButton("Continue", QDialogButtonBox.ButtonRole.AcceptRole)
        go_on.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
