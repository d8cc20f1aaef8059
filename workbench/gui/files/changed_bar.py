"""A bar over the view: the project's file was changed, deleted or moved by another program."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from workbench.core.storage.file_stamp import FileStamp
from workbench.document.disk_file import DiskState
from workbench.gui.common.context import WindowContext
from workbench.gui.files.compare_with_file import changed_words
from workbench.gui.files.controller import FileController
from workbench.gui.kit.buttons import IconButton, button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, row

_WIDTH_PX = 640
_MARGIN_PX = 12
_ICON_PX = 18


class ChangedFileBar(QFrame):
    """Lies over the top of the view, which stays where it is; closed, it comes back with the
    next change.

    Args:
        context: The parts that all views share.
        files: Does what the buttons say.
        covered: The widget over whose top it lies, inside `window`.
        window: Its parent.
    """

    def __init__(
        self, context: WindowContext, files: FileController, covered: QWidget, window: QWidget
    ) -> None:
        super().__init__(window)
        self._theme = context.theme
        self._disk = context.document.disk
        self._covered = covered
        self._closed_for: FileStamp | DiskState | None = None
        self.setObjectName("changed_bar")
        self.setProperty("role", "notice")
        self._icon = QLabel()
        self.words = plain_label(role="strong", wrap=True)
        self.more = plain_label(role="dim", wrap=True)
        self.reload, self.overwrite = button("Reload"), button("Overwrite")
        self.save_as, self.compare = button("Save as…"), button("Compare…")
        self.close_button = IconButton(context.theme, "close", "Close this notice")
        for each, act in (
            (self.reload, files.revert),
            (self.overwrite, files.overwrite),
            (self.save_as, files.save_as),
            (self.compare, files.compare),
            (self.close_button, self._on_closed),
        ):
            each.clicked.connect(lambda _=False, act=act: act())
        self._build()
        self._disk.changed.connect(self.refresh)
        context.document.path_changed.connect(self.refresh)
        context.theme.changed.connect(self._refresh_icon)
        self._covered.installEventFilter(self)
        self._refresh_icon()
        self.refresh()

    def _build(self) -> None:
        choices = (self.reload, self.save_as, self.overwrite, self.compare)
        below = row(*choices, STRETCH, spacing=8)
        texts = column(self.words, self.more, below, spacing=6)
        parts = (column(self._icon, STRETCH), (texts, 1), column(self.close_button, STRETCH))
        row(*parts, parent=self, margins=(14, 10, 8, 12), spacing=10)

    def refresh(self) -> None:
        """Shows what the disk has, unless this was seen and closed."""
        state, path = self._disk.state, self._disk.path
        if path is None or state is DiskState.SAME:
            self._closed_for = None
            self.hide()
            return
        is_gone = state is DiskState.GONE
        for each in (self.reload, self.compare):
            each.setVisible(not is_gone)
        self.overwrite.setText("Save" if is_gone else "Overwrite")
        name = f"“{path.name}”"
        if is_gone:
            self.words.setText(f"{name} was deleted or moved")
            self.more.setText("The project is still open here. Save writes the file again.")
        else:
            self.words.setText(f"{name} was changed by another program")
            elsewhere = self._disk.is_open_elsewhere
            self.more.setText(changed_words(self._disk.found, is_open_elsewhere=elsewhere))
        self.setVisible(self._closed_for != self._seen())
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in {QEvent.Type.Resize, QEvent.Type.Move}:
            self._place()
        return super().eventFilter(watched, event)

    def _seen(self) -> FileStamp | DiskState:
        return self._disk.found or DiskState.GONE

    def _on_closed(self) -> None:
        self._closed_for = self._seen()
        self.hide()

    def _place(self) -> None:
        if self.isHidden():
            return
        room = self._covered.geometry().adjusted(_MARGIN_PX, _MARGIN_PX, -_MARGIN_PX, 0)
        width = min(_WIDTH_PX, room.width())
        self.setGeometry(
            room.left() + (room.width() - width) // 2, room.top(), width, self.heightForWidth(width)
        )
        self.raise_()

    def _refresh_icon(self) -> None:
        icon = self._theme.icon("warning", self._theme.colors.warning)
        self._icon.setPixmap(icon.pixmap(_ICON_PX, _ICON_PX))
