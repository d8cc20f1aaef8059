"""The network as a drawing in a file: PNG or SVG, without what only helps to edit it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QRectF, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from workbench.core.storage.save import save_bytes
from workbench.errors import SaveError
from workbench.gui.design.canvas.scene import GraphScene
from workbench.gui.kit.save_path import ask_save_path

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
