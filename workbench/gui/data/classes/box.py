"""The classes of the project's data, each a line; several can be selected and merged."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from workbench.core.format import plural
from workbench.gui.data.class_row import ClassRow
from workbench.gui.data.classes.changes import (
    LEFT_OUT,
    Classes,
    num_classes,
    own_names,
    renamed,
    restored,
)
from workbench.gui.data.classes.line import ClassLine, LeftOutLine
from workbench.gui.data.state import DataState
from workbench.gui.kit.buttons import button
from workbench.gui.kit.cards import Box
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, row
from workbench.protocol.describe_data import DataDescription

_HINT = "Double-click a name to rename it (F2). No file is changed."
_LEAST = 2


class ClassesBox(Box):
    """Renames, merges and leaves out classes; each is one step that can be undone.

    Attributes:
        rows: The classes of the project, in their order.
        merge: Merges those that are selected, into one of them.
        browse: Shows all images.
        reset: Takes the classes as the data set has them.
    """

    def __init__(self, state: DataState, description: DataDescription) -> None:
        super().__init__("card", 16, 2)
        self._state = state
        self._document = state.context.document
        self._own = [each.name for each in description.own_classes]
        self._last = 0
        self.merge = button("Merge…")
        self.merge.setMenu(self._merge_menu())
        self.reset = button("Reset classes", role="link")
        self.reset.clicked.connect(lambda _=False: self._change({}, "Reset classes"))
        self.hint = plain_label(_HINT, role="dim", wrap=True)
        self.browse = button("Browse images", icon="grid", theme=state.context.theme)
        self.browse.clicked.connect(lambda _=False: state.browse_wanted.emit(""))
        heading = plain_label("Classes", role="heading")
        buttons = (self.reset, self.merge, self.browse)
        self.column.addLayout(row(heading, STRETCH, *buttons, spacing=12))
        self.column.addWidget(self.hint)
        self.rows = self._add_rows(description)
        self._add_left_out(description)
        self._refresh()

    @property
    def _classes(self) -> Classes:
        return self._document.project.edits.classes

    def _add_rows(self, description: DataDescription) -> list[ClassRow]:
        state, theme = self._state, self._state.context.theme
        found = description.classes
        sizes = [each.num_train + each.num_test + each.num_validation for each in found]
        rows = []
        for number, each in enumerate(found):
            class_row = ClassRow(theme, each, max(sizes), "")
            own = own_names(self._own, self._classes, each.name)
            if own and own != [each.name]:
                class_row.set_note(", ".join(own))
            class_row.pressed.connect(partial(self._select, number))
            class_row.renamed.connect(partial(self._rename, each.name))
            line = ClassLine(theme, class_row)
            line.left_out.connect(partial(self._leave_out, each.name))
            line.browsed.connect(partial(state.browse_wanted.emit, each.name))
            self.column.addWidget(line)
            rows.append(class_row)
        return rows

    def _add_left_out(self, description: DataDescription) -> None:
        for own in description.own_classes:
            if self._classes.get(own.name) == LEFT_OUT:
                line = LeftOutLine(own)
                line.restored.connect(partial(self._restore, own.name))
                self.column.addWidget(line)

    # selecting -----------------------------------------------------------------------------

    def selected(self) -> list[str]:
        """Names of the selected classes."""
        return [each.description.name for each in self.rows if each.is_selected]

    def select(self, names: Collection[str]) -> None:
        """Selects the classes of these names."""
        for each in self.rows:
            each.set_selected(is_selected=each.description.name in names)
        self._refresh()

    def _select(self, number: int, modifiers: Qt.KeyboardModifier) -> None:
        is_several = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        first, last = sorted((self._last, number))
        is_range = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
        for place, each in enumerate(self.rows):
            inside = first <= place <= last if is_range else place == number
            if is_several and not is_range:
                inside = each.is_selected != inside
            each.set_selected(is_selected=inside)
        self._last = self._last if is_range else number
        self._refresh()

    def _refresh(self) -> None:
        self.merge.setEnabled(len(self.selected()) > 1)
        tip = "Makes one class of those that are selected: click, then Ctrl+click others."
        self.merge.setToolTip(tip)
        self.reset.setVisible(bool(self._classes))

    def _merge_menu(self) -> QMenu:
        menu = QMenu(self)

        def fill() -> None:
            menu.clear()
            for name in self.selected():
                words = f"Into “{name}”".replace("&", "&&")
                menu.addAction(words).triggered.connect(partial(self._merge, name))

        menu.aboutToShow.connect(fill)
        return menu

    # changing ------------------------------------------------------------------------------

    def _rename(self, name: str, new: str) -> None:
        there = {each.description.name for each in self.rows}
        text = f"Merge {name} into {new}" if new in there else f"Rename {name} to {new}"
        self._change(renamed(self._own, self._classes, [name], new), text)

    def _merge(self, name: str, *_: object) -> None:
        names = self.selected()
        text = f"Merge {plural(len(names), 'class', 'classes')} into {name}"
        self._change(renamed(self._own, self._classes, names, name), text)

    def _leave_out(self, name: str) -> None:
        self._change(renamed(self._own, self._classes, [name], LEFT_OUT), f"Leave out {name}")

    def _restore(self, name: str) -> None:
        self._change(restored(self._own, self._classes, name), f"Use {name} again")

    def _change(self, classes: Classes, text: str) -> None:
        counts = num_classes(self._own, self._classes), num_classes(self._own, classes)
        if counts[1] < _LEAST:
            self._say("At least two classes are needed.")
            self._check_boxes(self.rows)
            return
        self._document.set_classes(classes, text, counts=counts)

    def _say(self, words: str) -> None:
        self.hint.setText(words)

    def _check_boxes(self, rows: Sequence[ClassRow]) -> None:
        for each in rows:
            line = each.parentWidget()
            if isinstance(line, ClassLine):
                line.used.setChecked(True)
