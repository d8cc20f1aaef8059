"""Pixels as they are, 0 to 255, against pixels scaled to 0 to 1: what the hint about them says.
`python -m tests.benchmarks.scaling [--epochs N]`

LeNet-5 on the bundled Fashion-MNIST, with its Rescaling and with a Rescaling by 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.proofs._commands import events_of, workbench

OPTIMIZERS = {
    "SGD, rate 0.01": ("optimizer=sgd", "learning_rate=0.01", "momentum=0.9"),
    "SGD, rate 0.1": ("optimizer=sgd", "learning_rate=0.1", "momentum=0.9"),
    "Adam, rate 0.001": ("optimizer=adam", "learning_rate=0.001"),
    "Adam, rate 0.01": ("optimizer=adam", "learning_rate=0.01"),
}
SCALES = {"0 to 255": "1", "0 to 1": str(1 / 255)}


def accuracy(settings: tuple[str, ...], epochs: int) -> float:
    """Test accuracy after so many epochs."""
    with tempfile.TemporaryDirectory() as home:
        project = str(Path(home) / "p.workbench")
        workbench(home, "new", "lenet5", project)
        workbench(home, "set", project, "schedule=constant", *settings)
        events = events_of(home, "train", project, "--epochs", str(epochs))
    return float(events[-1]["test"]["accuracy"])


def main(words: list[str] | None = None) -> int:
    """Prints a line for each optimizer and range of values."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    epochs = parser.parse_args(words).epochs
    for name, settings in OPTIMIZERS.items():
        for values, scale in SCALES.items():
            found = accuracy((*settings, f"rescaling.scale={scale}"), epochs)
            print(f"{name}, {values}: test {found:.4f} after {epochs} epochs", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
