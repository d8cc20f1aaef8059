"""What a pretrained network is compared with: Keras's own networks, and images."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.backbones import all_backbones, insert_backbone
from workbench.core.network.graph import Graph, Node
from workbench.core.specs import BackboneSpec
from workbench.layers import all_layers
from workbench.worker.model.build import BuiltModel, build_model

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
MOBILENET_FILE = SHARED / "models" / "mobilenet_2_5_224_tf_no_top.h5"
LITE0_FEATURES = Path(__file__).parent / "lite0_features.npz"
"""Features of `patterns(4)` by PyTorch's original; `tests/proofs/backbones.py --write` makes it."""


@dataclass(frozen=True)
class Original:
    """A network of Keras, and what it does with an image before."""

    make: Callable[[], Any]
    preprocess: Callable[[Any], Any] = lambda images: images

    def features(self, model: Any, images: Any) -> Any:
        return model.predict(self.preprocess(images.copy()), verbose=0)


def originals() -> dict[str, Original]:
    """Keras's own networks by our keys, without weights."""
    from keras import applications as apps

    def made(make: Any, **more: Any) -> Callable[[], Any]:
        arguments = {"weights": None, "include_top": False, "pooling": "avg", **more}
        return lambda: make(input_shape=(224, 224, 3), **arguments)

    return {
        "mobilenet": Original(made(apps.MobileNet, alpha=0.25), apps.mobilenet.preprocess_input),
        "mobilenet_v2": Original(made(apps.MobileNetV2), apps.mobilenet_v2.preprocess_input),
        "mobilenet_v3": Original(made(apps.MobileNetV3Small)),
        "efficientnet_v2_b0": Original(made(apps.EfficientNetV2B0)),
        "resnet50": Original(made(apps.ResNet50), apps.resnet.preprocess_input),
        "convnext_tiny": Original(made(apps.ConvNeXtTiny)),
    }


def graph_with(spec: BackboneSpec) -> Graph:
    """Input and the backbone, as somebody puts it onto an empty canvas."""
    graph = Graph.of([Node("n1", "input", "image", {"shape": spec.input_shape})])
    return insert_backbone(graph, spec, "n1", spec.input_shape).graph


def built_of(key: str, **more: Any) -> BuiltModel:
    """The network from 0 to 255 to features, with its pretrained weights."""
    return build_model(graph_with(all_backbones()[key]), all_layers(), whole=True, **more)


def patterns(count: int) -> np.ndarray:
    """Colored waves, the same each time; uint8 (count, 224, 224, 3)."""
    axis = np.linspace(0, 1, 224)
    images = []
    for number in range(count):
        waves = [
            np.sin((3 + number + 2 * color) * axis)[:, None]
            * np.cos((5 + 3 * color) * axis + number)
            for color in range(3)
        ]
        images.append(np.round((np.stack(waves, axis=2) + 1) * 127.5))
    return np.asarray(images, np.uint8)


def photos(count: int) -> np.ndarray:
    """Photos of ../shared/data/flowers, as many of each class; uint8 (count, 224, 224, 3)."""
    from PIL import Image

    classes = sorted(path for path in (SHARED / "flowers").iterdir() if path.is_dir())
    paths = [p for folder in classes for p in sorted(folder.glob("*.jpg"))[: count // len(classes)]]
    return np.stack(
        [np.asarray(Image.open(path).convert("RGB").resize((224, 224))) for path in paths]
    )


def publish(model: Any, spec: BackboneSpec, folder: Path) -> BackboneSpec:
    """Saves a model with random weights as Keras publishes weights, below KERAS_HOME; returns the
    spec with the file's checksum.
    """
    import h5py
    from keras.src.legacy.saving import legacy_h5_format

    random = np.random.default_rng(7)
    for weight in model.weights:
        values = weight.numpy()
        if weight.name in {"gamma", "moving_variance", "variable"}:
            weight.assign(random.uniform(0.8, 1.2, values.shape))
        elif weight.name in {"beta", "bias", "moving_mean"}:
            weight.assign(random.normal(0, 0.1, values.shape))
    path = folder / "models" / spec.weights.file_name
    path.parent.mkdir(parents=True)
    with h5py.File(path, "w") as file:
        legacy_h5_format.save_weights_to_hdf5_group(file, model)
    digest = hashlib.md5(path.read_bytes()).hexdigest()  # noqa: S324 - as Keras does
    return replace(spec, weights=replace(spec.weights, checksum=digest))
