"""The help window: pages in Markdown, shipped with the application; works offline."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QImage, QTextBlockFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QTextBrowser, QWidget

from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec
from workbench.gui.common.layer_search import by_category
from workbench.gui.help.pages import GENERAL_PAGES, page_markdown
from workbench.gui.kit.labels import heading_item
from workbench.gui.kit.layout import row
from workbench.gui.kit.theme import Theme

_KEY = Qt.ItemDataRole.UserRole
_HEADING_PX = 16
_PARAGRAPH_PX = 8
_ITEM_PX = 5
_LINE_PERCENT = 120
_PROPORTIONAL = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value


class PageBrowser(QTextBrowser):
    """Shows our own pages only: it opens no file and no address."""

    def loadResource(self, type: int, name: QUrl | str) -> object:  # noqa: A002, ARG002
        return QImage()

    def show_markdown(self, text: str) -> None:
        """Shows a page; raw HTML in it stays text."""
        document = self.document()
        document.setMarkdown(
            text,
            QTextDocument.MarkdownFeature.MarkdownDialectGitHub
            | QTextDocument.MarkdownFeature.MarkdownNoHTML,
        )
        space_out(document)
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self.verticalScrollBar().setValue(0)


def space_out(document: QTextDocument) -> None:
    """Gives paragraphs and headings of a Markdown page room: Qt sets them solid."""
    cursor = QTextCursor(document)
    block = document.begin()
    while block.isValid():
        form = block.blockFormat()
        is_heading = form.headingLevel() > 0
        in_list = block.textList() is not None
        in_table = QTextCursor(block).currentTable() is not None
        if not in_table:
            form.setTopMargin(_HEADING_PX if is_heading and block.blockNumber() else 0)
            form.setBottomMargin(_ITEM_PX if in_list else _PARAGRAPH_PX)
            form.setLineHeight(_LINE_PERCENT, _PROPORTIONAL)
            cursor.setPosition(block.position())
            cursor.setBlockFormat(form)
        block = block.next()


class HelpViewer(QDialog):
    """A list of pages at the left, the page at the right."""

    def __init__(
        self, layers: Registry[LayerSpec], theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Help — Workbench")
        self.resize(860, 640)
        self._layers = layers
        self._theme = theme
        self.list = QListWidget()
        self.list.setAccessibleName("Help pages")
        self.list.setFixedWidth(220)
        self.list.setIconSize(QSize(18, 18))
        self.page = PageBrowser()
        self.page.setOpenLinks(False)
        self.page.setAccessibleName("Help page")
        self.page.document().setDocumentMargin(18)
        self.page.anchorClicked.connect(lambda url: self.show_page(url.toString()))
        row(self.list, (self.page, 1), parent=self, margins=12, spacing=12)
        self._fill()
        self.list.currentItemChanged.connect(self._on_item_changed)

    def show_page(self, key: str) -> None:
        """Shows a page by its key: a layer's key, or one of the general pages."""
        for place in range(self.list.count()):
            if self.list.item(place).data(_KEY) == key:
                self.list.setCurrentRow(place)
        self.show()
        self.raise_()
        self.activateWindow()

    def _fill(self) -> None:
        for key, title in GENERAL_PAGES:
            self._add(title, key)
        for category, title, specs in by_category(self._layers):
            self.list.addItem(heading_item(title, 28))
            for spec in specs:
                self._add(spec.title, spec.key, category)

    def _add(self, title: str, key: str, category: str = "") -> None:
        item = QListWidgetItem(title)
        item.setData(_KEY, key)
        if category:
            item.setIcon(self._theme.category_icon(category))
        self.list.addItem(item)

    def _on_item_changed(self, item: QListWidgetItem | None, _old: object) -> None:
        if item is not None and item.data(_KEY):
            self.page.show_markdown(page_markdown(str(item.data(_KEY)), self._layers))
