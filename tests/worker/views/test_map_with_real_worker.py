"""The map and the nearest training images, by a real training and real workers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lassos import draw_around, resting_pixels
from workbench.gui.classify.view import ClassifyView
from workbench.gui.evaluate.view import EvaluateView
from workbench.gui.panels import panels_of
from workbench.pictures.png import write_png

pytestmark = pytest.mark.worker

WAIT_MS = 120_000


def test_images_within_a_line_are_relabeled_and_undo_brings_them_back(
    qtbot, context, small_project, stripes_npz, tmp_path
):
    layers = [("rescaling", {}), ("flatten", {}), ("dense", {"units": 6, "activation": "relu"})]
    project = small_project(*layers, epochs=1, precision="float32")
    evaluate = EvaluateView(context, panels_of("evaluate"))
    classify = ClassifyView(context, panels_of("classify"))
    for view in (evaluate, classify):
        qtbot.addWidget(view)
        view.resize(1200, 800)
    evaluate.show()
    context.document.set_dataset(project.dataset)
    context.library.open()
    with qtbot.waitSignal(context.library.run_ended, timeout=WAIT_MS):
        context.library.start_run(project, title="Stripes")
    panel, images = evaluate.panels["evaluate_map"], evaluate.panels["evaluate_images"]
    evaluate.panels.open("evaluate_map")
    qtbot.waitUntil(lambda: panel.maps.has_run, timeout=WAIT_MS)
    panel.start.click()
    qtbot.waitUntil(lambda: panel.maps.map is not None, timeout=WAIT_MS)
    assert len(panel.shown) == 700
    qtbot.waitUntil(lambda: images.scored.images is not None, timeout=WAIT_MS)

    places = resting_pixels(panel.plot)
    middle = np.median(places, axis=0)
    near = np.argsort(np.abs(places - middle).max(axis=1))[:5]
    draw_around(panel.plot, places[near])
    assert {*near.tolist()} <= {images.rows.number(at) for at in range(images.rows.rowCount())}
    images.grid.selectAll()
    contents = {images.rows.content(at) for at in range(images.rows.rowCount())}
    name = images.scored.class_names()[0]
    images.relabel(name)
    edited = context.document.project.edits.labels
    assert {*edited} == contents
    assert len({*edited.values()}) == 1
    context.document.undo_stack.undo()
    assert not context.document.project.edits.names_images
    evaluate.hide()

    index = int(panel.maps.map.found.images.index[0])
    write_png(tmp_path / "one.png", np.load(stripes_npz)["x_train"][index])
    classify.show()
    qtbot.waitUntil(lambda: classify.state.run == evaluate.state.run, timeout=WAIT_MS)
    nearest = classify.panels["classify_nearest"]
    nearest.section.head.click()
    classify.classify([str(tmp_path / "one.png")])
    qtbot.waitUntil(lambda: nearest.images.rows.rowCount() == 8, timeout=WAIT_MS)
    assert nearest.images.rows.place(0).index == index
    assert nearest.images.rows.lines(0)[1] == "distance 0.000"
    evaluate.close_background()
    classify.close_background()
