"""TensorFlow's flower photos: 3,670 in five classes, as its tutorials download them."""

from __future__ import annotations

from workbench.core.params import Params
from workbench.core.specs import DatasetSpec, LoadContext, LoadedData
from workbench.datasets._archives import load_archive
from workbench.datasets._class_parts import FIT
from workbench.downloads.download import Download, keras_folder
from workbench.downloads.fetch import fetch

CLASS_NAMES = ("daisy", "dandelion", "roses", "sunflowers", "tulips")

DOWNLOAD = Download(
    title="Flowers, 3,670 photos",
    address="https://storage.googleapis.com/download.tensorflow.org/example_images/"
    "flower_photos.tgz",
    # As TensorFlow Datasets records it (url_checksums/tf_flowers.txt).
    checksum="4c54ace7911aaffe13a365c34f650e71dd5bf1be0a58b464e5a7183e3e595d9c",
    num_bytes=228_813_984,
    mirrors=("http://download.tensorflow.org/example_images/flower_photos.tgz",),
)


def _load(ctx: LoadContext, params: Params) -> LoadedData:
    return load_archive(ctx, fetch(DOWNLOAD, keras_folder(), ctx), "tar", params)


SPEC = DatasetSpec(
    key="flowers",
    title="Flowers, 3,670 photos",
    summary="3,670 color photos of flowers in five classes, of different sizes. Downloaded once "
    "(229 MB).",
    license="CC BY 2.0, the photographers are named in the archive's LICENSE.txt",
    params=(FIT,),
    typical_shape=(240, 320, 3),
    class_names=CLASS_NAMES,
    num_train=3_670,
    downloads=(DOWNLOAD,),
    load=_load,
)
