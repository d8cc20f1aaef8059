"""A service worker whose converter gets the weights of a layer wrong; the rest is the real one."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.worker.exporting.swapped import swap_weights
from workbench.runs.folder import RunFolder
from workbench.worker.__main__ import main
from workbench.worker.requests.exporting import converter, handler

LAYER = "conv2d_6"


def convert(order, check):
    """As the converter, but for the weights."""
    done = converter.convert(order, check)
    swap_weights(RunFolder(Path(order.model)), LAYER)(Path(order.path))
    return done


if __name__ == "__main__":
    handler.convert = convert
    sys.exit(main(["serve"]))
