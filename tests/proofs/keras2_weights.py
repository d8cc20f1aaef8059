"""Weights of the published CIFAR-10 script in Keras 2, loaded here, and ours loaded there.

`python -m tests.proofs.keras2_weights`

A process of `tf_keras` builds the published network, trains one step, and saves its weights and the
whole model; Workbench loads both files, and exports the weights for another such process, which
loads them by order and by name. The answers for images of noise are compared; it ends with 1 where
one differs by more than 1e-5.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np

from tests.keras2_networks import (
    answers,
    difference,
    export_keras2,
    loaded,
    put_network,
    run_keras2,
)
from workbench.templates import find_template

NAME, JOB = "cifar", "published"
LIMIT = 1e-5


def main() -> int:
    """Prints a line for each way; returns the exit code."""
    graph = find_template("cifar10_convnet").project.graph
    worst = 0.0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        put_network(folder, NAME, graph)
        run_keras2(folder, JOB, NAME)
        for file in (f"{NAME}.h5", f"{NAME}.model.h5"):
            ours = answers(loaded(graph, folder / file), folder, NAME)
            worst = max(worst, _report(f"{file} of Keras 2, loaded here", folder, ours))
        export_keras2(loaded(graph, folder / f"{NAME}.h5"), folder / f"{NAME}.keras2.h5")
        run_keras2(folder, "check", NAME)
        for way in ("order", "name"):
            theirs = np.load(folder / f"{NAME}.{way}.npy")
            worst = max(worst, _report(f"exported, loaded in Keras 2 by {way}", folder, theirs))
    return 0 if worst <= LIMIT else 1


def _report(what: str, folder: Path, found: np.ndarray) -> float:
    differs, varies = difference(folder, NAME, JOB, found)
    print(f"{what}: differs by {differs:.1e}; the images' own answers by {varies:.2g}")
    return differs


if __name__ == "__main__":
    sys.exit(main())
