"""The table of a classified folder, sorted and filtered; a click classifies the image large."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHeaderView,
    QStackedWidget,
    QTableView,
    QWidget,
)

from workbench.core.format import count, plural
from workbench.gui.classify.folder.model import COLUMNS, NEXT, TRUTH, FolderModel
from workbench.gui.classify.folder.rows import RIGHT, UNKNOWN, UNREADABLE, WRONG, Filter
from workbench.gui.classify.folder.sorter import FolderSorter, TableSaver
from workbench.gui.common.context import WindowContext
from workbench.gui.images.grid import ImageThumbnails
from workbench.gui.images.sample_dialog import ImageSource
from workbench.gui.kit.buttons import (
    ElidedButton,
    ElidedComboBox,
    SegmentedSwitch,
    button,
    show_instead,
)
from workbench.gui.kit.dialogs import ask_file
from workbench.gui.kit.labels import ElidedLabel, plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.widgets import SortHeader
from workbench.gui.tables import class_row, class_table
from workbench.protocol.classify import Agreement, Classified, ManyClassified

# other model ---------------------------------------------------------------------------------
# The line above a folder's answers while another model is chosen than the one that gave them.


class OtherModelLine(QWidget):
    """Names both models, and has a button that classifies again with the chosen one.

    Signals:
        again(): The button was clicked.
    """

    again = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.words = plain_label(role="warning", wrap=True)
        self.button = ElidedButton("")
        self.button.clicked.connect(lambda _=False: self.again.emit())
        line = row((self.words, 1), self.button, parent=self, spacing=12)
        line.setAlignment(self.button, Qt.AlignmentFlag.AlignVCenter)
        self.hide()

    def show_models(self, used: str, chosen: str, *, is_complete: bool) -> None:
        """Shows the titles of the model that gave the answers and of the one that is chosen; only
        complete answers can be replaced.
        """
        if is_complete:
            words = f"These are predictions of {used}. The chosen model is {chosen}."
        else:
            words = f"The images are classified with {used}, not with the chosen {chosen}."
        self.words.setText(words)
        again = f"Classify again with {chosen}"
        self.button.setText(again.replace("&", "&&"))
        self.button.setToolTip(plain_tip(again))
        self.button.setVisible(is_complete)
        self.show()


# results -------------------------------------------------------------------------------------

ROW_PX, THUMBNAIL_PX = 36, 30
_NARROW_PX = 780
_IMAGES, _CLASSES = "images", "classes"
_WALK_MS = 120
"""A held arrow key passes rows; the one it rests on is classified."""

_SORT_MS = 1_000
"""While rows come, they are put in their places this often at most."""

_UNCERTAINTIES = (
    (0.0, "Any uncertainty"),
    (0.05, "Uncertainty > 5%"),
    (0.2, "Uncertainty > 20%"),
    (0.5, "Uncertainty > 50%"),
)
_STATES = (
    ("", "All images"),
    (UNREADABLE, "Cannot be read"),
    (UNKNOWN, "Unknown"),
    (WRONG, "Wrong"),
    (RIGHT, "Correct"),
)


class FolderResults(QFrame):
    """What is known of a folder's images while it is being classified, and after.

    Signals:
        chosen(str, str): File and label of the image that was clicked or entered.
        truth_chosen(str): A CSV file with the true classes.
        again(): The images are to be classified again, with the chosen model.
        closed(): Close was clicked.
    """

    chosen = Signal(str, str)
    truth_chosen = Signal(str)
    again = Signal()
    closed = Signal()

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.thumbnails = ImageThumbnails(context.service, ImageSource, self)
        self.model = FolderModel(context.theme, self.thumbnails, self)
        self.sorter = FolderSorter(self)
        self.heading = ElidedLabel()
        self.heading.setProperty("role", "strong")
        self.other_model = OtherModelLine()
        self.labels, self.states, self.uncertainties = (ElidedComboBox() for _ in range(3))
        self.sort_button = button("Sort into folders…")
        self.saver = TableSaver(self)
        self.save_button = button("Save as table…")
        self.undo_button = button("Undo sorting…")
        self.undo_button.hide()
        self.cancel_button = button("Cancel")
        self.cancel_button.hide()
        self.close_button = button("Close")
        self.switch = SegmentedSwitch(((_IMAGES, "Images"), (_CLASSES, "Per class")))
        self.truth_button = button("Labels from table…")
        self.filters = QWidget()
        self.table = _table(context, self.model)
        self.hint = plain_label(role="dim", wrap=True)
        self.classes = class_table(context.theme)
        self._pages = QStackedWidget()
        self._run: Path | None = None
        self._chosen: tuple[Path | None, str] = (None, "")
        self._is_complete = self._is_watched = False
        self._sorting = QTimer(self)
        self._sorting.setSingleShot(True)
        self._sorting.setInterval(_SORT_MS)
        self._walking = QTimer(self, singleShot=True, interval=_WALK_MS)
        self._fill_filters()
        self._build()
        self._connect()
        context.document.edited.connect(lambda: self._set_undo_next(is_next=False))
        self.begin("", None, "")

    def _build(self) -> None:
        self.sort_button.setToolTip(
            "Copies or moves the images shown into a folder for each predicted class"
        )
        self.truth_button.setToolTip(
            "Compares with the true classes in a CSV file with columns path and label"
        )
        filters = row(self.labels, self.states, self.uncertainties, spacing=8, parent=self.filters)
        filters.setContentsMargins(0, 0, 0, 0)
        sorting = (self.undo_button, self.sort_button, self.cancel_button)
        top = row((self.heading, 1), self.truth_button, *sorting, self.close_button, spacing=8)
        self.save_button.setToolTip("Saves all rows, with the probability of each class")
        second = row(self.switch, self.filters, STRETCH, self.save_button, spacing=8)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        column(self.hint, parent=self.table.viewport(), margins=(24, 8, 24, 8))
        self._pages.addWidget(self.table)
        self._pages.addWidget(self.classes)
        lines = (top, self.other_model, second, (self._pages, 1))
        column(*lines, parent=self, margins=(14, 10, 14, 10), spacing=8)
        self._show_page(_IMAGES)

    def _fill_filters(self) -> None:
        self.labels.setAccessibleName("Predicted class")
        self.labels.addItem("All predictions", "")
        self.states.setAccessibleName("State")
        self.uncertainties.setAccessibleName("Uncertainty: 1 - probability")
        self.uncertainties.setToolTip("1 - the probability of the predicted class")
        for key, words in _STATES:
            self.states.addItem(words, key)
        for least, words in _UNCERTAINTIES:
            self.uncertainties.addItem(words, least)

    def _connect(self) -> None:
        for combo in (self.labels, self.states, self.uncertainties):
            combo.activated.connect(self._on_filter)
        self.table.clicked.connect(self._on_chosen)
        self.table.activated.connect(self._on_chosen)
        self.table.selectionModel().currentChanged.connect(self._on_current)
        self._walking.timeout.connect(self._on_walked)
        self.close_button.clicked.connect(self.closed)
        self.other_model.again.connect(self.again)
        self.switch.chosen.connect(self._show_page)
        self.truth_button.clicked.connect(lambda _=False: self._ask_truth())
        self.save_button.clicked.connect(lambda _=False: self._on_save())
        self._connect_sorter()
        self._sorting.timeout.connect(self.model.sort_again)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window the names of the images go before the next class."""
        super().resizeEvent(event)
        self.table.setColumnHidden(NEXT, self.width() < _NARROW_PX)

    def _connect_sorter(self) -> None:
        sorter = self.sorter
        self.sort_button.clicked.connect(lambda _=False: self._on_sort())
        self.undo_button.clicked.connect(lambda _=False: sorter.ask_undo())
        self.cancel_button.clicked.connect(sorter.cancel)
        sorter.busy_changed.connect(self._on_busy)
        sorter.undo_changed.connect(self.undo_button.setVisible)
        sorter.undo_changed.connect(lambda can_undo: self._set_undo_next(is_next=can_undo))
        sorter.relocated.connect(self.model.relocate)

    # taking back -------------------------------------------------------------------------

    _is_undo_next = False

    def _set_undo_next(self, *, is_next: bool) -> None:
        """Whether the latest that was done is a sorting, which no step of the document is."""
        self._is_undo_next = is_next

    def _takes_back(self, event: QEvent) -> bool:
        """Whether the keys of Undo are meant for the sorting."""
        is_ready = self._is_undo_next and self.undo_button.isVisible()
        is_key = isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Undo)
        return is_ready and self.undo_button.isEnabled() and is_key

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and self._takes_back(event):
            event.accept()  # else the window would undo the document's latest step
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._takes_back(event):
            self.undo_button.click()
        else:
            super().keyPressEvent(event)

    # what the panel calls ----------------------------------------------------------------

    def begin(self, name: str, run: Path | None, model: str, *, is_watched: bool = False) -> None:
        """Begins another folder of this name, which is classified, or watched, with the network of
        this run (folder and title).
        """
        self._name, self._run, self._model = name, run, model
        self._is_complete, self._is_watched = False, is_watched
        self._set_rows(None)
        self._show_other_model()
        self.sorter.forget()
        self._show_agreement(None)
        self.thumbnails.clear()
        self.model.clear()
        self.table.setColumnHidden(TRUTH, True)
        while self.labels.count() > 1:
            self.labels.removeItem(1)
        self._on_filter()  # the class that was chosen is no choice any more

    def set_chosen(self, run: Path | None, model: str) -> None:
        """Takes the run (folder and title) that is chosen for what is classified next."""
        self._chosen = (run, model)
        self._show_other_model()

    def _show_other_model(self) -> None:
        run, model = self._chosen
        if run is None or run == self._run:
            self.other_model.hide()
        else:
            self.other_model.show_models(self._model, model, is_complete=self._is_complete)

    def files(self) -> list[str]:
        """Paths of the images of all rows, in the order they came."""
        return [self.model.rows.file(row) for row in range(len(self.model.rows))]

    def add(self, answers: list[Classified]) -> None:
        """Adds the answers for the next images, in order."""
        self.model.add(answers)
        if not self.model.is_in_order and not self._sorting.isActive():
            self._sorting.start()
        known = self.labels.count() - 1
        for name in self.model.rows.names[known:]:
            self.labels.addItem(name, name)
        if any(answer.truth for answer in answers):
            self.table.setColumnHidden(TRUTH, False)
        self._show_counts()

    def finish(self, done: ManyClassified, rows: Path | None = None) -> None:
        """All images are there; and the scores of the classes, where true classes are known. Their
        rows are in a CSV file where they are not in a table yet.
        """
        self._show_agreement(done.agreement)
        self._set_rows(rows)

    def _set_rows(self, rows: Path | None) -> None:
        self._rows = rows
        self.save_button.setVisible(rows is not None)

    def _on_save(self) -> None:
        if self._rows is not None:
            self.saver.ask(self._rows, f"{self._name}.csv")

    def _show_agreement(self, agreement: Agreement | None) -> None:
        is_known = agreement is not None and agreement.accuracy is not None
        self.switch.setVisible(is_known)
        self.classes.set_rows(map(class_row, agreement.per_class) if agreement is not None else ())
        if not is_known:
            self._show_page(_IMAGES)

    def _show_page(self, key: str) -> None:
        self.switch.set_current(key)
        self.filters.setVisible(key == _IMAGES)
        self._pages.setCurrentWidget(self.table if key == _IMAGES else self.classes)

    def _ask_truth(self) -> None:
        filters = "Tables (*.csv *.tsv *.txt);;All files (*)"
        path = ask_file(self, "True classes", filters, kind="table")
        if path:
            self.truth_chosen.emit(path)

    def close_background(self) -> None:
        """Ends all reading and writing in the background."""
        self.thumbnails.close()
        self.sorter.close()
        self.saver.close()

    def set_complete(self, *, is_complete: bool) -> None:
        """Sets whether all rows are there: only then they are sorted into folders."""
        self._is_complete = is_complete
        for each in (self.sort_button, self.truth_button):
            each.setEnabled(is_complete and bool(len(self.model.rows)))
        self._show_other_model()
        self._show_counts()

    def _on_sort(self) -> None:
        rows, shown = self.model.rows, self.model.shown()
        self.sorter.ask(lambda: rows.answers(shown), self._model)

    def _on_busy(self, is_busy: bool) -> None:  # noqa: FBT001 - Qt's signal
        buttons = (self.cancel_button, self.sort_button)
        show_instead(*(buttons if is_busy else reversed(buttons)))
        self.undo_button.setEnabled(not is_busy)
        self.close_button.setEnabled(not is_busy)
        self.other_model.button.setEnabled(not is_busy)

    def _show_counts(self) -> None:
        rows = self.model.rows
        shown, total = self.model.rowCount(), len(rows)
        part = "" if shown == total else f"{count(shown)} of "
        bad = f" · {count(len(rows.errors))} cannot be read" if rows.errors else ""
        counts = f"{part}{plural(total, 'image')}{bad}"
        self.heading.set_full_text(f"Predictions of {self._model} · {self._name} · {counts}")
        self.hint.setText("" if shown else self._empty_words())
        self.hint.setVisible(not shown)

    def _empty_words(self) -> str:
        """Why no image is listed."""
        if len(self.model.rows):
            return "No image matches the filters."
        if self._is_complete:
            return "No image was classified."
        if self._is_watched:
            return (
                "Waiting for new images. Those that are put into this folder from now on are "
                "classified and listed here."
            )
        return "The images appear here as they are classified."

    def _on_filter(self) -> None:
        data = (
            self.labels.currentData(),
            self.states.currentData(),
            self.uncertainties.currentData(),
        )
        self.model.set_filter(Filter(*data))
        self._show_counts()

    def _on_current(self) -> None:
        """The keys walk along the rows; a click chooses by itself."""
        is_click = QApplication.mouseButtons() != Qt.MouseButton.NoButton
        if self.table.hasFocus() and not is_click:
            self._walking.start()

    def _on_walked(self) -> None:
        index = self.table.currentIndex()
        if index.isValid():
            self._on_chosen(index)

    def _on_chosen(self, index: QModelIndex | QPersistentModelIndex) -> None:
        number = self.model.row_of(index)
        self.chosen.emit(self.model.rows.file(number), self.model.rows.truth(number))


def _table(context: WindowContext, model: FolderModel) -> QTableView:
    table = QTableView()
    table.setModel(model)
    table.setFont(context.theme.font(13, tabular=True))
    table.setAccessibleName("Classified images")
    table.setFrameShape(QFrame.Shape.NoFrame)
    table.setShowGrid(False)
    table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    table.setIconSize(QSize(THUMBNAIL_PX, THUMBNAIL_PX))
    table.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
    table.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
    rows = table.verticalHeader()
    rows.hide()
    rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    rows.setDefaultSectionSize(ROW_PX)
    header = SortHeader(context.theme)
    table.setHorizontalHeader(header)
    header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    for place, each in enumerate(COLUMNS):
        if each.width_px:
            header.resizeSection(place, each.width_px)
        else:
            header.setSectionResizeMode(place, QHeaderView.ResizeMode.Stretch)
    header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    header.setSortIndicatorClearable(True)
    table.setSortingEnabled(True)
    header.sortIndicatorChanged.connect(lambda *_order: table.scrollToTop())
    return table
