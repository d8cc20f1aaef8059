"""The network from far away, and as a drawing in a file."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QFileDialog

from tests.gui.design.hand import chain, hint
from workbench.core.network.graph import Edge
from workbench.core.projects.project import Project
from workbench.gui.design.canvas.style import CanvasStyle
from workbench.gui.design.canvas_panel import png_bytes, svg_bytes
from workbench.templates import find_template


def colors_in(panel, rect: QRectF) -> set[str]:
    """Colors of the screen in a part of the scene."""
    image = panel.view.viewport().grab().toImage()
    place = panel.view.mapFromScene(rect).boundingRect().intersected(image.rect())
    spots = (
        (x, y)
        for x in range(place.left(), place.right() + 1)
        for y in range(place.top(), place.bottom() + 1)
    )
    return {image.pixelColor(x, y).name() for x, y in spots}


@pytest.mark.parametrize("zoom", [0.3, 0.2, 0.16])
def test_from_far_away_a_card_shows_its_type(panel, document, zoom) -> None:
    document.new(find_template("small_resnet").project)
    for item in panel.scene.nodes.values():
        panel.view.set_zoom(zoom)
        panel.view.center_on(item.card_rect().center())
        break
    right = item.card_rect().adjusted(60, 4, -4, -4)  # beside the strip
    assert len(colors_in(panel, right)) > 3, "a plain box has one color"
    panel.view.set_zoom(0.1)
    panel.view.center_on(item.card_rect().center())
    assert len(colors_in(panel, item.card_rect().adjusted(90, 14, -60, -14))) <= 2


def test_from_far_away_a_name_keeps_the_beginning_of_each_of_its_words(theme, layers) -> None:
    ink = CanvasStyle(theme).title_ink
    width = ink.metrics.horizontalAdvance("MaxPool2D") + 1
    assert ink.cut("MaxPooling2D", width) == "MaxPool2D"
    titles = [spec.title for spec in layers.values()]
    shown = [ink.cut(title, width) for title in titles]
    assert len(set(shown)) == len(titles)
    assert max(map(ink.metrics.horizontalAdvance, shown)) <= width


def test_from_far_away_a_problem_is_a_mark_and_a_card_that_can_be_read(
    panel, document, layers, theme
) -> None:
    document.new(Project(graph=chain(layers, "input", "flatten", "conv2d", "dense")))
    panel.view.set_zoom(1.0)
    card = panel.scene.card
    assert card.isVisible()
    node = panel.scene.nodes[card.problem.node]
    panel.view.set_zoom(0.25)
    panel.view.center_on(node.card_rect().center())
    card = panel.scene.card
    assert card.isVisible()
    shown = panel.view.mapFromScene(card.mapRectToScene(card.size)).boundingRect()
    assert shown.width() > 0.75 * card.size.width()
    corner = QPointF(node.card_rect().right(), node.card_rect().top())
    mark = QRectF(corner - QPointF(8, 8), corner + QPointF(8, 8))
    assert {theme.colors.bad, theme.colors.warning} & colors_in(panel, mark)
    panel.show_problem(card.problem)
    assert panel.scene.card.isVisible()


# drawings -------------------------------------------------------------------------------


def test_the_drawing_shows_the_network_alone(small, document, theme) -> None:
    small.scene.select(["n2"], [Edge("n2", "n3")])
    small.view.set_zoom(0.2)
    seen = []
    small.scene.selection_changed.connect(seen.append)
    marked = png_bytes(small.scene)
    assert small.scene.selected_ids() == ["n2"]
    assert small.scene.selected_edges() == [Edge("n2", "n3")]
    assert seen == []
    small.select([])
    small.view.set_zoom(1.0)
    assert png_bytes(small.scene) == marked, "neither selection nor zoom is in the drawing"
    image = QImage.fromData(marked)
    assert image.width() > 2 * 236
    assert image.height() > 2 * 4 * 52
    assert image.pixelColor(1, 1).name() == theme.colors.canvas


def test_the_svg_holds_the_words(small, document) -> None:
    text = svg_bytes(small.scene).decode()
    assert "Conv2D" in text
    assert "Flatten" in text
    renderer = QSvgRenderer(svg_bytes(small.scene))
    assert renderer.isValid()
    assert renderer.viewBoxF().height() > renderer.viewBoxF().width()


def test_a_long_network_fits_into_a_picture(panel, document, layers) -> None:
    graph = chain(layers, "input", *["relu"] * 299)
    document.new(Project(graph=graph))
    document.move({node: (0.0, 90.0 * place) for place, node in enumerate(graph.order)})
    image = QImage.fromData(png_bytes(panel.scene))
    assert image.height() == pytest.approx(16_000, abs=2)


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_exporting_writes_the_file(small, tmp_path, monkeypatch, ending) -> None:
    path = tmp_path / f"net.{ending}"
    answer = str(path), f"(*.{ending})"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: answer)
    small.action("export_drawing").trigger()
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG" if ending == "png" else b"<?xml")
    assert str(path) in hint(small)


def test_a_drawing_that_cannot_be_written_is_said(small, tmp_path, monkeypatch) -> None:
    answer = str(tmp_path / "no" / "net.png"), "(*.png)"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: answer)
    small.action("export_drawing").trigger()
    assert hint(small)
    assert not (tmp_path / "no").exists()
