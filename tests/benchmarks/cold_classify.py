"""One picture from a cold start: `workbench classify` beside a plain Keras script, in turns.

The plain script is `keras.models.load_model` of the same network and `model.predict`. Time and memory
are those of the whole process with its children, as the operating system has counted them.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.benchmarks._runs import made_pictures, own_home, project_on, train
from tests.benchmarks.classify import photo
from workbench.cli import main as workbench

ROUNDS = 9
GOAL_S, GOAL_MB = 0.6, 150

_PLAIN = """
import sys
import keras
import numpy as np
model = keras.models.load_model(sys.argv[1])
size = model.input_shape[1:3]
image = keras.utils.load_img(sys.argv[2], target_size=size)
print(model.predict(np.asarray(image)[None], verbose=0).argmax())
"""


def main() -> None:
    """Prints the medians for the two published picture sizes."""
    home = own_home()
    picture = photo(home)
    for template, size, classes in (("cifar10_convnet", 32, 10), ("flowers_gap", 192, 5)):
        pictures = made_pictures(home / f"{size}.npz", size=size, num_classes=classes, count=100)
        project = project_on(template, pictures, epochs=1, batch_size=10, steps_per_epoch=1)
        run, exported = train(project).path, home / f"{size}.keras"
        workbench(["export", str(run), "keras", str(exported)])
        ours = [sys.executable, "-m", "workbench", "classify", str(run), picture]
        plain = [sys.executable, "-c", _PLAIN, str(exported), picture]
        rows = [(_measured(ours), _measured(plain)) for _ in range(ROUNDS)]
        seconds, megabytes = (statistics.median(row[0][at] for row in rows) for at in (0, 1))
        plain_s, plain_mb = (statistics.median(row[1][at] for row in rows) for at in (0, 1))
        print(
            f"{size} x {size}: workbench classify {seconds:.2f} s (goal {GOAL_S} s), "
            f"{megabytes:.0f} MB (goal {GOAL_MB} MB); plain Keras script {plain_s:.2f} s, "
            f"{plain_mb:.0f} MB; medians of {ROUNDS}",
            flush=True,
        )
    shutil.rmtree(home, ignore_errors=True)


def _measured(command: list[str]) -> tuple[float, float]:
    """Seconds, and MB of resident memory at most."""
    began = time.perf_counter()
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen(
        command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return time.perf_counter() - began, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
