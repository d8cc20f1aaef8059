"""Faults of the window itself: into the log, and onto the screen once."""

from __future__ import annotations

import faulthandler
import logging
import os
import sys
import threading
import traceback
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from PySide6.QtCore import (
    QMessageLogContext,
    QObject,
    Qt,
    QtMsgType,
    Signal,
    qInstallMessageHandler,
)
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QWidget

from workbench.core.storage.own_file import make_own_folder, open_own
from workbench.errors import LinkFoundError
from workbench.gui.help import system_info
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import column
from workbench.gui.kit.theme import mono_font

LOG_BYTES = 500_000
LOG_FILES = 3

_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}
_log = logging.getLogger("workbench.window")


def crash_report(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> str:
    """Everything a developer needs, as plain text: it stays on this computer."""
    lines = traceback.format_exception(kind, error, trace)
    return f"{system_info()}\n\n{''.join(lines)}"


class CrashDialog(QDialog):
    """A report to copy, and a way on. Accepted: go on. Rejected: close the window (unsaved work
    is opened).
    """

    def __init__(self, report: str, log_path: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Error in Workbench")
        self.resize(720, 460)
        self.setWindowModality(Qt.WindowModality.ApplicationModal)
        title = plain_label("An unexpected error occurred in Workbench", role="title")
        words = (
            "Your last action may not have been completed. The project is still open, and "
            f"training continues in its own processes. This report is also in {log_path}. "
            "Nothing was sent anywhere."
        )
        self.report = QPlainTextEdit(report)
        self.report.setReadOnly(True)
        self.report.setFont(mono_font())
        self.report.setAccessibleName("Report")
        buttons = QDialogButtonBox()
        copy = buttons.addButton("Copy report", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(report))
        buttons.addButton("Close Workbench", QDialogButtonBox.ButtonRole.RejectRole)
        go_on = buttons.addButton("Continue", QDialogButtonBox.ButtonRole.AcceptRole)
        go_on.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        parts = (title, plain_label(words, wrap=True), (self.report, 1), buttons)
        column(*parts, parent=self, margins=(20, 18, 20, 14), spacing=10)


def _appended(path: Path) -> TextIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    return os.fdopen(open_own(path, flags), "a", encoding="utf-8")


class _WindowLog(RotatingFileHandler):
    """A rotating log that is not written through a link."""

    def _open(self) -> Any:
        return _appended(Path(self.baseFilename))


class Faults(QObject):
    """Catches what no code caught: exceptions, Qt's messages, and faults of libraries.

    Args:
        folder: Where `window.log` (rotating) and `faults.log` are written.

    Attributes:
        problem: Why there are no such files, for people: faults go to the terminal then. "" where
            there are.
    """

    _caught = Signal(str)

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.log_path = folder / "window.log"
        self.window: QWidget | None = None
        self._is_shown = False
        self.problem = ""
        self._handler: logging.Handler = logging.StreamHandler()
        self._faults: TextIO | None = None
        try:
            self._open(folder)
        except (OSError, LinkFoundError) as error:
            words = error.what if isinstance(error, LinkFoundError) else error.strerror
            self.problem = f"The log in {folder} cannot be written: {str(words).rstrip('.')}."
        self._handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        self._caught.connect(self._show)

    def _open(self, folder: Path) -> None:
        make_own_folder(folder, parents=True)
        self._handler = _WindowLog(
            self.log_path, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8"
        )
        self._faults = _appended(folder / "faults.log")

    def install(self) -> None:
        """Starts catching."""
        root = logging.getLogger("workbench")
        root.addHandler(self._handler)
        root.setLevel(logging.INFO)
        if (stream := self._faults or sys.__stderr__) is not None:
            faulthandler.enable(stream)
        sys.excepthook = self._on_exception
        threading.excepthook = self._on_thread_exception
        qInstallMessageHandler(self._on_qt_message)
        _log.info("The window starts")

    def uninstall(self) -> None:
        """Stops catching and closes the files."""
        qInstallMessageHandler(None)
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__
        faulthandler.disable()
        logging.getLogger("workbench").removeHandler(self._handler)
        self._handler.close()
        if self._faults is not None:
            self._faults.close()

    def _on_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        report = crash_report(kind, error, trace)
        _log.error("Error in the window\n%s", report)
        sys.__excepthook__(kind, error, trace)
        # By signal: the fault may have happened in another thread.
        self._caught.emit(report)

    def _on_thread_exception(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self._on_exception(args.exc_type, args.exc_value, args.exc_traceback)

    def _on_qt_message(self, kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
        _log.log(_LEVELS.get(kind, logging.WARNING), "Qt: %s", text)

    def _show(self, report: str) -> None:
        if self._is_shown:  # the first fault is the cause; those that follow are in the log
            return
        self._is_shown = True
        dialog = CrashDialog(report, str(self.log_path), self.window)
        dialog.finished.connect(self._on_closed)
        dialog.open()

    def _on_closed(self, result: int) -> None:
        self._is_shown = False
        if result == CrashDialog.DialogCode.Rejected and self.window is not None:
            self.window.close()
