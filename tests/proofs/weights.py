"""Weights and models that other programs made, loaded into the projects of their networks.

`python -m tests.proofs.weights [--files 400] [--seed 1]`

Plain Keras 3, `tf_keras` and a writer of Keras 1's layout save networks with branches, equal
branches, projections, batch normalization without scale or center, separable, depthwise and
transposed convolutions; with the project's names, automatic, random and exchanged ones, the inputs
of merges the other way round, layers used twice, models within the model. Each file is loaded as
`workbench load` does; the answers for images of noise are compared with the maker's own. It ends
with 1 where an answer differs by more than 1e-5 and nothing was said.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np

from tests.built_networks import runner_of
from tests.foreign_networks import Made, make_files
from workbench.errors import WeightsError
from workbench.worker.foreign.foreign_weights import read_foreign_weights
from workbench.worker.model.build import assign_weights
from workbench.worker.saved_models.keras_runner import weights_layout

LIMIT = 1e-5
OUTCOMES = ("right", "right, doubt said", "asked", "refused", "swapped, doubt said", "swapped")


def outcome(made: Made) -> tuple[str, str]:
    """What becomes of a file (one of OUTCOMES), and why."""
    built = runner_of(made.graph).built
    try:
        found = read_foreign_weights(made.path, weights_layout(built))
    except WeightsError as error:
        kind = "asked" if "which of some equal layers" in error.what else "refused"
        return kind, f"{error.what} {error.received}"
    assign_weights(built, found.arrays)
    ours = np.asarray(built.model(made.pictures, training=False))
    differs = float(np.abs(ours - made.answers).max() / max(1.0, np.abs(made.answers).max()))
    kind = "right" if differs <= LIMIT else "swapped"
    said = ", doubt said" if found.doubts else ""
    return kind + said, f"{found.matched_by}, differs by {differs:.1e} {' '.join(found.doubts)}"


def main() -> int:
    """Prints a table; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="print each file")
    arguments = parser.parse_args()
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as folder:
        for made in make_files(Path(folder), arguments.seed, arguments.files):
            found, why = outcome(made)
            kind = made.kind.partition(",")[0]
            for row in (f"{made.library}, {made.format}", kind, "all files"):
                rows[row][found] += 1
            if arguments.all or found.startswith("swapped"):
                print(f"{made.library} {made.format}: {made.kind}: {found}. {why}", flush=True)
    print(f"{'':34}" + "".join(f"{name:>21}" for name in OUTCOMES))
    for row in sorted(rows, key=lambda name: (name == "all files", name)):
        print(f"{row:34}" + "".join(f"{rows[row][name]:>21}" for name in OUTCOMES))
    return int(rows["all files"]["swapped"] > 0)


if __name__ == "__main__":
    sys.exit(main())
