"""Any row of edits, undone and redone, leaves scene and document in step."""

from __future__ import annotations

from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPointF

from tests.gui.design.hand import chain
from workbench.core.projects.project import Project
from workbench.document.project_document import ProjectDocument
from workbench.errors import WorkbenchError
from workbench.gui.design.canvas_panel import CanvasPanel

KINDS = ("conv2d", "relu", "add", "flatten", "dense", "input")
EDITS = st.lists(
    st.tuples(
        st.sampled_from(
            ("add", "insert", "remove", "connect", "disconnect", "move", "paste", "undo", "redo")
        ),
        st.integers(0, 40),
        st.integers(0, 40),
    ),
    max_size=14,
)


def make(document: ProjectDocument, name: str, a: int, b: int) -> None:
    """One edit; the numbers choose what it is about."""
    ids, edges = list(document.graph.nodes), list(document.graph.edges)
    kind = KINDS[a % len(KINDS)]
    if name == "add":
        document.add_node(kind, (10.0 * a, 10.0 * b), after=ids[b % len(ids)] if ids else None)
    elif name == "undo":
        document.undo_stack.undo()
    elif name == "redo":
        document.undo_stack.redo()
    elif name in {"insert", "disconnect"} and edges:
        edge = edges[b % len(edges)]
        if name == "insert":
            document.add_node(kind, edge=edge)
        else:
            document.disconnect(edge)
    elif ids:
        first, second = ids[a % len(ids)], ids[b % len(ids)]
        if name == "remove":
            document.remove([first])
        elif name == "connect":
            document.connect(first, second)
        elif name == "move":
            document.move({first: (7.0 * a, 5.0 * b)})
        elif name == "paste":
            document.paste(document.copy_text([first, second]), (30.0 * a, 0.0))


@given(edits=EDITS)
@settings(max_examples=40, deadline=None)
def test_scene_and_document_stay_in_step(qapp, layers, edits) -> None:
    from workbench.gui.kit.theme import Theme

    document = ProjectDocument(layers)
    context = SimpleNamespace(document=document, theme=Theme("light"), layers=layers)
    panel = CanvasPanel(context)
    document.new(Project(graph=chain(layers, "input", "conv2d", "flatten", "dense")))
    for name, a, b in edits:
        try:
            make(document, name, a, b)
        except WorkbenchError:
            continue  # refused: nothing may have changed
        scene = panel.scene
        assert list(scene.nodes) == list(document.graph.nodes)
        assert set(scene.edges) == set(document.graph.edges)
        for key, item in scene.nodes.items():
            assert item.pos().toTuple() == document.positions[key]
            assert item.facts.is_open_below == (not document.graph.edges_from(key))
        for edge, line in scene.edges.items():
            assert QPointF(*line.route[0]) == scene.nodes[edge.source].output_point()
            assert line.end_point().y() == scene.nodes[edge.target].pos().y()
        card = scene.card
        if card is not None:
            place = card.mapRectToScene(card.size)
            assert not any(place.intersects(item.card_rect()) for item in scene.nodes.values())
    panel.close()
    panel.deleteLater()
