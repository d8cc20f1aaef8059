"""A network that looks at what is bright, and a picture with a bright place: what a heat map of it
must show is known.
"""

from __future__ import annotations

import numpy as np
from PIL import Image

from tests.worker.conftest import chain
from workbench.core.projects.project_file import graph_to_plain
from workbench.layers import all_layers
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.store.weights_file import write_arrays
from workbench.worker.model.build import build_model, read_weights

BRIGHT = slice(4, 12), slice(20, 28)

GRAPH = chain(
    ("input", {"shape": (32, 32, 1)}),
    ("conv2d", {"filters": 1, "kernel_size": (1, 1)}),
    ("global_average_pooling2d", {}),
    ("dense", {"units": 2, "activation": "softmax"}),
)


def keep_bright_network(run) -> None:
    """Gives a run folder weights by which “light” is whatever is bright; pictures are cropped."""
    built = build_model(GRAPH, all_layers(), whole=True, pretrained=False, seed=1)
    built.layers["n1"].kernel.assign([[[[1.0]]]])
    built.layers["n3"].kernel.assign([[0.1, -0.1]])
    card = ModelCard(
        class_names=["light", "dark"],
        input_shape=[32, 32, 1],
        fit="crop",
        graph=graph_to_plain(GRAPH),
        checksum=write_arrays(run.weights_path, read_weights(built)),
    )
    write_card(run.path, card)


def bright_picture(folder) -> str:
    """A file of 64 × 32 pixels: the middle 32 are what the network gets."""
    pixels = np.zeros((32, 64), np.uint8)
    pixels[BRIGHT] = 250
    Image.fromarray(pixels).save(folder / "picture.png")
    return str(folder / "picture.png")
