"""Images are fitted in JavaScript as Workbench fits them."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest

from workbench.pictures.fit import fit_picture
from workbench.pictures.fits import FITS
from workbench.programs.texts import fill, sections

SHAPES = [(20, 31, 3), (31, 20, 1), (64, 64, 3)]
SIZES = [(57, 33), (25, 50), (31, 20), (9, 7), (64, 64), (118, 40)]
"""Heights and widths: larger, smaller, and with halves that are rounded."""

FIT = """
import fs from "node:fs";
const { fitted } = await import(process.argv[1]);
for (const { file, facts, width, height } of JSON.parse(fs.readFileSync(0, "utf8"))) {
  const image = { width, height, data: fs.readFileSync(file) };
  fs.writeFileSync(`${file}.fitted`, fitted(facts, image));
}
"""


@pytest.mark.parametrize("fit", FITS)
def test_images_are_fitted_as_here(fit, tmp_path):
    network = tmp_path / "network.mjs"
    names = {"script": "classify.mjs", "facts": "model.json"}
    network.write_text(fill(sections("classify_node.txt")["network"], names))
    random = np.random.default_rng(5)
    orders, expected = [], []
    for shape in SHAPES:
        for height, width in SIZES:
            # smooth enough that a pixel beside the right one is seen, not only noise
            pixels = random.integers(0, 256, (height, width, 3)).cumsum(axis=0).cumsum(axis=1)
            pixels = (pixels // (height * width / 8)).astype(np.uint8)
            opaque = np.full((height, width, 1), 255, np.uint8)
            file = tmp_path / f"{len(orders)}"
            file.write_bytes(np.concatenate([pixels, opaque], axis=2).tobytes())
            facts = {"input_shape": shape, "fit": fit}
            orders.append({"file": str(file), "facts": facts, "width": width, "height": height})
            expected.append(fit_picture(pixels, shape, fit=fit))
    command = ["node", "--input-type=module", "-e", FIT, str(network)]
    subprocess.run(command, input=json.dumps(orders).encode(), check=True)
    for order, wanted in zip(orders, expected, strict=True):
        found = np.fromfile(f"{order['file']}.fitted", np.uint8).reshape(wanted.shape)
        gap = np.abs(found.astype(int) - wanted)
        # Pillow chooses whether rows or columns come first: what lies between is rounded.
        assert gap.max() <= 1, order
        assert gap.mean() < 0.2, order


def test_transparent_pixels_are_white(tmp_path):
    network = tmp_path / "network.mjs"
    names = {"script": "classify.mjs", "facts": "model.json"}
    network.write_text(fill(sections("classify_node.txt")["network"], names))
    file = tmp_path / "clear"
    file.write_bytes(bytes([10, 20, 30, 0] * 4))
    facts = {"input_shape": (2, 2, 3), "fit": "crop"}
    order = [{"file": str(file), "facts": facts, "width": 2, "height": 2}]
    command = ["node", "--input-type=module", "-e", FIT, str(network)]
    subprocess.run(command, input=json.dumps(order).encode(), check=True)
    assert (tmp_path / "clear.fitted").read_bytes() == bytes([255] * 12)
