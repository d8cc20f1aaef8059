"""What the panels of the design view share: the selection, and what they ask of each other."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from workbench.gui.common.context import WindowContext


class DesignState(QObject):
    """Carries signals between the canvas and the panels; the network is in the document.

    Signals:
        selection_changed(list): Ids of the selected nodes.
        node_activated(str): The settings of this node are wanted.
        search_asked(): The palette shall be searched for a layer to add.
        find_asked(): A layer of the network shall be found.
        layer_chosen(str): A layer of this kind shall be added.
        backbone_chosen(str): The pretrained network with this key shall be added.
        insert_asked(Edge): A layer to put into this connection shall be chosen.
        canvas_asked(): The canvas gets the keyboard focus.
        problem_chosen(Problem): The place of this problem is wanted.
        problem_hovered(Problem): The pointer is on this problem; None when it has left.
        help_asked(str): This help page is wanted.
        data_asked(): The data set is to be looked at, or changed.
        maps_asked(str): The feature maps of the layer of this name are wanted.
    """

    selection_changed = Signal(list)
    node_activated = Signal(str)
    search_asked = Signal()
    find_asked = Signal()
    layer_chosen = Signal(str)
    backbone_chosen = Signal(str)
    insert_asked = Signal(object)
    canvas_asked = Signal()
    problem_chosen = Signal(object)
    problem_hovered = Signal(object)
    help_asked = Signal(str)
    data_asked = Signal()
    maps_asked = Signal(str)

    def __init__(self, context: WindowContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.context = context
