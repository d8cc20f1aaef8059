"""What the menu of some layers has more than that of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from workbench.core.network.augmentation import is_augmentation
from workbench.core.network.graph import Node
from workbench.gui.augmentation.opening import open_augmentation
from workbench.gui.common.context import WindowContext

Entry = tuple[QAction, Callable[[], object]]


def own_entries(
    context: WindowContext, owner: QWidget, node: Node, show_maps: Callable[[str], object]
) -> Iterator[Entry]:
    """Entries for the selected layer, with what they do.

    Args:
        context: The parts of the window.
        owner: Parent of the dialogs that entries open.
        node: The layer.
        show_maps: Shows the feature maps of the layer of a name.
    """
    if is_augmentation(context.layers.get(node.kind)):
        preview = QAction(context.theme.icon("eye"), "Pre&view augmentation…")
        yield preview, lambda: open_augmentation(context, owner, node.id)
    if context.library.has_own_model:
        maps = QAction(context.theme.icon("grid"), "Show feature ma&ps")
        yield maps, lambda: show_maps(node.name)
