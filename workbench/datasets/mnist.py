"""MNIST: 70,000 handwritten digits, as Keras downloads it."""

from __future__ import annotations

from workbench.core.params import Params
from workbench.core.specs import DatasetSpec, LoadContext, LoadedData
from workbench.datasets import npz
from workbench.downloads.download import Download, keras_folder
from workbench.downloads.fetch import fetch

DOWNLOAD = Download(
    title="MNIST",
    address="https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz",
    checksum="731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
    keras_name="mnist.npz",
    num_bytes=11_490_434,
)


def _load(ctx: LoadContext, params: Params) -> LoadedData:
    return npz.SPEC.load(ctx, {"path": str(fetch(DOWNLOAD, keras_folder(), ctx))})


SPEC = DatasetSpec(
    key="mnist",
    title="MNIST",
    summary="70,000 handwritten digits, grayscale, 28 × 28, in ten classes. Downloaded once "
    "(11.5 MB).",
    license="CC BY-SA 3.0, Yann LeCun and Corinna Cortes",
    shape=(28, 28, 1),
    class_names=tuple("0123456789"),
    num_train=60_000,
    num_test=10_000,
    downloads=(DOWNLOAD,),
    program="return keras.datasets.mnist.load_data()",
    load=_load,
)
