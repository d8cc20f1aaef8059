"""The help window: pages in Markdown, shipped with the application; works offline."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import (
    QImage,
    QKeyEvent,
    QKeySequence,
    QShortcut,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QTextBrowser,
    QWidget,
)

from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec
from workbench.gui.common.layer_search import by_category
from workbench.gui.kit.labels import heading_item, plain_label
from workbench.gui.kit.layout import column, row
from workbench.gui.kit.theme import Theme
from workbench.help_pages import GENERAL_PAGES, found_pages, page_markdown, page_texts

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


class PageHistory:
    """The pages that were shown, and the place among them."""

    def __init__(self) -> None:
        self._keys: list[str] = []
        self._place = -1

    def visit(self, key: str) -> None:
        """Shows another page; the one that is there already changes nothing."""
        if not self._keys or self._keys[self._place] != key:
            self._keys[self._place + 1 :] = [key]
            self._place += 1

    def back(self) -> str:
        """Goes to the page before; "" where there is none."""
        return self._step(-1)

    def forward(self) -> str:
        """Goes to the page after; "" where there is none."""
        return self._step(1)

    def _step(self, by: int) -> str:
        if not 0 <= self._place + by < len(self._keys):
            return ""
        self._place += by
        return self._keys[self._place]


class HelpViewer(QDialog):
    """A list of pages at the left with a search box above it, the page at the right. Alt+Left and
    Alt+Right go through the pages that were shown; Ctrl+F searches.
    """

    def __init__(
        self, layers: Registry[LayerSpec], theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Help — Workbench")
        self.resize(860, 640)
        self._layers = layers
        self._texts: dict[str, str] = {}
        self._theme = theme
        self.list = QListWidget()
        self.list.setAccessibleName("Help pages")
        self.list.setFixedWidth(228)
        self.list.setIconSize(QSize(18, 18))
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search (Ctrl+F)")
        self.search.setAccessibleName("Search the help pages")
        self.search.setClearButtonEnabled(True)
        self.nothing = plain_label("No page contains these words.", role="dim", wrap=True)
        self.nothing.hide()
        self._history = PageHistory()
        self.page = PageBrowser()
        self.page.setOpenLinks(False)
        self.page.setAccessibleName("Help page")
        self.page.document().setDocumentMargin(18)
        self.page.anchorClicked.connect(lambda url: self.show_page(url.toString()))
        left = column(self.search, self.nothing, (self.list, 1), spacing=8)
        row(left, (self.page, 1), parent=self, margins=12, spacing=12)
        self.search.setFixedWidth(self.list.width())
        self._fill()
        self.list.currentItemChanged.connect(self._on_item_changed)
        self.search.textChanged.connect(self._on_searched)
        self.search.returnPressed.connect(self._find_next)
        for keys, act in (
            ("Alt+Left", lambda: self._go(self._history.back())),
            ("Alt+Right", lambda: self._go(self._history.forward())),
            ("Ctrl+F", self._start_search),
            ("F3", self._find_next),
        ):
            QShortcut(QKeySequence(keys), self, act)

    def show_page(self, key: str) -> None:
        """Shows a page by its key: a layer's key, or one of the general pages."""
        self.search.clear()
        self._select(key)
        self.show()
        self.raise_()
        self.activateWindow()

    def _select(self, key: str) -> None:
        for place in range(self.list.count()):
            if self.list.item(place).data(_KEY) == key:
                self.list.setCurrentRow(place)

    def _go(self, key: str) -> None:
        """Shows a page of the history; "" for none."""
        if key:
            self.search.clear()
            self._select(key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape first ends a search."""
        if event.key() == Qt.Key.Key_Escape and self.search.text():
            self.search.clear()
            return
        super().keyPressEvent(event)

    # searching -----------------------------------------------------------------------

    def _start_search(self) -> None:
        self.search.setFocus()
        self.search.selectAll()

    def _on_searched(self, text: str) -> None:
        """Lists the pages that contain all words, and shows the best unless one of them is."""
        words = text.split()
        self._texts = self._texts or page_texts(self._layers)
        found = [key for key, _ in found_pages(words, self._layers, self._texts)]
        for item in (self.list.item(place) for place in range(self.list.count())):
            item.setHidden(bool(words) and item.data(_KEY) not in found)
        self.nothing.setVisible(not found)
        current = self.list.currentItem()
        if found and (current is None or current.isHidden()):
            self._select(found[0])
        self._find_first()

    def _find_first(self) -> None:
        """Marks the first place of the searched words in the page."""
        self.page.moveCursor(QTextCursor.MoveOperation.Start)
        if self.search.text().strip():
            self._find_next()

    def _find_next(self) -> None:
        """Marks the next place; from the end it goes on at the start."""
        text = self.search.text().strip()
        if text and not self.page.find(text):
            self.page.moveCursor(QTextCursor.MoveOperation.Start)
            self.page.find(text)

    # pages ---------------------------------------------------------------------------

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
            key = str(item.data(_KEY))
            self._history.visit(key)
            self.page.show_markdown(page_markdown(key, self._layers))
            if self.search.text():
                self._find_first()
