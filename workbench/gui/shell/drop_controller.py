"""Files dropped on the window: explained while they hang over it, then sent their way."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from workbench.core.params import PathsParam
from workbench.core.projects.source import source_choice
from workbench.core.specs import DatasetSpec
from workbench.errors import WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.common.drops import Drop, sort_drop
from workbench.gui.kit.messages import show_error
from workbench.gui.kit.theme import Theme

_MARGIN_PX = 16


class DropController(QObject):
    """Takes the window's drag and drop events.

    Signals:
        project_dropped(str), weights_dropped(str): One file's path; weights, or the result of
            a notebook.
        pictures_dropped(list): Paths of images and folders to classify.
        data_dropped(Choice): Images of classes, while there is no project.
        data_chosen(): The project has another data set.
        said(str): Why a drop does nothing.
    """

    project_dropped = Signal(str)
    weights_dropped = Signal(str)
    pictures_dropped = Signal(list)
    data_dropped = Signal(object)
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
        self._drop: Drop | None = None  # what hangs over the window

    def enter(self, event: QDragEnterEvent) -> None:
        """Says what a drop would do; files that cannot be used are explained too."""
        if not event.mimeData().hasUrls():
            event.ignore()
            return
        drop = self._drop = self._sort(event.mimeData())
        self.overlay.say(drop.words, is_welcome=drop.is_welcome)
        event.acceptProposedAction()

    def leave(self) -> None:
        """The files are no longer over the window."""
        self._drop = None
        self.overlay.hide()

    def drop(self, event: QDropEvent) -> None:
        """Does what was said."""
        drop = self._drop or self._sort(event.mimeData())
        self.leave()
        event.acceptProposedAction()
        self.take(drop)

    def _sort(self, mime: QMimeData) -> Drop:
        data_drop = getattr(self._current_view(), "data_drop", lambda: None)
        return sort_drop(local_paths(mime), data=data_drop())

    def take(self, drop: Drop) -> None:
        """Sends dropped paths to where they belong."""
        if drop.data is not None:
            drop.data.take(drop.kind, drop.paths[0])
        elif drop.kind == "project":
            self.project_dropped.emit(drop.paths[0])
        elif drop.kind == "pictures":
            self.pictures_dropped.emit(list(drop.paths))
        elif drop.source is not None:
            self.use_data(drop.source, drop.paths)
        elif drop.kind in ("weights", "result"):
            self.weights_dropped.emit(drop.paths[0])
        else:
            self.said.emit(drop.words)

    def use_data(self, spec: DatasetSpec, paths: Sequence[str]) -> None:
        """Makes files or folders the project's data set and shows what is in it; where there is no
        network yet, starts with one that fits them.
        """
        param = next(param for param in spec.params if param.key == spec.source_param)
        try:
            value = param.check(list(paths) if isinstance(param, PathsParam) else paths[0])
        except WorkbenchError as error:
            show_error(self._window, error)
            return
        choice, document = source_choice(spec, value), self._context.document
        if document.graph.nodes or document.path is not None:
            document.set_dataset(choice)
            self.data_chosen.emit()
        else:
            self.data_dropped.emit(choice)


def local_paths(mime: QMimeData) -> list[str]:
    """The files and folders of this computer among what is dragged."""
    return [url.toLocalFile() for url in mime.urls() if url.isLocalFile()]


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
