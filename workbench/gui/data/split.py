"""How the images are divided into training, validation and test: a bar, words, and a form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.core.checks.images import unused_settings
from workbench.core.format import count
from workbench.core.training.fields.schedule import AugmentationFields
from workbench.core.training.recipe import RECIPE_PARAMS, SPLIT_KEYS, TrainingRecipe
from workbench.errors import WorkbenchError
from workbench.gui.augmentation.opening import open_augmentation
from workbench.gui.data.split_counts import Given, split_counts, split_words
from workbench.gui.data.state import DataState
from workbench.gui.forms.param_form import ParamForm
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, add_to, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import Box

# split bar -----------------------------------------------------------------------------------
# A bar of parts: how many images train, validate and test.

_BAR_PX = 12
_ROW_PX = 22


@dataclass(frozen=True)
class BarPart:
    """One part: its name, its size (None while that is not known), and the name of its color
    token.
    """

    name: str
    size: int | None
    color: str

    @property
    def words(self) -> str:
        """Its size."""
        return "…" if self.size is None else count(self.size)


class SplitBar(QWidget):
    """Parts side by side, to scale, with a legend below; empty parts are only named."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._parts: tuple[BarPart, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def set_parts(self, parts: Sequence[BarPart]) -> None:
        """Shows these parts."""
        self._parts = tuple(parts)
        self.setAccessibleName(", ".join(f"{p.name}: {p.words}" for p in parts))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, _BAR_PX + 10 + _ROW_PX * len(self._parts))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._theme.font(tabular=True))
        total = sum(part.size or 0 for part in self._parts)
        x = 0.0
        y = _BAR_PX + 10
        if not total:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._theme.colors.hover))
            painter.drawRoundedRect(QRectF(0, 0, self.width(), _BAR_PX), 3, 3)
        for part in self._parts:
            width = self.width() * (part.size or 0) / total if total else 0.0
            color = QColor(getattr(self._theme.colors, part.color))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            if width > 0:
                painter.drawRoundedRect(QRectF(x, 0, max(width - 2, 2), _BAR_PX), 3, 3)
            painter.drawRoundedRect(QRectF(0, y + 6, 10, 10), 3, 3)
            self._draw_legend(painter, part, y)
            x += width
            y += _ROW_PX

    def _draw_legend(self, painter: QPainter, part: BarPart, y: float) -> None:
        row = QRectF(18, y, self.width() - 18, _ROW_PX)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(QColor(self._theme.colors.dim))
        painter.drawText(row, middle | Qt.AlignmentFlag.AlignLeft, part.name)
        painter.setPen(QColor(self._theme.colors.text))
        painter.drawText(row, middle | Qt.AlignmentFlag.AlignRight, part.words)


# augmentation --------------------------------------------------------------------------------
# The layers that augment the training images, and the way to see what they do.

_NOTHING = "None: each epoch trains on the images as they are."
_ELSEWHERE = "Mixup, CutMix and random erasing are in Train, under Augmentation."


class DataAugmentationPanel(Box):
    """Names the layers in their order, above a button that shows what they do."""

    def __init__(self, state: DataState) -> None:
        super().__init__("card", 16, 10)
        self._document = state.context.document
        self.words = plain_label(role="dim", wrap=True)
        self.open_button = button("Show and change…", icon="eye", theme=state.context.theme)
        self.open_button.clicked.connect(lambda: open_augmentation(state.context, self))
        heading = plain_label("Augmentation", role="heading")
        add_to(self.column, heading, self.words, row(self.open_button, STRETCH))
        self._document.graph_changed.connect(lambda _change: self.refresh())
        self._document.recipe_changed.connect(self.refresh)
        self._document.project_replaced.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Shows the document's layers."""
        nodes, layers = self._document.graph.nodes, self._document.layers
        titles = [layers[nodes[key].kind].title for key in self._document.augmentation]
        recipe = self._document.recipe
        used = [
            f"{param.title}: {param.show(getattr(recipe, param.key))}"
            for param in RECIPE_PARAMS
            if param.group == AugmentationFields.SECTION
            and recipe.is_used(param.key)
            and getattr(recipe, param.key) != param.default
        ]
        found = ". ".join(filter(None, (" → ".join(titles), "; ".join(used))))
        self.words.setText(f"{found or _NOTHING}\n{_ELSEWHERE}")


# split ---------------------------------------------------------------------------------------

_SPLIT_KEYS = tuple(key for key in SPLIT_KEYS if key not in {"fold", "folds"})


def split_parts(given: Given, recipe: TrainingRecipe) -> list[BarPart]:
    """The parts for the bar: each image once, also where validation uses the test set. Their sizes
    are None while they are not counted.
    """
    counts = (None,) * 3 if given.is_awaited else split_counts(given, recipe)
    train, validation, test = counts
    training = BarPart("Training", train, "train")
    if recipe.validation == "test":
        return [training, BarPart("Validation and test", test, "validation")]
    return [
        training,
        BarPart("Validation", validation, "validation"),
        BarPart("Test", test, "faint"),
    ]


class DataSplitPanel(Box):
    """The bar of parts, its explanation, and the recipe's values that decide it."""

    def __init__(self, state: DataState) -> None:
        super().__init__("card", 16, 10)
        self._document = state.context.document
        self._exact = state.exact
        self._given = Given()
        heading = plain_label("Split", role="heading")
        self.bar = SplitBar(state.context.theme)
        self.words = plain_label(role="dim", wrap=True)
        self.form = ParamForm([param for param in RECIPE_PARAMS if param.key in _SPLIT_KEYS])
        self._error = plain_label(role="bad", wrap=True)
        self._error.hide()
        add_to(self.column, heading, self.bar, self.words, self.form, self._error)
        self.form.value_changed.connect(self._on_value_changed)
        self._document.recipe_changed.connect(self.refresh)
        self._document.analysis_changed.connect(self._show_used)  # the images are known, or others
        self._document.project_replaced.connect(self.refresh)
        state.exact.changed.connect(self.refresh)
        state.source_changed.connect(lambda: self.set_given(Given()))
        state.described.connect(lambda description: self.set_given(Given.of(description)))
        self.refresh()

    def set_given(self, given: Given) -> None:
        """Takes what the source gives; an empty one while that is not known."""
        self._given = given
        self.refresh()

    def refresh(self) -> None:
        """Shows the document's recipe applied to the counts."""
        recipe = self._document.recipe
        given = self._given
        if given.per_class:
            exact, is_awaited = self._exact.of(recipe), self._exact.is_awaited(recipe)
            given = replace(given, exact=exact, is_awaited=is_awaited)
        self.bar.setVisible(bool(given.per_class))
        self.bar.set_parts(split_parts(given, recipe))
        self.words.setText(split_words(given, recipe))
        self._show_used()
        self.form.set_values({key: getattr(recipe, key) for key in _SPLIT_KEYS})

    def _show_used(self) -> None:
        unused = unused_settings(self._document.recipe, self._document.dataset_facts)
        self.form.set_unused(unused.intersection(_SPLIT_KEYS))

    def _on_value_changed(self, key: str, value: object) -> None:
        try:
            self._document.set_recipe(**{key: value})
        except WorkbenchError as error:
            self._error.setText(str(error))
            self._error.show()
        else:
            self._error.hide()
