"""Files dropped on the window: explained while they hang over it, then sent their way."""

from __future__ import annotations

import base64
import binascii
import os
import re
import socket
import urllib.parse
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote_to_bytes

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, QTemporaryDir, QUrl, Signal
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QImage, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from workbench.client.background import Background
from workbench.core.format import path_text
from workbench.core.projects.project import Choice
from workbench.downloads.download import host_of, is_web_address
from workbench.errors import PictureError, WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.common.drops import Drop, sort_drop
from workbench.gui.kit.dialogs import show_error
from workbench.gui.kit.theme import Theme

# web pictures --------------------------------------------------------------------------------
# Pictures dragged from a web browser: their data, or an address for the view that downloads.

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


# drop controller -----------------------------------------------------------------------------

_MARGIN_PX = 16


class DropController(QObject):
    """Takes the window's drag and drop events.

    Signals:
        project_dropped(str), weights_dropped(str): One file's path; weights, or the result of
            a notebook.
        pictures_dropped(list): Paths of images to classify.
        addresses_dropped(list): Web addresses of images to classify.
        pictures_folder_dropped(str): A folder of images to classify.
        folder_dropped(str): A folder with one folder per class, while there is no project.
        source_dropped(object): Another data set (a Choice), while there is no project.
        data_chosen(): The project has another data set.
        said(str): Why a drop does nothing.

    Attributes:
        is_looking: It is not known yet what the files over the window are.
    """

    project_dropped = Signal(str)
    weights_dropped = Signal(str)
    pictures_dropped = Signal(list)
    addresses_dropped = Signal(list)
    pictures_folder_dropped = Signal(str)
    folder_dropped = Signal(str)
    source_dropped = Signal(object)
    data_chosen = Signal()
    said = Signal(str)

    def __init__(
        self, context: WindowContext, window: QWidget, current_view: Callable[[], QWidget | None]
    ) -> None:
        """Args:
        context: The parts of the window.
        window: Takes the drops.
        current_view: The view that is shown; where it has a `data_drop`, see `DataDrop`.
        """
        super().__init__(window)
        self._current_view = current_view
        self._context = context
        self._window = window
        self.overlay = DropOverlay(context.theme, window)
        self._drop: Drop | None = None  # what hangs over the window, once that is known
        self._background = Background(self)
        self._number = 0
        self._is_dropped = self.is_looking = False
        self._links, self._num_links = QTemporaryDir(), 0
        self._web = WebPictures(window)
        self._web.ready.connect(self.pictures_dropped)

    def close(self) -> None:
        """Waits for what still reads."""
        self._background.close()
        self._web.close()

    def enter(self, event: QDragEnterEvent) -> None:
        """Says what a drop would do; files that cannot be used are explained too."""
        mime = event.mimeData()
        if not mime.hasUrls() and sort_web_drop(mime) is None:
            event.ignore()
            return
        self._look(mime)
        event.acceptProposedAction()

    def leave(self) -> None:
        """Ends the drag: the files are no longer over the window."""
        self._number += 1
        self._drop = None
        self._is_dropped = self.is_looking = False
        self.overlay.hide()

    def drop(self, event: QDropEvent) -> None:
        """Does what was said, or what is going to be: once the files are looked at."""
        if self._drop is None and not self.is_looking:
            self._look(event.mimeData())
        event.acceptProposedAction()
        drop, self._is_dropped = self._drop, True
        if drop is None:
            return
        self.leave()
        if drop.kind == "web_image":  # its data is there until the event is over
            self._web.take_image(drop, event.mimeData())
        else:
            self.take(drop)

    def _look(self, mime: QMimeData) -> None:
        """Finds out in a thread what files are: folders may be large, or on a slow disk."""
        self.leave()
        paths = local_paths(mime)
        web = sort_web_drop(mime) if not paths else None
        if web is not None:
            self._show(self._number, web)
            return
        number, self.is_looking = self._number, True
        data = getattr(self._current_view(), "data_drop", lambda: None)()
        self.overlay.say("Looking at the files…", is_welcome=True)
        self._background.run(
            lambda: sort_drop(paths, data=data),
            lambda drop: self._show(number, drop),
            lambda error: self._show(number, Drop("unknown", tuple(paths), error.what)),
        )

    def _show(self, number: int, drop: Drop) -> None:
        if number != self._number:  # they have left, or others have come
            return
        self._drop, self.is_looking = drop, False
        self.overlay.say(drop.words, is_welcome=drop.is_welcome)
        if self._is_dropped:
            self.leave()
            self.take(drop)

    def take(self, drop: Drop) -> None:
        """Sends dropped paths to where they belong."""
        if drop.data is not None:
            drop.data.take(drop)
        elif drop.kind == "project":
            self.project_dropped.emit(drop.paths[0])
        elif drop.kind == "pictures":
            self.pictures_dropped.emit([self._named(path) for path in drop.paths])
        elif drop.kind == "picture_folder":
            self.pictures_folder_dropped.emit(drop.paths[0])
        elif drop.kind == "web_address":
            self.addresses_dropped.emit(list(drop.paths))
        elif drop.source is not None:
            self._use_source(drop)
        elif drop.kind in ("weights", "result"):
            self.weights_dropped.emit(drop.paths[0])
        else:
            self.said.emit(drop.words)

    def _named(self, path: str) -> str:
        """The path of a picture, or of a link to it where its bytes are no text: Qt and messages
        have nothing else.
        """
        text = path_text(path)
        if text == path:
            return path
        self._num_links += 1
        folder = Path(self._links.filePath(str(self._num_links)))
        folder.mkdir()
        link = folder / Path(text).name
        link.symlink_to(path)
        return str(link)

    def _use_source(self, drop: Drop) -> None:
        """Makes what was dropped the project's data set; where there is no network yet, starts with
        one that fits it.
        """
        document, source = self._context.document, drop.source
        if source is None:
            return
        if document.graph.nodes or document.path is not None:
            self.use_data(source)
        elif drop.kind == "class_folders":
            self.folder_dropped.emit(drop.paths[0])
        else:
            self.source_dropped.emit(source)

    def use_data(self, source: Choice) -> None:
        """Makes a source the project's data set and shows what is in it."""
        self._context.document.set_dataset(source)
        self.data_chosen.emit()


def local_paths(mime: QMimeData) -> list[str]:
    """The files and folders of this computer among what is dragged."""
    return [path for url in mime.urls() if (path := _local_path(url))]


def _local_path(url: QUrl) -> str:
    """The path of an address of a file of this computer, with a name of any bytes; "" for others.

    `QUrl.toLocalFile` takes the host of file://localhost/p.png for a part of the path, and leaves
    bytes that are no UTF-8 as they are written, with percent signs.
    """
    if not url.isLocalFile():
        return ""
    if url.host() and url.host() not in {"localhost", "127.0.0.1", socket.gethostname().lower()}:
        return str(url.toLocalFile())
    encoded = url.path(QUrl.ComponentFormattingOption.FullyEncoded)
    return os.fsdecode(unquote_to_bytes(encoded))


class DropOverlay(QWidget):
    """A veil over its parent that shows what a drop will do; it ignores the drag itself."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._covered = parent
        self._words = ""
        self._is_welcome = True
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        parent.installEventFilter(self)

    @property
    def words(self) -> str:
        """What is said, "" while hidden."""
        return "" if self.isHidden() else self._words

    def say(self, words: str, *, is_welcome: bool) -> None:
        """Covers the window with a sentence."""
        self._words = words
        self._is_welcome = is_welcome
        self.setAccessibleName(words)
        self.resize(self._covered.size())
        self.show()
        self.raise_()
        self.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and not self.isHidden():
            self.resize(self._covered.size())
        return super().eventFilter(watched, event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = self._theme.colors
        veil = QColor(colors.panel)
        veil.setAlpha(225)
        painter.fillRect(self.rect(), veil)
        line = QColor(colors.accent if self._is_welcome else colors.warning)
        painter.setPen(QPen(line, 2, Qt.PenStyle.DashLine))
        frame = self.rect().adjusted(_MARGIN_PX, _MARGIN_PX, -_MARGIN_PX, -_MARGIN_PX)
        painter.drawRoundedRect(frame, 10, 10)
        painter.setPen(QColor(colors.text))
        painter.setFont(self._theme.font(18, weight=600))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(frame.adjusted(48, 0, -48, 0), flags, self._words)
