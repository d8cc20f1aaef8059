"""Durations of a frame of the canvas, and of an edit. `python -m tests.benchmarks.canvas`.

Times are those of this process's CPU: the machine may be shared with others. A frame is
one step of panning or zooming and the repaint of everything it uncovers.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from types import SimpleNamespace

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Project
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec
from workbench.document.project_document import ProjectDocument
from workbench.gui.design.canvas_panel import CanvasPanel
from workbench.gui.kit.theme import Theme

FRAMES = 60
SIZE_PX = (1280, 800)


def residual_graph(layers: Registry[LayerSpec], num_nodes: int) -> Graph:
    """Input, then blocks of two convolutions and an Add with its skip."""
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []

    def add(kind: str, sources: list[str], **params: object) -> str:
        key = f"n{len(nodes) + 1}"
        nodes[key] = Node(key, kind, f"{kind}_{key}", {**layers[kind].defaults(), **params})
        edges.extend(Edge(source, key, port) for port, source in enumerate(sources))
        return key

    last = add("conv2d", [add("input", [])], filters=16, padding="same")
    while len(nodes) < num_nodes:
        first = add("conv2d", [last], filters=16, padding="same", activation="relu")
        second = add("conv2d", [first], filters=16, padding="same")
        last = add("add", [second, last])
    return Graph(nodes, tuple(sorted(edges)))


def frames_ms(step: Callable[[int], None], count: int = FRAMES) -> tuple[float, float]:
    """Median and 95 % of the milliseconds that a step and its repaint take."""
    times = []
    for index in range(count):
        start = time.process_time()
        step(index)
        QApplication.processEvents()
        times.append(1000 * (time.process_time() - start))
    times.sort()
    return statistics.median(times), times[int(0.95 * len(times))]


def show(words: str, times: tuple[float, float]) -> None:
    print(f"{words:<46} {times[0]:7.2f} ms, 95 % below {times[1]:7.2f} ms", flush=True)


def measure(panel: CanvasPanel, document: ProjectDocument, graph: Graph) -> None:
    """Frames and edits with one network."""
    view, count = panel.view, len(graph.nodes)
    start = time.process_time()
    document.new(Project(graph=graph))
    QApplication.processEvents()
    print(f"{f'open {count} nodes':<46} {1000 * (time.process_time() - start):7.1f} ms")
    places = [(f"{count} nodes, all visible", None), (f"{count} nodes, at 100 %", 1.0)]
    for words, zoom in places:
        view.fit()
        if zoom is not None:
            view.set_zoom(zoom)
        QApplication.processEvents()
        back = [7.0 if index % 20 < 10 else -7.0 for index in range(FRAMES)]
        show(f"pan, {words}", frames_ms(lambda i, b=back: view.pan_by(QPointF(b[i], b[i]))))
        middle = QPointF(view.viewport().rect().center())
        factors = [1.03 if index % 20 < 10 else 1 / 1.03 for index in range(FRAMES)]
        show(
            f"zoom, {words}",
            frames_ms(lambda i, f=factors, m=middle: view.set_zoom(view.zoom * f[i], m)),
        )
    item = panel.scene.nodes["n5"]
    before = QPointF(item.pos())

    def drag(index: int) -> None:
        item.setPos(before + QPointF(index, index))
        panel.scene.reroute_near(["n5"])

    show(f"drag one of {count} nodes", frames_ms(drag))
    panel.scene.reroute()
    show(
        f"edit to all shapes and cards, {count} nodes",
        frames_ms(lambda i: document.set_params("n2", filters=17 + i % 2), 20),
    )


def main() -> None:
    """Prints the figures for 100 and 300 nodes."""
    app = QApplication([])
    layers = Registry.from_package("workbench.layers", LayerSpec)
    theme = Theme("light")
    theme.apply(app)
    document = ProjectDocument(layers)
    panel = CanvasPanel(SimpleNamespace(document=document, theme=theme, layers=layers))
    panel.resize(*SIZE_PX)
    panel.show()
    QApplication.processEvents()
    print(f"Platform {app.platformName()}, {SIZE_PX[0]} x {SIZE_PX[1]}")
    for num_nodes in (100, 300):
        measure(panel, document, residual_graph(layers, num_nodes))


if __name__ == "__main__":
    main()
