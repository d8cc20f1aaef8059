"""Drop to label, warm: request to answer through the real service worker, decoding included."""

from __future__ import annotations

import shutil
import statistics
import time
from pathlib import Path

import numpy as np
from PIL import Image

from tests.benchmarks._runs import made_pictures, own_home, project_on, train
from workbench.protocol.classify import Classified, Classify, WarmUp
from workbench.protocol.service_call import ServiceCall

ROUNDS = 30


def main() -> None:
    """Prints the medians for the two published picture sizes."""
    home = own_home()
    for template, size, classes, goal in (
        ("cifar10_convnet", 32, 10, 12),
        ("flowers_gap", 192, 5, 25),
    ):
        pictures = made_pictures(home / f"{size}.npz", size=size, num_classes=classes, count=100)
        project = project_on(template, pictures, epochs=1, batch_size=10, steps_per_epoch=1)
        model = str(train(project).path)
        for previews in (False, True):
            ms = _median_ms(model, photo(home), previews=previews)
            words = "with both preview pictures" if previews else "label and scores"
            print(f"{size} x {size}, {words}: median {ms:.1f} ms of {ROUNDS} (goal {goal} ms)")
    shutil.rmtree(home, ignore_errors=True)


def photo(home: Path) -> str:
    """A JPEG of a usual web size: smooth colors, so that it compresses like a photo."""
    path = home / "photo.jpg"
    rows, columns = np.mgrid[0:240, 0:320]
    pixels = np.stack([rows * 255 / 240, columns * 255 / 320, (rows + columns) % 256], axis=-1)
    Image.fromarray(pixels.astype(np.uint8)).save(path, quality=90)
    return str(path)


def _median_ms(model: str, photo: str, *, previews: bool) -> float:
    times = []
    with ServiceCall() as service:
        list(service.answers(WarmUp(id=1, model=model)))
        for number in range(ROUNDS):
            request = Classify(id=2 + number, model=model, pictures=[photo], previews=previews)
            began = time.perf_counter()
            answer = next(a for a in service.answers(request) if isinstance(a, Classified))
            times.append(1000 * (time.perf_counter() - began))
            if answer.error is not None:
                raise SystemExit(answer.error.what)
    return statistics.median(times)


if __name__ == "__main__":
    main()
