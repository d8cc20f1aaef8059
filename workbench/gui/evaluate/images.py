"""The images of an evaluation in a grid, and what can be done with them in the open project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from workbench.core.format import count, plural
from workbench.core.projects.data_edits import DataEdits, PartName
from workbench.gui.evaluate.scored import (
    GAINED,
    LOST,
    RELABELED,
    TOP_LOSSES,
    WRONG,
    Chosen,
    ScoredRows,
    ScoredState,
    edited_words,
)
from workbench.gui.evaluate.state import EvaluateState
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.images.grid import GridSamples, ImageGrid, ImageThumbnails
from workbench.gui.images.sample_dialog import ImageSource, SampleDialog
from workbench.gui.kit.buttons import button
from workbench.gui.kit.dialogs import ask_text
from workbench.gui.kit.labels import breakable, plain_label
from workbench.gui.kit.layout import STRETCH, row
from workbench.gui.kit.widgets import Box
from workbench.runs.store.image_scores import ScoredImages

# tagging -------------------------------------------------------------------------------------
# Tags of images: what the menu offers, and the edits that it makes. Training ignores them.

MAX_TAG = 60
"""Characters; more cannot be read in a table."""

_TITLE = "New tag"


def tagged(edits: DataEdits, contents: Iterable[str], tag: str) -> DataEdits:
    """The edits with this tag for some images, by their contents; "" takes theirs away."""
    tags = {**edits.tags}
    for content in contents:
        if tag:
            tags[content] = tag
        else:
            tags.pop(content, None)
    return replace(edits, tags=tags)


class TagMenu(QMenu):
    """Offers the tags that are in use, a new one, and none.

    Signals:
        chosen(str): The tag for the selected images; "" for none.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget, title: str = "") -> None:
        super().__init__(title, parent)

    def fill(self, edits: DataEdits) -> None:
        """Offers the tags of these edits."""
        self.clear()
        for tag in sorted({*edits.tags.values()}, key=str.casefold):
            self.addAction(tag.replace("&", "&&"), partial(self.chosen.emit, tag))
        self.addAction("New tag…", self.ask)
        if edits.tags:
            self.addSeparator()
            self.addAction("No tag", partial(self.chosen.emit, ""))

    def ask(self) -> None:
        """Lets the user type a tag."""
        words = ask_text(self.parentWidget(), _TITLE, "Tag:") or ""
        if tag := "".join(filter(str.isprintable, words)).strip()[:MAX_TAG]:
            self.chosen.emit(tag)


# images --------------------------------------------------------------------------------------

_HINT = "Select images to edit them. Double-click or Enter enlarges."
_TRAIN_AGAIN = "Trains the project, with all edits, from the weights of this run"
_TAG = "Gives them a tag, by which Slices shows the accuracy: training ignores it"
_TO_TRAINING = "Moves them to the training part: the test set gets smaller, the files stay"

_MOST_CLASSES = 300
"""More classes than anyone looks for in a list; a click in the matrix shows any of them."""


class ImagesPanel(Box):
    """A choice of images above the grid, actions below it.

    Attributes:
        scored: The images, and what is edited of them.
        rows: The model of `grid`.
        box: Which images are shown.
        others: Which run it is compared with.
    """

    def __init__(self, state: EvaluateState) -> None:
        super().__init__("card", 16, 8)
        theme, service = state.context.theme, state.context.service
        self._state, self._theme = state, theme
        self.scored = ScoredState(state)
        self.rows = ScoredRows(self)
        self._source = ImageSource()
        self.thumbnails = ImageThumbnails(service, self.scored.source, self)
        self.grid = ImageGrid(theme, self.rows, self.thumbnails, self)
        self.box = NoWheelComboBox()
        self.box.setAccessibleName("Which images")
        self.others = NoWheelComboBox()
        self.others.setAccessibleName("Compare with")
        self.others.setToolTip("Which images one of two runs has right and the other wrong")
        self.subject = plain_label(role="dim", wrap=True)
        self.relabel_button = button("Relabel to")
        self.leave_out_button = button("Leave out")
        self.to_training_button = button("To training")
        self.to_training_button.setToolTip(_TO_TRAINING)
        self.tag_button = button("Tag")
        self.tag_button.setToolTip(_TAG)
        self.tag_menu = TagMenu(self)
        self.train_button = button("Train again")
        self.train_button.setToolTip(_TRAIN_AGAIN)
        self.status = plain_label(role="dim", wrap=True)
        self.setMinimumWidth(430)
        self._build()
        self._connect()
        self._fill()

    def _build(self) -> None:
        buttons = self.relabel_button, self.leave_out_button, self.to_training_button
        self.relabel_button.setMenu(QMenu(self))
        self.tag_button.setMenu(self.tag_menu)
        self.column.addLayout(row((self.box, 1), (self.others, 1), spacing=8))
        self.column.addWidget(self.subject)
        self.column.addWidget(self.grid, 1)
        self.column.addLayout(row((self.status, 1), self.train_button, spacing=8))
        self.column.addLayout(row(*buttons, self.tag_button, STRETCH, spacing=8))

    def _connect(self) -> None:
        self.scored.changed.connect(self._fill)
        self.scored.chosen_changed.connect(self._show)
        self.scored.marked.connect(self._mark)
        self.box.activated.connect(lambda _: self.scored.choose(self.box.currentData()))
        self.others.activated.connect(lambda _: self.scored.compare(self.others.currentData()))
        self.relabel_button.menu().aboutToShow.connect(self._fill_relabel)
        self.leave_out_button.clicked.connect(lambda _=False: self.leave_out())
        self.to_training_button.clicked.connect(lambda _=False: self.move_to_training())
        self.tag_menu.aboutToShow.connect(lambda: self.tag_menu.fill(self.scored.edits()))
        self.tag_menu.chosen.connect(self.tag)
        self.train_button.clicked.connect(lambda _=False: self.train_again())
        self.grid.enlarged.connect(self._enlarge)
        self.grid.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.grid.customContextMenuRequested.connect(self._open_menu)
        self.grid.selectionModel().selectionChanged.connect(lambda *_: self._say())
        self.grid.on_key("Delete", self.leave_out)
        self._state.closing.connect(self.close_background)

    # what is shown -------------------------------------------------------------------------

    def _fill(self) -> None:
        """Refills the list of choices, and shows the images of the current one."""
        found = self.scored.found
        self.thumbnails.clear()
        self.box.clear()
        names = found.class_names if found is not None else []
        other = self.scored.other
        changes = [LOST, GAINED] if other is not None else []
        changes += [RELABELED] if other is not None and other.num_relabeled else []
        classes = list(range(len(names)))
        if len(names) > _MOST_CLASSES:
            classes = _most_wrong(self.scored.images, _MOST_CLASSES)
        choices = [WRONG, *changes, TOP_LOSSES, *(Chosen(actual=at) for at in classes)]
        for chosen in choices:
            self.box.addItem(chosen.words(names), chosen)
        self._fill_others()
        self._show()
        self._mark()

    def _fill_others(self) -> None:
        """Lists the runs that the one shown can be compared with."""
        self.others.clear()
        self.others.addItem("Compare with…" if self.scored.other is None else "No comparison", None)
        for path, title in self.scored.others:
            self.others.addItem(title, path)
        other = self.scored.other
        self.others.setCurrentIndex(0 if other is None else self.others.findText(other.title))
        self.others.setVisible(bool(self.scored.others))

    def _show(self) -> None:
        found, images, chosen = self.scored.found, self.scored.images, self.scored.chosen
        names = found.class_names if found is not None else []
        picked = self.scored.picked
        other = self.scored.other if picked is None else None
        words = chosen.words(names) if names else ""
        words = picked.words if picked is not None else words
        if self.scored.source() != self._source:  # the same place may be another image there
            self._source = self.scored.source()
            self.thumbnails.clear()
        place = self.box.findText(words)
        if place < 0 and words:
            self.box.addItem(words, chosen)  # picked images: what was chosen before them
            place = self.box.count() - 1
        self.box.setCurrentIndex(place)
        numbers = chosen.numbers(images, other) if images is not None else np.zeros(0, np.int64)
        if picked is not None:
            found, numbers = picked.found, picked.numbers
        self.subject.setText(breakable(self.scored.subject()))
        self.rows.show_numbers(found, numbers, other)
        self.rows.set_edits(self.scored.edits())
        self.grid.updateGeometries()
        self.grid.verticalScrollBar().setValue(0)
        self._say()

    def _mark(self) -> None:
        """Shows what is edited in the open project."""
        self.rows.set_edits(self.scored.edits())
        self._say()

    def _are_training(self, rows: Sequence[int]) -> bool:
        """Whether all these images are in the training part by now."""
        parts = self.scored.document.project.edits.parts
        now = (parts.get(self.rows.content(at), self.rows.place(at).part) for at in rows)
        return all(part == "train" for part in now)

    def _say(self) -> None:
        reason, chosen = self.scored.reason(), self.selected()
        buttons = self.relabel_button, self.leave_out_button, self.to_training_button
        for each in (*buttons, self.tag_button):
            each.setEnabled(not reason and bool(chosen))
        if self._are_training(chosen):
            self.to_training_button.setEnabled(False)
        self.train_button.setEnabled(not reason)
        if self.scored.images is None and self.scored.picked is None:
            self.status.setText(self.scored.problem)
            return
        shown = self.rows.rowCount()
        what = f"{plural(shown, 'image')}, largest loss first" if shown else "No image is like that"
        of_selected = f"{count(len(chosen))} selected" if chosen else ""
        edited = edited_words(self.scored.edits(), self._contents(range(shown)))
        parts = ", ".join(filter(None, (what, self._apart_words(), of_selected, edited)))
        self.status.setText(f"{parts}. {reason or _HINT}")

    def _apart_words(self) -> str:
        """How many images are in neither of the changes because of their labels; "" for none."""
        other, is_change = self.scored.other, self.scored.chosen in (LOST, GAINED)
        is_shown = is_change and self.scored.picked is None
        number = other.num_relabeled if other is not None and is_shown else 0
        return f"{count(number)} labeled differently not counted" if number else ""

    def _contents(self, rows: Sequence[int]) -> list[str]:
        if self.scored.edits().names_images:
            return [self.rows.content(at) for at in rows]
        return []

    # what can be done ----------------------------------------------------------------------

    def selected(self) -> list[int]:
        """Rows of the selected images."""
        return self.grid.selected_rows()

    def _enlarge(self, at: int) -> None:
        samples = GridSamples(self.rows)
        SampleDialog(self._state.context, self.scored.source, samples, at, self).open()

    def _open_menu(self, point: QPoint) -> None:
        index = self.grid.indexAt(point)
        if index.isValid():
            menu = self.menu(index.row())
            menu.aboutToHide.connect(menu.deleteLater)
            menu.popup(self.grid.viewport().mapToGlobal(point))

    def menu(self, at: int) -> QMenu:
        """What can be done with the selected images; the one at `at` is enlarged."""
        menu = QMenu(self)
        menu.addAction("Enlarge").triggered.connect(lambda _=False: self._enlarge(at))
        relabel = menu.addMenu("Relabel to")
        self._add_classes(relabel)
        tags = TagMenu(menu, "Tag")
        tags.fill(self.scored.edits())
        tags.chosen.connect(self.tag)
        tags.setEnabled(not self.scored.reason())
        menu.addMenu(tags)
        entries = (
            ("Leave out", self.leave_out),
            ("Move to training", self.move_to_training),
            ("Remove edits", self.restore),
        )
        relabel.setEnabled(not self.scored.reason())
        for words, act in entries:
            action = menu.addAction(words)
            action.triggered.connect(lambda _=False, act=act: act())
            action.setEnabled(not self.scored.reason())
        if reason := self.scored.reason():
            menu.addSection(reason)
        return menu

    def _fill_relabel(self) -> None:
        menu = self.relabel_button.menu()
        menu.clear()
        self._add_classes(menu)

    def _add_classes(self, menu: QMenu) -> None:
        for name in self.scored.class_names():
            action = QAction(name.replace("&", "&&"), menu)
            action.triggered.connect(partial(self.relabel, name))
            menu.addAction(action)

    def relabel(self, name: str, *_: object) -> None:
        """Gives the selected images another class of the project."""
        own = self.scored.own_class(name)

        def change(edits: DataEdits, contents: list[str]) -> DataEdits:
            labels = {**edits.labels, **dict.fromkeys(contents, own)}
            return replace(edits, labels=labels, left_out=edits.left_out - {*contents})

        self._edit("Relabel", change)

    def tag(self, tag: str) -> None:
        """Gives the selected images a tag, or takes theirs away."""
        verb = f"Tag “{tag}” on" if tag else "Remove tag of"
        self._edit(verb, lambda edits, contents: tagged(edits, contents, tag))

    def leave_out(self) -> None:
        """Leaves the selected images out of the project, with each exact copy of them."""
        self._edit(
            "Leave out",
            lambda edits, contents: replace(edits, left_out=edits.left_out | {*contents}),
        )

    def move_to_training(self) -> None:
        """Puts the selected images into the training part; all others stay where they are."""

        def change(edits: DataEdits, contents: list[str]) -> DataEdits:
            parts: dict[str, PartName] = dict(edits.parts)
            for content in contents:
                parts[content] = "train"
            return replace(edits, parts=parts, left_out=edits.left_out - {*contents})

        self._edit("Move to training", change)

    def restore(self) -> None:
        """Removes what is edited of the selected images."""

        def change(edits: DataEdits, contents: list[str]) -> DataEdits:
            gone = {*contents}
            return replace(
                edits,
                left_out=edits.left_out - gone,
                labels={each: name for each, name in edits.labels.items() if each not in gone},
                parts={each: part for each, part in edits.parts.items() if each not in gone},
            )

        self._edit("Remove edits of", change)

    def _edit(self, verb: str, change: Callable[[DataEdits, list[str]], DataEdits]) -> None:
        """Changes the edits of the selected images, in one step of undo."""
        chosen, document = self.selected(), self.scored.document
        if self.scored.reason() or not chosen:
            return
        contents = [self.rows.content(at) for at in chosen]
        before = document.project.edits
        after = change(before, contents)
        if after != before:
            document.set_edits(after, f"{verb} {plural(len(contents), 'image')}")

    def train_again(self) -> None:
        """Trains the project as it is now from the weights of the run that is shown."""
        if self._state.run is not None:
            self._state.train_again.emit(self._state.run)

    def close_background(self) -> None:
        """Ends all reading in the background."""
        self.thumbnails.close()


def _most_wrong(images: ScoredImages | None, most: int) -> list[int]:
    """The classes with most images that are classified wrong, at most so many, in their order."""
    if images is None:
        return []
    found, counts = np.unique(images.actual[~images.is_right], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:most]
    return sorted(found[order].tolist())
