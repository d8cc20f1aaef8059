"""All images of a data set, to look through: found, enlarged, left out, relabeled.

The list comes from the worker in pieces; the grid asks only for thumbnails that can be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from PySide6.QtCore import QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QLineEdit, QMenu, QWidget

from workbench.client.background import Background
from workbench.client.service_process import Handlers, Question
from workbench.core.format import bytes_text, count, plural
from workbench.core.projects.data_edits import DataEdits, edits_to_plain
from workbench.errors import WorkbenchError
from workbench.gui.data.classes import own_names
from workbench.gui.data.image_list import ANY, ORDERS, Images, Numbers, Shown
from workbench.gui.data.state import DataState
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.images.grid import GridRows, GridSamples, ImageGrid, ImageThumbnails, Index
from workbench.gui.images.sample_dialog import ImageSource, Sample, SampleDialog
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.layout import row
from workbench.gui.kit.widgets import Box, WaitLabel
from workbench.protocol.describe_data import (
    DataDescription,
    IdentifyImages,
    ImageContents,
    ImagePlace,
    ListedImages,
    ListImages,
    Thumbnail,
)

# listing -------------------------------------------------------------------------------------
# The list of all images of the project's data set, from the worker.


class Listing(QObject):
    """Requests the images, and their contents where they are edited.

    Signals:
        listed(Images): All images are known.
        counted(int): So many are known by now.
        failed(WorkbenchError): Why they are not.
    """

    listed = Signal(object)
    counted = Signal(int)
    failed = Signal(object)

    def __init__(self, state: DataState, parent: QObject) -> None:
        super().__init__(parent)
        self._document = state.context.document
        self._list = Question(state.context.service)
        self._identify = Question(state.context.service)

    def ask(self) -> None:
        """Lists the images as they are with the project's edits."""
        images = Images()

        def add(listed: ListedImages) -> None:
            images.add(listed)
            self.counted.emit(len(images))

        handlers = Handlers(
            on_done=lambda _: self.listed.emit(images), on_failed=self.failed.emit, on_part=add
        )
        project = self._document.project
        request = ListImages(
            id=0,
            source=project.dataset.key,
            params=dict(project.dataset.params),
            edits=edits_to_plain(project.edits),
        )
        self._list.ask(request, handlers)

    def identify(self, places: list[ImagePlace], on_done: Callable[[list[str]], None]) -> None:
        """Finds the contents of some images; unreadable ones have none."""

        def take(answer: ImageContents) -> None:
            on_done([content for content in answer.contents if content])

        handlers = Handlers(on_done=take, on_failed=self.failed.emit)
        project = self._document.project
        request = IdentifyImages(
            id=0,
            source=project.dataset.key,
            params=dict(project.dataset.params),
            edits=edits_to_plain(project.edits),
            images=places,
        )
        self._identify.ask(request, handlers)

    def drop(self) -> None:
        """Drops all requests."""
        self._list.drop()
        self._identify.drop()


# model ---------------------------------------------------------------------------------------
# The images that are shown, as a model for a view that asks only for what can be seen.


class ImageRows(GridRows):
    """One row for each image that is shown.

    Attributes:
        images: All that there are.
        class_names: Name of each label.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.images = Images()
        self.class_names: list[str] = []
        self._numbers: Numbers = np.zeros(0, np.int64)

    def show_numbers(self, images: Images, class_names: list[str], numbers: Numbers) -> None:
        """Shows these images, in this order."""
        self.beginResetModel()
        self.images, self.class_names, self._numbers = images, class_names, numbers
        self.endResetModel()

    @property
    def numbers(self) -> Numbers:
        """The numbers of the images that are shown, in their order."""
        return self._numbers

    def number(self, row: int) -> int:
        """The number of the image in a row."""
        return int(self._numbers[row])

    def place(self, row: int) -> ImagePlace:
        return self.images.place(self.number(row))

    def file(self, _row: int) -> str:
        return ""  # the list is of now

    def lines(self, row: int) -> tuple[str, ...]:
        return (self._name(self.number(row)),)

    def sample(self, row: int) -> Sample:
        number = self.number(row)
        place, file = self.images.place(number), self.images.file(number)
        thumbnail = Thumbnail(
            path="", part=place.part, index=place.index, file=file, width=0, height=0
        )
        return Sample(self.class_name(row), thumbnail)

    def _name(self, number: int) -> str:
        return self.images.names[number] or f"image {count(self.images.place(number).index + 1)}"

    def class_name(self, row: int) -> str:
        """The class of the image in a row."""
        label = self.images.label(self.number(row))
        return self.class_names[label] if label < len(self.class_names) else ""

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._numbers)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        number = self.number(index.row())
        name = self._name(number)
        if role == Qt.ItemDataRole.DisplayRole:
            return name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{name}, {self.class_name(index.row())}"
        if role == Qt.ItemDataRole.ToolTipRole:
            size = self.images.size(number)
            parts = (name, self.class_name(index.row()), bytes_text(size) if size else "")
            return plain_tip("\n".join(filter(None, parts)))
        return None


# enlarge -------------------------------------------------------------------------------------
# An image of the project's data set large.


def open_sample(state: DataState, samples: Sequence[Sample], at: int, parent: QWidget) -> None:
    """Opens the dialog; it closes when the data set is another one, or described again."""
    dialog = SampleDialog(state.context, state.image_source, samples, at, parent)
    state.source_changed.connect(dialog.reject)
    state.described.connect(dialog.reject)
    dialog.open()


# browser -------------------------------------------------------------------------------------
# All images of the data set: a grid, what of them is shown, and what can be done with them.

_TYPING_MS = 200
_MOST_EDITED = 5_000
_PARTS = {"train": "Training part", "test": "Test part", "validation": "Validation part"}
_HINT = "Double-click enlarges, Delete leaves out of the project (the file stays)."


class ImageBrowser(Box):
    """Finds, enlarges, leaves out and relabels images.

    Signals:
        closed: Back to the classes.

    Attributes:
        grid: The images.
        rows: The model of `grid`.
        classes, part, order, words: What is shown, and how it is sorted.
        status: How many are shown, or what is waited for.
    """

    closed = Signal()

    def __init__(self, state: DataState) -> None:
        super().__init__("card", 12, 8)
        self._state = state
        self._document = state.context.document
        self._images = Images()
        self._background = Background(self, max_threads=1)
        self._asked = 0
        self._is_listed = state.description is not None and not state.description.is_complete
        self._listing = Listing(state, self)
        self.rows = ImageRows(self)
        self.thumbnails = ImageThumbnails(
            state.context.service, lambda: ImageSource.of(self._document.project), self
        )
        self.grid = ImageGrid(state.context.theme, self.rows, self.thumbnails, self)
        self.back = button("Classes", icon="left", theme=state.context.theme)
        self.classes, self.part, self.order = (NoWheelComboBox() for _ in range(3))
        self.words = QLineEdit()
        self.words.setPlaceholderText("Search file names")
        self.words.setClearButtonEnabled(True)
        self.status = WaitLabel()
        self._typing = QTimer(self)
        self._build()
        self._connect()

    def _build(self) -> None:
        names = (self.classes, "Class"), (self.part, "Part"), (self.order, "Order")
        for widget, name in names:
            widget.setAccessibleName(name)
        self.words.setAccessibleName("Search file names")
        for order, title in ORDERS.items():
            self.order.addItem(title, order)
        line = row(self.back, (self.classes, 2), (self.words, 2), (self.order, 2), self.part)
        self.column.addLayout(line)
        self.column.addWidget(self.grid, 1)
        self.column.addWidget(self.status)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)

    def _connect(self) -> None:
        self.back.clicked.connect(lambda _=False: self.closed.emit())
        for box in (self.classes, self.part, self.order):
            box.activated.connect(lambda _: self._show())
        self.words.textChanged.connect(lambda _: self._typing.start())
        self._typing.timeout.connect(self._show)
        self._listing.listed.connect(self._on_listed)
        self._listing.counted.connect(
            lambda number: self.status.wait_for(f"Listing {count(number)} images")
        )
        self._listing.failed.connect(self._on_failed)
        self.grid.enlarged.connect(self._enlarge)
        self.grid.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.grid.customContextMenuRequested.connect(self._open_menu)
        self.grid.on_key("Delete", self.leave_out)
        self._state.described.connect(self._on_described)

    # what is shown -------------------------------------------------------------------------

    def open_class(self, name: str) -> None:
        """Shows the images of a class, or all for ""."""
        self._fill_classes(name)
        self.words.clear()
        self.refresh()

    def _on_described(self, description: DataDescription) -> None:
        """Once more when it is complete: then the list is the same, and it is known what of it
        cannot be read.
        """
        if not (description.is_complete and self._is_listed):
            self.refresh()
        elif self.rows.rowCount():
            images, numbers = self.rows.images, self.rows.numbers
            self._background.run(lambda: self._words(images, numbers, description), self.status.say)
        self._is_listed = not description.is_complete

    def refresh(self) -> None:
        """Lists the images again; those that are shown stay until then."""
        if self.isHidden():
            return
        self._fill_classes(self.classes.currentText())
        self.status.wait_for("Listing the images")
        self._listing.ask()

    def _fill_classes(self, name: str) -> None:
        found = self._state.description
        self.classes.clear()
        self.classes.addItem("All classes", ANY)
        for label, each in enumerate(found.classes if found is not None else ()):
            self.classes.addItem(each.name, label)
        self.classes.setCurrentIndex(max(0, self.classes.findText(name)))

    def _on_listed(self, images: Images) -> None:
        self._images = images
        self.thumbnails.clear()
        chosen = self.part.currentData()
        self.part.clear()
        self.part.addItem("All parts", "")
        for part in images.parts:
            self.part.addItem(_PARTS.get(part, part), part)
        self.part.setCurrentIndex(max(0, self.part.findData(chosen)))
        self.part.setVisible(len(images.parts) > 1)
        self._show()

    def _show(self) -> None:
        """Finds and sorts in a thread: a hundred thousand names take a moment."""
        self._typing.stop()
        self._asked += 1
        asked, images = self._asked, self._images
        names = [self.classes.itemText(place) for place in range(1, self.classes.count())]
        label, part = self.classes.currentData(), self.part.currentData()
        shown = Shown(
            ANY if label is None else label,
            part or "",
            self.words.text(),
            self.order.currentData(),
        )

        description = self._state.description

        def find() -> tuple[Numbers, str]:
            numbers = images.chosen(shown)
            return numbers, self._words(images, numbers, description)

        def take(found: tuple[Numbers, str]) -> None:
            if asked == self._asked:
                self._take(images, names, *found)

        self._background.run(find, take)

    def _take(self, images: Images, names: list[str], numbers: Numbers, words: str) -> None:
        at = self.grid.verticalScrollBar().value()
        self.rows.show_numbers(images, names, numbers)
        self.grid.updateGeometries()
        self.grid.verticalScrollBar().setValue(at)
        self.status.say(words)

    @staticmethod
    def _words(images: Images, numbers: Numbers, description: DataDescription | None) -> str:
        """How many are shown, and how many of these cannot be read: other figures are without."""
        if not len(numbers):
            return "No image is found."
        bad_files = (
            {path for path, _ in description.bad_files} if description is not None else set()
        )
        unreadable = images.unreadable(numbers, bad_files)
        more = f" of {count(len(images))}" if len(numbers) != len(images) else ""
        bad = f", {count(unreadable)} of them unreadable" if unreadable else ""
        return f"{plural(len(numbers), 'image')}{more}{bad}. {_HINT}"

    def _on_failed(self, error: WorkbenchError) -> None:
        self.status.say(f"{error.what} {error.fix}".strip(), is_bad=True)

    # what can be done ----------------------------------------------------------------------

    def selected(self) -> list[int]:
        """Rows of the selected images."""
        return self.grid.selected_rows()

    def _enlarge(self, at: int) -> None:
        open_sample(self._state, GridSamples(self.rows), at, self)

    def _open_menu(self, point: QPoint) -> None:
        index = self.grid.indexAt(point)
        if not index.isValid():
            return
        menu = self.menu(index.row())
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.grid.viewport().mapToGlobal(point))

    def menu(self, at: int) -> QMenu:
        """What can be done with the selected images; the one at `at` is enlarged."""
        menu = QMenu(self)
        menu.addAction("Enlarge").triggered.connect(lambda _=False: self._enlarge(at))
        relabel = menu.addMenu("Relabel")
        relabel.setEnabled(not self._is_unreadable())
        for place in range(1, self.classes.count()):
            name = self.classes.itemText(place)
            action = QAction(name.replace("&", "&&"), relabel)
            action.triggered.connect(partial(self.relabel, name))
            relabel.addAction(action)
        leave_out = menu.addAction("Leave out")
        leave_out.setShortcut(QKeySequence("Delete"))
        leave_out.triggered.connect(lambda _=False: self.leave_out())
        return menu

    def _is_unreadable(self) -> bool:
        """Whether nothing is selected but files that cannot be read, as far as that is known."""
        images, chosen = self.rows.images, self.selected()
        places = (images.place(self.rows.number(each)) for each in chosen)
        pictures = [self.thumbnails.known_pixmap(place) for place in places]
        return bool(pictures) and all(each is not None and each.isNull() for each in pictures)

    def leave_out(self) -> None:
        """Leaves the selected images out of the project, with each exact copy of them."""

        def change(edits: DataEdits, contents: list[str]) -> DataEdits:
            return replace(edits, left_out=edits.left_out | set(contents))

        self._edit("Leave out", change)

    def relabel(self, name: str, *_: object) -> None:
        """Gives the selected images another class of the project."""
        found = self._state.description
        own = [each.name for each in found.own_classes] if found is not None else []
        classes = self._document.project.edits.classes
        wanted = next(iter(own_names(own, classes, name)), name)

        def change(edits: DataEdits, contents: list[str]) -> DataEdits:
            return replace(edits, labels={**edits.labels, **dict.fromkeys(contents, wanted)})

        self._edit("Relabel", change)

    def _edit(self, verb: str, change: Callable[[DataEdits, list[str]], DataEdits]) -> None:
        """Changes the edits of the selected images, once their contents are known."""
        chosen = self.selected()
        if not chosen:
            return
        if len(chosen) > _MOST_EDITED:
            self.status.say(f"Select at most {count(_MOST_EDITED)} images at a time.", is_bad=True)
            return
        places = [self.rows.images.place(self.rows.number(each)) for each in chosen]

        def done(contents: list[str]) -> None:
            if contents:
                text = f"{verb} {plural(len(contents), 'image')}"
                self._document.set_edits(change(self._document.project.edits, contents), text)
            else:
                self.status.say("The images cannot be read.", is_bad=True)

        self.status.wait_for("Reading the images")
        self._listing.identify(places, done)

    def close_background(self) -> None:
        """Ends all reading in the background."""
        self._listing.drop()
        self.thumbnails.close()
        self._background.close()
