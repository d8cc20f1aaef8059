"""Grad-CAM, warm: from the request to the map through the real service worker, decoding included."""

from __future__ import annotations

import shutil
import statistics
import time

from tests.benchmarks._runs import made_pictures, own_home, project_on, train
from tests.benchmarks.classify import photo
from workbench.protocol.classify import WarmUp
from workbench.protocol.service_call import ServiceCall
from workbench.protocol.trained.explain import Explain, Explained

ROUNDS = 30
GOAL_MS = 100
NETWORKS = (("cifar10_convnet", 32, 10), ("flowers_gap", 192, 5), ("flowers_transfer", 224, 5))


def main() -> None:
    """Prints the medians of two networks from scratch and of a pretrained one."""
    home = own_home()
    for template, size, classes in NETWORKS:
        pictures = made_pictures(home / f"{size}.npz", size=size, num_classes=classes, count=100)
        project = project_on(template, pictures, epochs=1, batch_size=10, steps_per_epoch=1)
        times = _times(str(train(project).path), photo(home))
        figures = f"median {statistics.median(times):.1f} ms, slowest {max(times):.1f} ms"
        print(f"{template}: {figures} of {ROUNDS} (goal {GOAL_MS} ms)", flush=True)
    shutil.rmtree(home, ignore_errors=True)


def _times(model: str, picture: str) -> list[float]:
    """Milliseconds of each request but the first ones, in which programs are compiled."""
    times = []
    with ServiceCall() as service:
        list(service.answers(WarmUp(id=1, model=model)))
        for number in range(ROUNDS + 3):
            request = Explain(id=2 + number, model=model, picture=picture)
            began = time.perf_counter()
            (answer,) = [a for a in service.answers(request) if isinstance(a, Explained)]
            times.append(1000 * (time.perf_counter() - began))
            if not answer.layers:
                raise SystemExit("no layer was looked at")
    return times[3:]


if __name__ == "__main__":
    main()
