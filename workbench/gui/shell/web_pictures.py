"""Pictures dragged from a web browser: their data, or an address that is asked about first."""

from __future__ import annotations

import base64
import binascii
import re
import threading
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

from PySide6.QtCore import QMimeData, QObject, QTemporaryDir, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from workbench.client.background import Background
from workbench.downloads.download import Download, host_of
from workbench.downloads.fetch import fetch_unknown
from workbench.errors import PictureError, WorkbenchError
from workbench.gui.common.drops import Drop
from workbench.gui.kit.messages import ask_choice, show_error

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
    """Brings pictures of a web browser into files.

    Signals:
        ready(list): The path of a file to classify.
        said(str): What is being done.
    """

    ready = Signal(list)
    said = Signal(str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._folder = QTemporaryDir()
        self._background = Background(self, max_threads=1)
        self._is_over = threading.Event()
        self._count = 0

    def close(self) -> None:
        """Ends a download that is under way."""
        self._is_over.set()
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

    def take_address(self, address: str) -> None:
        """Downloads a picture once the person agrees to it, in another thread."""
        host = host_of(address)
        size = f"{MAX_BYTES // 2**20} MB"
        more = f"The image is downloaded from there, at most {size}: {address[:200]}"
        choices = (f"Download from {host}", "Cancel")
        if ask_choice(self._window, f"Connect to {host}?", more, choices, default=1) != 0:
            self.said.emit("The image was not downloaded.")
            return
        path, over = self._new_file(), self._is_over
        download = Download("The image", address, "")
        self.said.emit(f"Downloading the image from {host}")
        self._run(lambda: _fetch(download, path, over))

    def _new_file(self) -> Path:
        self._count += 1
        return Path(self._folder.filePath(f"from a browser {self._count}"))

    def _run(self, work: object) -> None:
        self._background.run(work, self._on_done, self._on_failed)  # type: ignore[arg-type]

    def _on_done(self, path: Path) -> None:
        self.said.emit("")
        self.ready.emit([str(path)])

    def _on_failed(self, error: WorkbenchError) -> None:
        self.said.emit("")
        if not self._is_over.is_set():
            show_error(self._window, error)


class _Quiet:
    """Ends a download when the window does."""

    def __init__(self, over: threading.Event) -> None:
        self._over = over

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Shows nothing: a picture takes a moment."""

    def check_cancelled(self) -> None:
        """Raises PictureError."""
        if self._over.is_set():
            raise PictureError("The download was canceled.")


def _fetch(download: Download, path: Path, over: threading.Event) -> Path:
    fetch_unknown(download, path, _Quiet(over), max_bytes=MAX_BYTES)
    return path


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
    found = [each for each in (finder.address, *urls) if each]
    return next((each for each in found if _is_address(each)), "")


def _is_address(text: str) -> bool:
    if _DATA_ADDRESS.match(text):
        return len(text) <= 2 * MAX_BYTES
    try:
        parts = urllib.parse.urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc) and text.isprintable()


class _ImageFinder(HTMLParser):
    """Finds the address of the first picture."""

    address = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img" and not self.address:
            source = dict(attrs).get("src") or ""
            self.address = f"https:{source}" if source.startswith("//") else source
