"""Pictures dragged from a web browser: their data, or an address for the view that downloads."""

from __future__ import annotations

import base64
import binascii
import re
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

from PySide6.QtCore import QMimeData, QObject, QTemporaryDir, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from workbench.client.background import Background
from workbench.downloads.download import host_of, is_web_address
from workbench.errors import PictureError, WorkbenchError
from workbench.gui.common.drops import Drop
from workbench.gui.kit.messages import show_error

MAX_BYTES = 64 * 2**20
"""The largest picture that is taken from a web browser."""

_FORMATS = ("image/png", "image/jpeg", "image/webp", "image/gif", "image/avif", "image/tiff",
            "image/bmp")  # fmt: skip
_MAX_HTML = 1 << 20
_DATA_ADDRESS = re.compile(r"data:image/[\w.+-]+;base64,", re.IGNORECASE)
_NOT_READ = PictureError("The dragged image cannot be read.", fix="Save it, and drop the file.")


def sort_web_drop(mime: QMimeData) -> Drop | None:
    """What a web browser drags, by what it says; None where that is no picture."""
    if _image_format(mime) or mime.hasImage():
        return Drop("web_image", (), "Drop to classify the image")
    address = _image_address(mime)
    if _DATA_ADDRESS.match(address):
        return Drop("web_image", (address,), "Drop to classify the image")
    if not address:
        return None
    words = f"Drop to download the image from {host_of(address)} and classify it"
    return Drop("web_address", (address,), words)


class WebPictures(QObject):
    """Brings pictures that a web browser has handed over into files.

    Signals:
        ready(list): The path of a file to classify.
    """

    ready = Signal(list)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._folder = QTemporaryDir()
        self._background = Background(self, max_threads=1)
        self._count = 0

    def close(self) -> None:
        """Waits for what is being written."""
        self._background.close()

    def take_image(self, drop: Drop, mime: QMimeData) -> None:
        """Takes the picture that was dragged itself; called while the drop is handled."""
        path = self._new_file()
        if drop.paths:
            self._run(lambda: _write_address(drop.paths[0], path))
            return
        form = _image_format(mime)
        data = bytes(mime.data(form).data()) if form else b""
        image = mime.imageData() if not data else None
        self._run(lambda: _write_image(data, image, path))

    def _new_file(self) -> Path:
        self._count += 1
        return Path(self._folder.filePath(f"from a browser {self._count}"))

    def _run(self, work: object) -> None:
        self._background.run(work, self._on_done, self._on_failed)  # type: ignore[arg-type]

    def _on_done(self, path: Path) -> None:
        self.ready.emit([str(path)])

    def _on_failed(self, error: WorkbenchError) -> None:
        show_error(self._window, error)


def _write_address(address: str, path: Path) -> Path:
    """The picture that is the address itself ("data:")."""
    try:
        data = base64.b64decode(urllib.parse.unquote(address.partition(",")[2]), validate=True)
    except (binascii.Error, ValueError):
        raise _NOT_READ from None
    return _write_image(data, None, path)


def _write_image(data: bytes, image: object, path: Path) -> Path:
    if not data and isinstance(image, QImage) and not image.isNull():
        path = path.with_suffix(".png")
        if image.save(str(path), "PNG"):  # type: ignore[call-overload]  # the stub requires bytes
            return path
    if not data or len(data) > MAX_BYTES:
        raise _NOT_READ
    path.write_bytes(data)
    return path


def _image_format(mime: QMimeData) -> str:
    return next((form for form in _FORMATS if mime.hasFormat(form)), "")


def _image_address(mime: QMimeData) -> str:
    """The address of the dragged picture: of the first <img>, or else the dragged address."""
    finder = _ImageFinder()
    if mime.hasHtml():
        finder.feed(mime.html()[:_MAX_HTML])
    urls = [url.toString() for url in mime.urls() if url.scheme() in {"http", "https"}]
    text = mime.text().strip()[: 2 * MAX_BYTES]
    found = [each for each in (finder.address, *urls, text) if each]
    return next((each for each in found if _is_address(each)), "")


def _is_address(text: str) -> bool:
    if _DATA_ADDRESS.match(text):
        return len(text) <= 2 * MAX_BYTES
    return is_web_address(text)


class _ImageFinder(HTMLParser):
    """Finds the address of the first picture."""

    address = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img" and not self.address:
            source = dict(attrs).get("src") or ""
            self.address = f"https:{source}" if source.startswith("//") else source
