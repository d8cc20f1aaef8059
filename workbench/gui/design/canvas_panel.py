"""The canvas as a panel: the view, its actions, menus and search boxes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QBuffer, QIODevice, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QHideEvent, QImage, QPainter, QResizeEvent, QShowEvent
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QMenu, QWidget

from workbench.core.checks.problems import Problem
from workbench.core.network.folding import is_card
from workbench.core.storage.save import save_bytes
from workbench.document.edited_project import Selection
from workbench.errors import SaveError, WorkbenchError
from workbench.gui.common.context import WindowContext
from workbench.gui.design.canvas import accessible
from workbench.gui.design.canvas.blocks import FrameItem
from workbench.gui.design.canvas.items import EdgeItem, NodeItem
from workbench.gui.design.canvas.scene import GraphScene
from workbench.gui.design.canvas.style import CanvasStyle
from workbench.gui.design.canvas.view import GraphView
from workbench.gui.design.canvas_actions import (
    CANVAS_ACTIONS,
    CONNECTION,
    GROUND,
    LAYER,
    Entry,
    NodeEdits,
    make_canvas_actions,
    open_menu,
    own_entries,
    refresh_canvas_icons,
)
from workbench.gui.design.gestures.connecting import ConnectByKeys
from workbench.gui.design.gestures.moving import choose_gesture, drop_gesture
from workbench.gui.design.group_actions import GroupActions, RenameBox
from workbench.gui.design.layer_adder import LayerAdder, SearchAdd
from workbench.gui.design.overlays import CanvasOverlays, FindBar
from workbench.gui.kit.dialogs import ask_save_path
from workbench.gui.kit.layout import column

# drawing -------------------------------------------------------------------------------------
# The network as a drawing in a file: PNG or SVG, without what only helps to edit it.

_MARGIN = 24.0
_SCALE = 2.0
"""Pixels of a PNG for one of the scene."""
_MOST_PIXELS = 16_000
"""Longest side of a PNG: larger ones need more memory than a drawing is worth."""
_FILTERS = "PNG image (*.png);;SVG drawing (*.svg)"


def ask_export(parent: QWidget, scene: GraphScene, start: str) -> Path | None:
    """Asks where to, and writes the drawing there; the file, or None when called off.

    Raises:
        SaveError: it could not be written.
    """
    path, _ = ask_save_path(parent, "Export drawing", start, _FILTERS, kind="drawing")
    if not path:
        return None
    is_svg = path.lower().endswith(".svg")
    save_bytes(Path(path), svg_bytes(scene) if is_svg else png_bytes(scene))
    return Path(path)


@contextmanager
def _as_drawing(scene: GraphScene) -> Iterator[None]:
    """Without selection, marks, problem card and cached images, in full detail, meanwhile."""
    (nodes, edges), card = scene.selection(), scene.card
    marked = [key for key, item in scene.nodes.items() if item.is_marked]
    with scene.batch():
        scene.clearSelection()
        for item in scene.nodes.values():
            item.set_drawn(is_drawn=True)
            item.is_marked = False
        if card is not None:
            card.hide()
        try:
            yield
        finally:
            for key, item in scene.nodes.items():
                item.set_drawn(is_drawn=False)
                item.set_detailed(scene.is_detailed)
                item.setSelected(key in nodes)
                item.is_marked = key in marked
            for edge, line in scene.edges.items():
                line.setSelected(edge in edges)
            if card is not None:
                card.show()


def png_bytes(scene: GraphScene) -> bytes:
    """The whole network as a PNG image in the theme's colors."""
    with _as_drawing(scene):
        return _png(scene, _area(scene))


def _png(scene: GraphScene, area: QRectF) -> bytes:
    scale = min(_SCALE, _MOST_PIXELS / max(area.width(), area.height()))
    size = QSize(math.ceil(area.width() * scale), math.ceil(area.height() * scale))
    image = QImage(size, QImage.Format.Format_RGB32)
    image.fill(scene.look.canvas)
    with QPainter(image) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        scene.render(painter, QRectF(image.rect()), area)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, "PNG"):  # type: ignore[call-overload]  # the stub lacks QIODevice
        raise SaveError("The drawing could not be written as PNG.", fix="Export it as SVG.")
    return bytes(buffer.data().data())


def svg_bytes(scene: GraphScene) -> bytes:
    """The whole network as an SVG drawing in the theme's colors."""
    with _as_drawing(scene):
        return _svg(scene, _area(scene))


def _svg(scene: GraphScene, area: QRectF) -> bytes:
    page = QRectF(0, 0, math.ceil(area.width()), math.ceil(area.height()))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QSvgGenerator()
    writer.setOutputDevice(buffer)
    writer.setSize(page.size().toSize())
    writer.setViewBox(page)
    writer.setResolution(96)  # of CSS, per inch
    writer.setTitle("Network")
    with QPainter(writer) as painter:
        painter.fillRect(page, scene.look.canvas)
        scene.render(painter, page, area)
    return bytes(buffer.data().data())


def _area(scene: GraphScene) -> QRectF:
    """Everything that is drawn, with a margin."""
    rect = QRectF()
    for item in (*scene.nodes.values(), *scene.edges.values(), *scene.frames.values()):
        rect = rect.united(item.sceneBoundingRect())
    return rect.adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN)


# canvas panel --------------------------------------------------------------------------------

T = TypeVar("T")


class CanvasPanel(QWidget):
    """The canvas on which the network is built.

    Signals:
        help_asked(str): The help page of this layer type is wanted.
        maps_asked(str): The feature maps of the layer of this name are wanted.
    """

    help_asked = Signal(str)
    maps_asked = Signal(str)

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self.setObjectName("canvas_panel")
        self._context = context
        self._document = context.document
        self._theme = context.theme
        self.scene = GraphScene(context.document, context.layers, CanvasStyle(context.theme))
        self.view = GraphView(self.scene, choose_gesture, drop_gesture)
        self._has_looked = False
        accessible.install()
        column(self.view, parent=self)
        self.setFocusProxy(self.view)
        self.search = SearchAdd(context.layers, context.theme, self.view)
        self.find_bar = FindBar(self.view, context.theme)
        self.adder = LayerAdder(self.view, self.search, self._edit)
        self.rename_box = RenameBox(self.view, context.document.rename)
        self.edits = NodeEdits(self.view, self._edit)
        self.groups = GroupActions(self.view, self.rename_box, self._edit)
        self._actions = make_canvas_actions(self, context.theme, self._acts())
        self.overlays = CanvasOverlays(self.view, context.theme, self._actions)
        self.view.overlays = [self.overlays.minimap, self.overlays.zoom_bar, self.find_bar]
        self._connect()

    def _acts(self) -> dict[str, Callable[[], None]]:
        """What each action does; the words of an earlier refusal end with it."""
        return {key: partial(self._act, slot) for key, slot in self._slots().items()}

    def _act(self, slot: Callable[[], None]) -> None:
        self.view.end_refusal()
        slot()

    def _slots(self) -> dict[str, Callable[[], None]]:
        return {
            "add": self.adder.search_by_selection,
            **self.edits.slots,
            "select_all": lambda: self.scene.select(self.scene.nodes, self.scene.edges),
            "connect": self._connect_by_keys,
            "rename": self._rename,
            "replace": self._with_selected(self.adder.search_replacement),
            "insert_before": self._with_selected(self.adder.search_before),
            "insert_after": self._with_selected(self.adder.search_after),
            "bypass": self._with_selected(self.edits.bypass),
            "detach": self._with_selected(self._document.detach),
            **self.groups.slots,
            "export_drawing": lambda: self._edit(self._export_drawing),
            "layer_help": self._with_selected(self._help_on),
            "fix": self._open_fixes,
            "arrange": self._arrange,
            "zoom_in": self.view.zoom_in,
            "zoom_out": self.view.zoom_out,
            "zoom_reset": lambda: self.view.set_zoom(1.0),
            "fit": self.view.fit,
            "fit_selection": lambda: self.view.fit_to(self.scene.selected_rect()),
        }

    def _with_selected(self, do: Callable[[str], object]) -> Callable[[], None]:
        """A slot that does something with the one selected node."""

        def slot() -> None:
            if len(selected := self.scene.selected_ids()) == 1:
                self._edit(lambda: do(selected[0]))

        return slot

    def _rename(self) -> None:
        if name := self.scene.selected_group():
            self.rename_box.open_at_group(name)
        elif len(selected := self.scene.selected_ids()) == 1:
            self.rename_box.open_at(selected[0])

    def _connect(self) -> None:
        scene, view = self.scene, self.view
        scene.selection_changed.connect(self._announce_selection)
        scene.selection_changed.connect(self._refresh_actions)
        scene.contents_changed.connect(self._on_contents_changed)
        for changed in (scene.selection_changed, scene.graph_changed):
            changed.connect(view.end_refusal)
        self._document.positions_changed.connect(view.end_refusal)
        view.view_changed.connect(self._on_view_changed)
        view.menu_asked.connect(self._open_menu)
        self.search.closed.connect(self.view.setFocus)
        self.find_bar.closed.connect(self.view.setFocus)
        self.find_bar.hinted.connect(self._hint_at)
        self.find_bar.chosen.connect(lambda node: self.select([node]))
        self._document.selection_restored.connect(self._on_restored)
        self._document.fixed.connect(self._on_fixed)
        self._document.project_replaced.connect(self._on_project_replaced)
        self._theme.changed.connect(self._on_theme_changed)
        self._on_contents_changed()

    def action(self, key: str) -> QAction:
        """One action by its key, see CANVAS_ACTIONS."""
        return self._actions[key]

    def select(self, ids: Iterable[str]) -> None:
        """Selects exactly these layers and shows the first of them, in its opened group."""
        wanted = [key for key in ids if key in self._document.graph.nodes]
        for key in wanted[:1]:
            self.groups.uncover(key)
        self.scene.select(wanted)
        if wanted:
            self.view.reveal(wanted[:1])

    def _hint_at(self, node_id: str) -> None:
        """Selects and shows the card of a layer, or of the folded group that it is in."""
        self.scene.select([node_id])
        self.view.reveal(self.scene.shown.shown_ids([node_id]))

    def show_problem(self, problem: Problem) -> None:
        """Brings the node of a problem, and its card, into view."""
        if problem.node is not None and problem.node in self._document.graph.nodes:
            self.select([problem.node])
            self.scene.open_card(problem)
            self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _help_on(self, node_id: str) -> None:
        self.help_asked.emit(self._document.graph.nodes[node_id].kind)

    def _arrange(self) -> None:
        self._edit(self._document.arrange)
        self.view.show_start()

    def _export_drawing(self) -> None:
        path = self._document.path
        name = "network.png" if path is None else f"{path.stem} network.png"
        if written := ask_export(self, self.scene, name):
            self.view.say(f"The drawing is in {written}.")

    def _connect_by_keys(self) -> None:
        selected = self.scene.selected_ids()
        if len(selected) == 1:
            center = QPointF(self.view.viewport().rect().center())
            pointer = self.view.pointer(center, Qt.KeyboardModifier.NoModifier)
            self.view.begin(ConnectByKeys(self.view, selected[0]), pointer)

    def _open_fixes(self) -> None:
        card = self.scene.card
        if card is None or not card.fixes:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for fix in card.fixes:
            entry = menu.addAction(fix.title.replace("&", "&&"))
            entry.triggered.connect(
                lambda _checked=False, fix=fix: self._edit(lambda: self._document.apply_fix(fix))
            )
        menu.setActiveAction(menu.actions()[0])
        menu.popup(self.view.mapToGlobal(self.view.mapFromScene(card.pos())))

    def _open_menu(
        self, place: QPoint, scene_point: QPointF, item: NodeItem | FrameItem | EdgeItem | None
    ) -> None:
        """Opens the menu of what was pointed at, which is selected."""
        if isinstance(item, NodeItem | FrameItem):
            open_menu(self, self._actions, self._own_entries(), LAYER, place)
        elif isinstance(item, EdgeItem):
            insert = QAction(self._theme.icon("add"), "&Insert layer…")
            remove = QAction(self._theme.icon("delete"), "&Remove connection\tDel")
            own = [(insert, lambda: self.adder.search_on(item.edge)), (remove, self.edits.delete)]
            open_menu(self, self._actions, own, CONNECTION, place)
        else:
            add = QAction(self._theme.icon("add"), "&Add layer…")
            paste = QAction(self._theme.icon("paste"), "&Paste\tCtrl+V")
            own = [
                (add, lambda: self.adder.search_at(scene_point, "")),
                (paste, lambda: self.edits.paste_at(scene_point)),
            ]
            open_menu(self, self._actions, own, GROUND, place)

    def _own_entries(self) -> list[Entry]:
        ids = self.scene.selected_ids()
        node = self._document.graph.nodes.get(ids[0]) if len(ids) == 1 else None
        if node is None:
            return []
        return list(own_entries(self._context, self, node, self.maps_asked.emit))

    def _edit(self, change: Callable[[], T]) -> T | None:
        """Runs an edit and returns its result; a reason for rejection is shown on the canvas."""
        try:
            return change()
        except WorkbenchError as error:
            middle = QPointF(self.view.viewport().rect().center())
            self.view.show_refusal(f"{error.what} {error.fix}".strip(), middle)
            return None

    def _announce_selection(self, ids: list[str]) -> None:
        if len(ids) == 1:
            accessible.announce_selection(self.view, ids[0])

    def _on_contents_changed(self) -> None:
        self.overlays.hint.setVisible(not self.scene.nodes)
        self._refresh_actions()

    def _refresh_actions(self) -> None:
        """An action that can do nothing now is gray; all are while the panel is hidden."""
        ids = self.scene.selected_ids()
        graph, card = self.scene.graph, self.scene.card
        one = ids[0] if len(ids) == 1 and ids[0] in graph.nodes else ""
        has = {
            "layer": bool(one) and not is_card(one),
            "grouped": bool(one) and not is_card(one) and bool(graph.nodes[one].group),
            "named": bool(one or self.scene.selected_group()),
            "group": bool(self.groups.selected_names()),
            "linked": bool(one and (graph.edges_into(one) or graph.edges_from(one))),
            "feedable": bool(one) and len(graph.edges_into(one)) <= 1 and self._takes_input(one),
            "": True,
            "nodes": bool(self.scene.nodes),
            "selection": bool(ids or self.scene.selected_edges()),
            "layers": bool(ids),
            "weighted": any(map(self._has_weights, self.scene.shown.layers_of(ids))),
            "one": len(ids) == 1 and len(self.scene.nodes) > 1,
            "problem": card is not None and bool(card.fixes),
        }
        for spec in CANVAS_ACTIONS:
            self._actions[spec.key].setEnabled(has[spec.needs] and self.isVisible())

    def _has_weights(self, node_id: str) -> bool:
        cost = self._document.analysis.costs.nodes.get(node_id)
        return cost is not None and bool(cost.parameters.total)

    def _takes_input(self, node_id: str) -> bool:
        entry = self.scene.shown.entry(node_id)
        spec = self.scene.layers.get(self._document.graph.nodes[entry].kind)
        return spec is None or spec.max_inputs != 0

    def _on_restored(self, selected: Selection) -> None:
        """Undo and redo are seen."""
        if selected[0] and not self.view.is_seen(selected[0]):
            self.view.reveal(selected[0])

    def _on_fixed(self, ids: list[str]) -> None:
        """What a fix is about is selected, seen, and goes on with the keyboard."""
        if ids:
            self.scene.select(ids)
            self.view.reveal(self.scene.shown.shown_ids(ids))
        if self.isVisible():
            self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_view_changed(self) -> None:
        if self._has_looked:
            center = self.view.visible_rect().center()
            self._document.set_view(self.view.zoom, (round(center.x()), round(center.y())))

    def _on_project_replaced(self) -> None:
        self._has_looked = False
        if self.isVisible():
            self._look()

    def _look(self) -> None:
        """Shows the first view of a project."""
        view = self._document.project.view
        self.view.show_start((view.zoom, QPointF(*view.center)) if view.center else None)
        self._has_looked = True

    def _on_theme_changed(self) -> None:
        self.scene.refresh_look()
        refresh_canvas_icons(self._actions, self._theme)
        self.overlays.refresh_look()
        self.view.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.overlays.place(self.rect())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh_actions()
        if not self._has_looked:
            self._look()

    def hideEvent(self, event: QHideEvent) -> None:
        self.view.cancel("the canvas was hidden")
        self.search.close_box()
        super().hideEvent(event)
        self._refresh_actions()
