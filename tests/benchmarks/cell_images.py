"""From a click on a cell of the confusion matrix to its images, of 10,000 in all: real files, the
real evaluate view, and a real service worker that makes the thumbnails.
"""

from __future__ import annotations

import os
import shutil
import statistics
import time
from pathlib import Path

from workbench.protocol.trained.evaluate import cells_of

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.benchmarks._runs import own_home
from tests.benchmarks.browsing import NUM_CLASSES, make_folder, wait
from tests.window_parts import window_context
from tests.written_runs import WrittenRun
from workbench.gui.evaluate.images import ImagesPanel
from workbench.gui.evaluate.view import EvaluateView
from workbench.gui.panels import panels_of
from workbench.protocol.trained.evaluate import ClassScore, Evaluation
from workbench.runs.folder import RunFolder
from workbench.runs.home import data_home
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.store.evaluation import KeptEvaluation, keep_evaluation
from workbench.runs.store.image_scores import ScoredImages, joined_paths

NUM_IMAGES = 10_000
GOAL_MS = 100


def keep_scores(run: RunFolder, folder: Path) -> None:
    """An evaluation of all images, a fifth of them wrong."""
    files = sorted(folder.glob("*/*.jpg"))
    names = [f"class {label}" for label in range(NUM_CLASSES)]
    rng = np.random.default_rng(1)
    count = len(files)
    actual = np.array([names.index(path.parent.name) for path in files], np.int32)
    wrong = rng.random(count) < 0.2
    predicted = np.where(wrong, rng.integers(0, NUM_CLASSES, count), actual).astype(np.int32)
    paths, lengths = joined_paths(tuple(map(str, files)))
    images = ScoredImages(
        part=np.full(count, 2, np.int8),
        index=np.arange(count, dtype=np.int32),
        actual=actual,
        predicted=predicted,
        rank=(actual != predicted).astype(np.int32),
        probability=rng.random(count).astype(np.float32),
        loss=rng.exponential(1, count).astype(np.float32),
        content=rng.integers(0, 256, (count, 16)).astype(np.uint8),
        paths=paths,
        lengths=lengths,
    )
    dataset = {"key": "folder", "params": {"path": str(folder), "fit": "crop"}}
    shape = {"input_shape": [32, 32, 3], "fit": "crop", "graph": {}}
    write_card(run.path, ModelCard(class_names=names, dataset=dataset, **shape))
    run.weights_path.write_bytes(b"none are used")
    result = Evaluation(
        id=0,
        loss=1.0,
        accuracy=float((actual == predicted).mean()),
        classes=names,
        per_class=[
            ClassScore(name=name, precision=0.8, recall=0.8, f1=0.8, count=count // NUM_CLASSES)
            for name in names
        ],
        confusion=cells_of(images.confusion(NUM_CLASSES)),
    )
    keep_evaluation(run, KeptEvaluation(result=result, created=1.5), images)


def all_drawn(panel: ImagesPanel) -> bool:
    """Whether all that can be seen has its thumbnail."""
    places = [panel.rows.place(row) for row in panel.grid.visible_rows()]
    known = panel.thumbnails.known_pixmap
    return bool(places) and all(known(place) is not None for place in places)


def measure(view: EvaluateView) -> None:
    """Clicks every cell beside the diagonal once, then once more."""
    panel, chart = view.panels["evaluate_images"], view.panels["evaluate_confusion"].map
    wait(lambda: panel.scored.images is not None)
    for words in ("files read for the first time", "thumbnails known"):
        listed, drawn = [], []
        for actual in range(NUM_CLASSES):
            for predicted in range(NUM_CLASSES):
                if actual == predicted:
                    continue
                middle = chart.cell_rect(actual, predicted).center().toPoint()
                began = time.perf_counter()
                QTest.mouseClick(chart, Qt.MouseButton.LeftButton, pos=middle)
                panel.grid.viewport().repaint()
                listed.append(1000 * (time.perf_counter() - began))
                wait(lambda: all_drawn(panel))
                drawn.append(1000 * (time.perf_counter() - began))
        median = statistics.median
        print(
            f"{words}: cells listed and painted {median(listed):.1f} ms (goal {GOAL_MS}), with all "
            f"thumbnails {median(drawn):.0f} ms (median of {len(drawn)} cells, "
            f"{len(panel.grid.visible_rows())} images seen)",
            flush=True,
        )


def main() -> None:
    """Prints the times."""
    home = own_home()
    make_folder(home / "images", NUM_IMAGES)
    run = WrittenRun("bench").begin().train(1)
    keep_scores(run.folder, home / "images")
    run.finish()
    app = QApplication([])
    with window_context(data_home()) as context:
        context.theme.apply(app)
        view = EvaluateView(context, panels_of("evaluate"))
        view.resize(1440, 840)
        view.show()
        context.library.open()
        wait(lambda: view.state.run is not None)
        measure(view)
        view.close_background()
        view.hide()
        view.deleteLater()
    shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
