"""Box for when the selected layers learn, and with which weights they start."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QWidget

from workbench.backbones import all_backbones
from workbench.core.format import list_text
from workbench.core.network.graph import TRAININGS, Node, Training
from workbench.gui.forms.param_editors import MIXED, NoWheelComboBox
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme

_ICON_PX = 16
_TEXTS: dict[Training, tuple[str, str, str]] = {
    "always": ("Always", "train", "Its weights are trained from the first epoch on."),
    "fine_tuning": (
        "Fine-tuning only",
        "fine_tuning",
        "Its weights are trained in the fine-tuning phase; before, they stay as they are.",
    ),
    "never": (
        "Never (frozen)",
        "frozen",
        "Its weights stay as they are: trainable=False.",
    ),
}
_TIP = (
    "When the weights are trained. Keras's word for it is trainable: a frozen layer has "
    "trainable=False."
)


class TrainingBox(QWidget):
    """A row with a choice, and what is known of the initial weights.

    Signals:
        training_chosen(str): The layers shall learn then.
        random_asked(): The layers shall start with random weights.
        restore_asked(): The layers shall start with their pretrained weights again.
    """

    training_chosen = Signal(str)
    random_asked = Signal()
    restore_asked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.choice = NoWheelComboBox()
        self.choice.setAccessibleName("Training")
        self.choice.setToolTip(plain_tip(_TIP))
        self.choice.setIconSize(QSize(_ICON_PX, _ICON_PX))
        self.choice.setPlaceholderText(MIXED)
        for key in TRAININGS:
            self.choice.addItem(_TEXTS[key][0], key)
        self.choice.activated.connect(self._on_activated)
        self.weights = plain_label(role="dim", wrap=True)
        self.random = button("Use random weights instead", role="link")
        self.random.clicked.connect(self.random_asked)
        self.restore = button("Restore pretrained weights", role="link")
        self.restore.clicked.connect(self.restore_asked)
        label = plain_label("Training", role="dim")
        label.setBuddy(self.choice)
        label.setToolTip(plain_tip(_TIP))
        lines = (row(label, (self.choice, 1), spacing=12), self.weights)
        links = (row(each, STRETCH) for each in (self.random, self.restore))
        column(*lines, *links, parent=self, spacing=4)
        theme.changed.connect(self._show_icons)
        self._show_icons()

    def _show_icons(self) -> None:
        colors = self._theme.colors
        tones = {"never": colors.frozen, "fine_tuning": colors.fine_tuning}
        for place, key in enumerate(TRAININGS):
            self.choice.setItemIcon(place, self._theme.icon(_TEXTS[key][1], tones.get(key)))

    def show_nodes(self, nodes: Sequence[Node], *, can_restore: bool) -> None:
        """Shows when some layers with weights learn, where their initial weights are from, and
        whether they could be pretrained ones again.
        """
        found = {node.training for node in nodes}
        self.choice.setCurrentIndex(TRAININGS.index(found.pop()) if len(found) == 1 else -1)
        weights = _origin_text([node.pretrained for node in nodes if node.pretrained])
        self.weights.setText(weights)
        self.weights.setVisible(bool(weights))
        self.random.setVisible(bool(weights))
        self.restore.setVisible(can_restore)

    def _on_activated(self, place: int) -> None:
        self.training_chosen.emit(TRAININGS[place])


def _origin_text(pretrained: Sequence[str]) -> str:
    """Whose weights layers start with, such as "Starts with the weights of ResNet50, conv1"."""
    if not pretrained:
        return ""
    keys = dict.fromkeys(each.partition("/")[0] for each in pretrained)
    names = list_text([_title(key) for key in keys])
    if len(pretrained) == 1:
        layer = pretrained[0].partition("/")[2]
        return f"Starts with the weights of {names}, {layer}, trained on ImageNet"
    return f"Start with the weights of {names}, trained on ImageNet"


def _title(key: str) -> str:
    spec = all_backbones().get(key)
    return key if spec is None else spec.title
