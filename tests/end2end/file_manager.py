"""A stand-in for a file manager: a small window of another process from which a real file
can be dragged onto any window of the display. `python -m tests.end2end.file_manager FILE...`
"""

from __future__ import annotations

import sys

from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDrag, QMouseEvent
from PySide6.QtWidgets import QApplication, QLabel


class Files(QLabel):
    """Dragging it drags the files."""

    def __init__(self, files: list[str]) -> None:
        super().__init__("\n".join(files))
        self._files = files

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            mime = QMimeData()
            mime.setUrls([QUrl.fromLocalFile(file) for file in self._files])
            drag = QDrag(self)
            drag.setMimeData(mime)
            drag.exec(Qt.DropAction.CopyAction)


def main(files: list[str]) -> int:
    """Shows the window in the lower left corner of the screen."""
    app = QApplication([])
    window = Files(files)
    window.setWindowFlags(Qt.WindowType.FramelessWindowHint)
    window.resize(120, 60)
    screen = app.primaryScreen().geometry()
    window.move(QPoint(screen.left(), screen.bottom() - 60))
    window.show()
    print("ready", flush=True)
    return app.exec()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
