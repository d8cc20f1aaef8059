"""The computers that were connected before: named, and forgotten."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHeaderView,
    QLineEdit,
    QStackedWidget,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from workbench.gui.common.run_text import when
from workbench.gui.kit.buttons import button
from workbench.gui.kit.dialogs import DialogHead, ask_choice
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import EmptyPage, WaitLabel
from workbench.remote.ssh.saved_hosts import MAX_NAME, SavedHost, saved_hosts

_EXPLANATION = (
    "Computers you have connected to. A name is shown instead of the address: in the menu of "
    "targets, on the welcome page and where targets are compared."
)
_FORGETTING = (
    "Its address, name, key file and accepted host key are removed from Workbench, and Workbench "
    "no longer connects to it automatically. Nothing is deleted there, and training there "
    "continues. To use it again, connect to it again."
)
_COLUMNS = {"Name": 180, "Address": 200, "Hardware": 0, "Last connected": 120}
"""Column title -> width in pixels; 0 takes what is left."""

_HOST_ROLE = Qt.ItemDataRole.UserRole
_ROW_PX = 32
"""Room for a field that a name is typed into."""

Index = QModelIndex | QPersistentModelIndex


class NameDelegate(QStyledItemDelegate):
    """Edits a name in its cell.

    Signals:
        renamed: A SavedHost and what was typed as its name.
    """

    renamed = Signal(object, str)

    def createEditor(self, parent: QWidget, _option: QStyleOptionViewItem, index: Index) -> QWidget:
        field = QLineEdit(parent)
        field.setMaxLength(MAX_NAME)
        field.setPlaceholderText(index.data(_HOST_ROLE).address)
        field.setAccessibleName("Name")
        return field

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Its name alone: the address in its place is not edited."""
        if isinstance(editor, QLineEdit):
            editor.setText(index.data(_HOST_ROLE).name)

    def setModelData(self, editor: QWidget, _model: QAbstractItemModel, index: Index) -> None:
        """The table shows the name once it is saved."""
        host = index.data(_HOST_ROLE)
        if isinstance(editor, QLineEdit) and editor.text().strip() != host.name:
            self.renamed.emit(host, editor.text())


class SavedHostsDialog(QDialog):
    """A table of them; names are edited in place. Its owner changes what is saved.

    Signals:
        renamed: A SavedHost shall have another name, which follows.
        forgotten: The user has agreed to forget a SavedHost.
        connect_wanted: Another computer is to be connected.

    Attributes:
        head: Title and help.
        table: A row a computer, the latest to answer first.
        rename, forget: What is done to the selected one.
        words: What was done, or why it was not.
    """

    renamed = Signal(object, str)
    forgotten = Signal(object)
    connect_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Saved computers — Workbench")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(820, 440)
        self.head = DialogHead("Saved computers", _EXPLANATION, "remote")
        self.table = QTreeWidget()
        self._names = NameDelegate(self.table)
        self.empty = EmptyPage(
            theme,
            "computer",
            "No saved computer",
            "A TPU VM or another computer is listed here once it has been connected.",
            action="Connect…",
        )
        self._pages = QStackedWidget()
        self.words = WaitLabel()
        self.rename = button("Rename")
        self.forget = button("Forget…")
        self.close_button = button("Close")
        self._build()
        self._connect()

    def _build(self) -> None:
        table = self.table
        table.setHeaderLabels(list(_COLUMNS))
        table.setAccessibleName("Saved computers")
        table.setRootIsDecorated(False)
        table.setUniformRowHeights(True)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setItemDelegateForColumn(0, self._names)
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        header = table.header()
        header.setStretchLastSection(False)
        for section, width_px in enumerate(_COLUMNS.values()):
            if width_px:
                header.resizeSection(section, width_px)
            else:
                header.setSectionResizeMode(section, QHeaderView.ResizeMode.Stretch)
        table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._pages.addWidget(table)
        self._pages.addWidget(self.empty)
        for each in (self.rename, self.forget):
            each.setAutoDefault(False)
        below = row(self.rename, self.forget, STRETCH, self.close_button, spacing=8)
        parts = (self.head, (self._pages, 1), self.words, below)
        column(*parts, parent=self, margins=(20, 18, 20, 16), spacing=12)

    def _connect(self) -> None:
        for pressed, act, words, key in (
            (self.rename, self._edit, "Rename", Qt.Key.Key_F2),
            (self.forget, self._forget, "Forget…", Qt.Key.Key_Delete),
        ):
            action = QAction(words, self.table)
            action.setShortcut(key)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.triggered.connect(act)
            pressed.clicked.connect(act)
            self.table.addAction(action)
        self.table.itemDoubleClicked.connect(self._edit)
        self.table.itemSelectionChanged.connect(self._refresh)
        self._names.renamed.connect(self.renamed)
        self.empty.pressed.connect(self.connect_wanted)
        self.close_button.clicked.connect(self.reject)

    def showEvent(self, event: QShowEvent) -> None:
        self.fill()
        super().showEvent(event)
        has_hosts = self.table.topLevelItemCount() > 0
        (self.table if has_hosts else self.empty.action).setFocus()

    def fill(self) -> None:
        """Shows what is saved now; the selected computer stays selected."""
        chosen, hosts = self._selected(), saved_hosts()
        items = {host.address: _item(host) for host in hosts}
        self.words.say("")
        self.table.clear()
        self.table.addTopLevelItems(list(items.values()))
        if items:
            address = chosen.address if chosen is not None else ""
            self.table.setCurrentItem(items.get(address, next(iter(items.values()))))
        self._pages.setCurrentIndex(0 if hosts else 1)
        self._refresh()

    def _selected(self) -> SavedHost | None:
        chosen = self.table.selectedItems()
        host = chosen[0].data(0, _HOST_ROLE) if chosen else None
        return host if isinstance(host, SavedHost) else None

    def _refresh(self) -> None:
        is_one = self._selected() is not None
        for part in (self.rename, self.forget):
            part.setEnabled(is_one)
            part.setVisible(self._pages.currentIndex() == 0)

    def _edit(self) -> None:
        item = self.table.currentItem()
        if item is not None:
            self.table.setFocus()
            self.table.editItem(item, 0)

    def _forget(self) -> None:
        host = self._selected()
        if host is None:
            return
        what = f"{host.name} ({host.address})" if host.name else host.address
        if ask_choice(self, f"Forget {what}?", _FORGETTING, ("Forget", "Cancel"), default=1) == 0:
            self.forgotten.emit(host)


def _item(host: SavedHost) -> QTreeWidgetItem:
    seen = when(host.seen) if host.seen else "never"
    texts = (host.label, host.address, host.words, seen)
    item = QTreeWidgetItem(list(texts))
    item.setData(0, _HOST_ROLE, host)
    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
    for section, text in enumerate(texts):
        item.setToolTip(section, plain_tip(text))
        item.setSizeHint(section, QSize(0, _ROW_PX))
    return item
