"""How the data was read: each inference with its evidence, its doubt and its options."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.core.projects.project import Choice
from workbench.core.specs import Inference
from workbench.document.project_document import ProjectDocument
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.kit.cards import TitledBox
from workbench.gui.kit.labels import ElidedLabel, plain_label
from workbench.gui.kit.layout import STRETCH, column, row

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
