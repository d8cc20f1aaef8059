"""What a source holds: classes with counts and images, notes, files left out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QStackedWidget, QWidget

from workbench.core.format import count, image_size_text, plural
from workbench.core.projects.project import Choice
from workbench.core.specs import Inference
from workbench.document.project_document import ProjectDocument
from workbench.errors import WorkbenchError
from workbench.gui.data.browse import ImageBrowser, open_sample
from workbench.gui.data.classes import ClassesBox, ClassNameField, ClassRow
from workbench.gui.data.split_counts import class_words
from workbench.gui.data.state import DataState
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.images.find_data import FindDataButton
from workbench.gui.images.sample_dialog import Sample
from workbench.gui.kit.dialogs import InstallLink, error_text
from workbench.gui.kit.labels import ElidedLabel, plain_label
from workbench.gui.kit.layout import STRETCH, Part, Stretch, add_to, column, row
from workbench.gui.kit.widgets import Box, FactRows, TextBox, TitledBox
from workbench.protocol.describe_data import DataDescription

# reading -------------------------------------------------------------------------------------
# How the data was read: each inference with its evidence, its doubt and its options.

_TITLE = "How the data was read"
_NAME_PX, _CHOICE_PX = 150, 320


class ReadingBox(TitledBox):
    """Lists inferences; the box of one that has options sets its parameter of the data set, which
    is one step that can be undone.
    """

    def __init__(self, document: ProjectDocument, inferences: Sequence[Inference]) -> None:
        super().__init__(_TITLE)
        self._document = document
        for inference in inferences:
            self.column.addWidget(self._line(inference))

    def _line(self, inference: Inference) -> QWidget:
        line = QWidget()
        name = plain_label(inference.what, role="strong")
        name.setMinimumWidth(_NAME_PX)
        parts = (self._choice(inference), STRETCH) if inference.options else (_value(inference),)
        why = "Set in the data source." if inference.is_told else _sentence(inference.evidence)
        texts = [plain_label(why, role="dim", wrap=True)] if why else []
        if inference.is_doubtful:
            texts.append(plain_label(inference.doubt, role="warning", wrap=True))
        column(row(name, *parts, spacing=12), *texts, parent=line, spacing=2)
        return line

    def _choice(self, inference: Inference) -> NoWheelComboBox:
        """What was taken, then what else it could be."""
        choice = NoWheelComboBox()
        choice.setAccessibleName(inference.what)
        choice.setMaximumWidth(_CHOICE_PX)
        choice.addItem(inference.value)
        for option in inference.options:
            choice.addItem(option.title)
        choice.activated.connect(partial(self._on_chosen, inference))
        return choice

    def _on_chosen(self, inference: Inference, index: int) -> None:
        """Changes the data set in the next turn: this box is deleted by that, and its list, which
        is still open now, with it.
        """
        if index > 0:
            value = inference.options[index - 1].value
            take = partial(_take, self._document, inference.param, value)
            QTimer.singleShot(0, self._document, take)


def _take(document: ProjectDocument, param: str, value: object) -> None:
    chosen = document.project.dataset
    document.set_dataset(Choice(chosen.key, {**chosen.params, param: value}))


def _value(inference: Inference) -> ElidedLabel:
    """What was taken, where nothing else is offered: as wide as the line is."""
    value = ElidedLabel(inference.value)
    value.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    return value


def _sentence(clause: str) -> str:
    """A clause as a sentence of its own."""
    return f"{clause[:1].upper()}{clause[1:]}." if clause else ""


# contents ------------------------------------------------------------------------------------

_MAX_BAD_SHOWN = 200
_FACTS_PX = 460
_BAR_GAP_PX = 8
_LEAST_PX = 120
_EMPTY = "Not loaded yet. Classes and samples appear here."


class DataContentsPanel(QScrollArea):
    """A scrolling column, rebuilt for each description."""

    def __init__(self, state: DataState) -> None:
        super().__init__()
        self._state = state
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._rows: list[ClassRow] = []
        self._shown: Choice | None = None
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.timeout.connect(self._show_late)
        self.verticalScrollBar().rangeChanged.connect(self._keep_off_bar)
        self.say_empty()
        state.source_changed.connect(self._on_source_changed)
        state.missing.connect(self.say_empty)
        state.described.connect(self._on_described)
        state.failed.connect(self.show_error)
        self._document = state.context.document
        self._is_split_off = False
        self._has_validation = False
        document = self._document
        for changed in (document.recipe_changed, document.project_replaced, state.exact.changed):
            changed.connect(self._show_counts)

    def minimumSizeHint(self) -> QSize:
        """Width of its lines, as it scrolls downwards alone."""
        page, bar = self.widget(), self.verticalScrollBar()
        lines = page.minimumSizeHint().width() if page is not None else 0
        least = QSize(lines + bar.sizeHint().width(), _LEAST_PX)
        return super().minimumSizeHint().expandedTo(least)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def say_empty(self, words: str = _EMPTY) -> None:
        """Shows a sentence in the empty place."""
        self._rows = []  # they go with the page
        hint = plain_label(words, role="dim", wrap=True)
        hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._show(STRETCH, hint, Stretch(2))

    def _on_source_changed(self) -> None:
        """After an edit of the same data set the page stays until the next one is known."""
        if not self._rows or self._shown != self._document.project.dataset:
            self.say_empty()

    def _on_described(self, description: DataDescription) -> None:
        """A name that is being typed is not taken away."""
        field = self.findChild(ClassNameField)
        if field is None:
            self.show_description(description)
        else:
            field.destroyed.connect(self._on_name_gone)

    def _on_name_gone(self, *_: object) -> None:
        """Its page must not be deleted from within its own end."""
        self._late.start(0)

    def _show_late(self) -> None:
        if self._state.description is not None:
            self.show_description(self._state.description)

    def show_error(self, error: WorkbenchError) -> None:
        """Shows why the source cannot be used."""
        self._rows = []
        box = TextBox("problem", error.what, error_text(error))
        link = InstallLink()
        link.installed.connect(self._state.rescan)
        find = FindDataButton(self._state.context, self._state.background)
        find.said.connect(self._state.said)
        find.found.connect(self._state.rescan)
        box.column.addWidget(find, 0, Qt.AlignmentFlag.AlignLeft)
        self._show(box, link, STRETCH)
        link.offer(error.fix)
        find.show_for(error)

    def show_description(self, description: DataDescription) -> None:
        """Shows what the source holds."""
        summary, facts = Box("card", 16, 10), FactRows(_facts(description))
        facts.setMaximumWidth(_FACTS_PX)
        add_to(summary.column, plain_label(description.title, role="title", wrap=True), facts)
        notes: list[Box] = [TextBox("notice", "", note) for note in description.notes]
        if description.inferences:
            notes.insert(0, ReadingBox(self._document, description.inferences))
        bad = [self._bad_files(description)] if description.bad_files else []
        chosen = self._document.project.dataset
        at = self.verticalScrollBar().value() if chosen == self._shown else 0
        self._shown = chosen
        self._show(summary, *notes, self._classes(description), *bad, STRETCH)
        QTimer.singleShot(0, self, lambda: self.verticalScrollBar().setValue(at))

    def _classes(self, description: DataDescription) -> Box:
        self._is_split_off = description.is_test_split_off
        self._has_validation = description.num_validation > 0
        selected = {entry.description.name for entry in self._rows if entry.is_selected}
        box = ClassesBox(self._state, description)
        box.select(selected)
        samples: list[Sample] = []
        for entry, each in zip(box.rows, description.classes, strict=True):
            entry.chosen.connect(partial(self._enlarge, samples, len(samples)))
            samples += [Sample(each.name, thumbnail) for thumbnail in each.thumbnails]
        self._rows = box.rows
        self._show_counts()
        return box

    def _show_counts(self) -> None:
        """Shows the counts, as the recipe splits otherwise."""
        recipe = self._document.recipe
        exact, is_awaited = self._state.exact.of(recipe), self._state.exact.is_awaited(recipe)
        for number, entry in enumerate(self._rows):
            counts = class_words(
                entry.description,
                recipe,
                is_split_off=self._is_split_off,
                has_validation=self._has_validation,
                exact=exact[number] if number < len(exact) else None,
                is_awaited=is_awaited,
            )
            entry.set_counts(counts)

    def _enlarge(self, samples: list[Sample], first: int, number: int) -> None:
        open_sample(self._state, samples, first + number, self)

    def _bad_files(self, description: DataDescription) -> Box:
        bad = description.bad_files
        box = Box("notice", 16, 4)
        box.column.addWidget(plain_label(f"{plural(len(bad), 'file')} skipped", role="strong"))
        for path, reason in bad[:_MAX_BAD_SHOWN]:
            name = ElidedLabel(f"{Path(path).name}: {reason}")
            name.setAccessibleDescription(path)
            box.column.addWidget(name)
        if len(bad) > _MAX_BAD_SHOWN:
            more = f"… and {count(len(bad) - _MAX_BAD_SHOWN)} more"
            box.column.addWidget(plain_label(more, role="dim"))
        link = InstallLink()
        link.installed.connect(self._state.rescan)
        box.column.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)
        link.offer_any(description.needed_parts)
        return box

    def _show(self, *parts: Part) -> None:
        page = QWidget()
        column(*parts, parent=page, spacing=14)
        self.setWidget(page)
        self._keep_off_bar(0, self.verticalScrollBar().maximum())

    def _keep_off_bar(self, _low: int, high: int) -> None:
        """Without a scroll bar the cards end where those above them do."""
        page = self.widget()
        if page is not None and (layout := page.layout()) is not None:
            layout.setContentsMargins(0, 0, _BAR_GAP_PX if high else 0, 0)


def _facts(description: DataDescription) -> list[tuple[str, str]]:
    facts = [("Classes", count(len(description.classes)))]
    # What is split off is counted beside the split: here it would be a second figure for it.
    if description.is_test_split_off:
        facts.append(("Images", count(description.num_train + description.num_test)))
    else:
        facts.append(("Training set", plural(description.num_train, "image")))
        facts.append(("Test set", plural(description.num_test, "image")))
    if description.num_validation:
        facts.append(("Validation set", plural(description.num_validation, "image")))
    if description.shape:
        facts.append(("Width × height", image_size_text(description.shape)))
    elif description.typical_size:
        about = "" if description.is_complete else "about "  # of some images, until all were read
        size = image_size_text(description.typical_size)
        facts.append(("Typical width × height", f"{about}{size}"))
    return facts


# pages ---------------------------------------------------------------------------------------
# What the source holds: its classes, or all images of one of them.


class DataPages(QStackedWidget):
    """The page of the classes, and that of the images, which is made when it is first opened.

    Attributes:
        contents: The classes.
        browser: The images; None before they are first looked through.
    """

    def __init__(self, state: DataState) -> None:
        super().__init__()
        self._state = state
        self.contents = DataContentsPanel(state)
        self.browser: ImageBrowser | None = None
        self._shown = state.context.document.project.dataset
        self.addWidget(self.contents)
        self.currentChanged.connect(lambda at: state.browsing.emit(at > 0))
        state.browse_wanted.connect(self.browse)
        for lost in (state.missing, state.failed, state.source_changed):
            lost.connect(self._on_lost)

    def browse(self, name: str) -> None:
        """Shows the images of a class; of all for ""."""
        if self.browser is None:
            self.browser = ImageBrowser(self._state)
            self.browser.closed.connect(lambda: self.setCurrentWidget(self.contents))
            self._state.closing.connect(self.browser.close_background)
            self.addWidget(self.browser)
        self._shown = self._state.context.document.project.dataset
        self.setCurrentWidget(self.browser)
        self.browser.open_class(name)
        self.browser.grid.setFocus()

    def _on_lost(self, *_: object) -> None:
        """The images of another data set are others; after an edit they are listed again."""
        if self._shown != self._state.context.document.project.dataset:
            self.setCurrentWidget(self.contents)
