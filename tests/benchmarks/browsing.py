"""Looking through a hundred thousand images: listed, scrolled, jumped to, sorted.
`python -m tests.benchmarks.browsing [NUMBER]`

Real files, a real service worker and its cache; the folder is made for it and removed. A paint is
the repaint of the grid after a step of scrolling, in CPU time of this process; waits are by the
clock, on a machine that may be shared with others.
"""

from __future__ import annotations

import io
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PIL import Image
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from tests.window_parts import window_context
from workbench.core.projects.project import Choice
from workbench.gui.data.browse import ImageBrowser
from workbench.gui.data.state import DataState

NUM_IMAGES, NUM_CLASSES, NUM_DIFFERENT = 100_000, 5, 200
SIZE_PX = (1000, 760)
STEPS = 300


def make_folder(root: Path, number: int) -> None:
    """Small JPEG photos, each with bytes of its own."""
    rng = np.random.default_rng(1)
    photos = []
    for _ in range(NUM_DIFFERENT):
        noise = Image.fromarray(rng.integers(0, 256, (9, 12, 3), np.uint8))
        file = io.BytesIO()
        noise.resize((240, 180), Image.Resampling.BICUBIC).save(file, "JPEG", quality=80)
        photos.append(file.getvalue())
    for label in range(NUM_CLASSES):
        (root / f"class {label}").mkdir(parents=True)
    for index in range(number):
        path = root / f"class {index % NUM_CLASSES}" / f"{index:06d}.jpg"
        path.write_bytes(photos[index % NUM_DIFFERENT] + index.to_bytes(4, "big"))


def wait(is_there: Callable[[], object], timeout_s: float = 300.0) -> float:
    """Lets the application run until `is_there()`; the seconds that it took."""
    start = time.monotonic()
    while not is_there():
        if time.monotonic() - start > timeout_s:
            raise TimeoutError
        loop = QEventLoop()
        QTimer.singleShot(5, loop.quit)
        loop.exec()
    return time.monotonic() - start


def all_drawn(browser: ImageBrowser) -> bool:
    """Whether all that can be seen has its thumbnail."""
    rows = browser.rows
    places = (rows.images.place(rows.number(row)) for row in browser.grid.visible_rows())
    return all(browser.thumbnails.known_pixmap(place) is not None for place in places)


def measure(browser: ImageBrowser, number: int) -> None:
    """All figures of a browser that has just been opened."""
    listed = wait(lambda: browser.rows.rowCount() == number)
    print(f"{f'list {number:,} images':<44} {listed:7.1f} s")
    drawn = wait(lambda: all_drawn(browser))
    print(f"{f'first {len(browser.grid.visible_rows())} thumbnails':<44} {drawn:7.2f} s")
    bar, paints = browser.grid.verticalScrollBar(), []
    for _ in range(STEPS):
        start = time.process_time()
        bar.setValue(bar.value() + 60)
        browser.grid.viewport().repaint()
        paints.append(1000 * (time.process_time() - start))
        QApplication.processEvents()
    paints.sort()
    words = f"{statistics.median(paints):7.2f} ms, 95 % below {paints[int(0.95 * STEPS)]:.2f} ms"
    print(f"{'paint while scrolling':<44} {words}")
    for part in (0.3, 0.6, 0.95):
        bar.setValue(int(part * bar.maximum()))
        browser.grid.viewport().repaint()
        print(
            f"{f'jump to {part:.0%}, all thumbnails':<44} {wait(lambda: all_drawn(browser)):7.2f} s"
        )
    browser.order.setCurrentIndex(1)
    browser.order.activated.emit(1)
    print(f"{'sort by name':<44} {wait(lambda: not browser._background.is_busy):7.2f} s")


def main(words: list[str]) -> None:
    """Prints the figures."""
    number = int(words[0]) if words else NUM_IMAGES
    app = QApplication([])
    with tempfile.TemporaryDirectory() as place:
        os.environ["WORKBENCH_HOME"] = f"{place}/home"
        make_folder(Path(place) / "images", number)
        with window_context(Path(place)) as context:
            context.theme.apply(app)
            folder = {"path": f"{place}/images", "fit": "crop"}
            context.document.set_dataset(Choice("folder", folder))
            state = DataState(context)
            browser = ImageBrowser(state)
            browser.resize(*SIZE_PX)
            browser.show()
            browser.open_class("")
            measure(browser, number)
            browser.close_background()
            state.close()
            browser.hide()
            browser.deleteLater()


if __name__ == "__main__":
    main(sys.argv[1:])
