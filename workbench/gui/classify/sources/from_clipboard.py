"""What is on the clipboard: files, their paths as text, an image, or web addresses of images."""

from __future__ import annotations

import os

from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QGuiApplication, QImage, QKeySequence

from workbench.downloads.download import is_web_address
from workbench.errors import PictureError
from workbench.gui.classify.picture_source import PictureSource, SourceSpec

_MOST_LINES = 1_000


class Clipboard(PictureSource):
    """Pastes."""

    def begin(self) -> None:
        clipboard = QGuiApplication.clipboard()
        data: QMimeData | None = clipboard.mimeData()  # None where it has no owner
        lines = _lines(data.text()) if data is not None else []
        urls = data.urls() if data is not None else []
        files = [url.toLocalFile() for url in urls if url.isLocalFile()] or _files(lines)
        if files:
            self.state.classify(files)
        elif data is not None and data.hasImage():
            self._take_image(clipboard.image())
        elif lines and all(map(is_web_address, lines)):
            self.state.addresses_came.emit(lines)
        else:
            self._take_image(QImage())

    def _take_image(self, image: QImage) -> None:
        if image.isNull():
            what = "The clipboard contains no image."
            fix = "Copy an image, or the path or web address of one."
            self.state.failed.emit(PictureError(what, fix=fix))
            return
        self.state.classify_image(image, "pasted")


def _lines(text: str) -> list[str]:
    lines = [line.strip().strip("\"'") for line in text.split("\n", _MOST_LINES)]
    return [line for line in lines if line]


def _files(lines: list[str]) -> list[str]:
    """The files that a copied text names, a path or file URL on each line; [] for other text."""
    paths = list(map(_path_of, lines))
    return paths if all(map(os.path.isfile, paths)) else []


def _path_of(line: str) -> str:
    url = QUrl(line)
    return url.toLocalFile() if url.isLocalFile() else line


SPEC = SourceSpec(
    key="from_clipboard",
    text="Paste",
    tip="Classifies an image, files or a web address on the clipboard (Ctrl+V)",
    order=20,
    make=Clipboard,
    is_button=True,
    shortcut=QKeySequence.StandardKey.Paste,
)
