"""The layers that augment the training images, and the way to see what they do."""

from __future__ import annotations

from workbench.core.training.fields.regularization import AugmentationFields
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.gui.augmentation.opening import open_augmentation
from workbench.gui.data.state import DataState
from workbench.gui.kit.buttons import button
from workbench.gui.kit.cards import Box
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, add_to, row

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
