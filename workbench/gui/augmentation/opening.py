"""Opens the dialog, whose code is not needed before."""

from __future__ import annotations

from importlib import import_module

from PySide6.QtWidgets import QDialog, QWidget

from workbench.gui.common.context import WindowContext


def open_augmentation(context: WindowContext, owner: QWidget, node_id: str = "") -> QDialog:
    """Shows the dialog over a window, the one that is open where there is one; `node_id` is the
    layer to select.
    """
    kind = import_module("workbench.gui.augmentation.dialog").AugmentationDialog
    window = owner.window()
    found = [dialog for dialog in window.findChildren(kind) if dialog.isVisible()]
    dialog: QDialog = found[0] if found else kind(context, window)
    if node_id:
        dialog.select(node_id)  # type: ignore[attr-defined]
    dialog.show()
    dialog.raise_()
    dialog.activateWindow()
    return dialog
