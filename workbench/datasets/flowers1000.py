"""1,000 of TensorFlow's flower photos, inside the application: small enough to be there at once.

200 of each class, none of them twice or nearly so, with a test part that is always the same:
40 of each class, by photographers who have no photo of that class in the training part.
`packaging/make_flowers.py` has chosen them.
"""

from __future__ import annotations

from pathlib import PurePosixPath

import numpy as np

from workbench.assets import data_path
from workbench.core.params import Params
from workbench.core.specs import DatasetSpec, FilePart, LoadContext, LoadedData
from workbench.datasets._cached_files import bundled_files
from workbench.datasets._class_parts import FIT

CLASS_NAMES = ("daisy", "dandelion", "roses", "sunflowers", "tulips")
NUM_TRAIN, NUM_TEST = 800, 200
ARCHIVE = "flowers1000.zip"


def _load(ctx: LoadContext, params: Params) -> LoadedData:
    paths = bundled_files(ctx, data_path(ARCHIVE))
    return LoadedData(
        class_names=CLASS_NAMES, train=_part(paths, "train"), test=_part(paths, "test")
    )


def _part(paths: dict[str, str], part: str) -> FilePart:
    names = [name for name in paths if name.startswith(f"{part}/")]
    labels = [CLASS_NAMES.index(PurePosixPath(name).parent.name) for name in names]
    return FilePart(tuple(paths[name] for name in names), np.array(labels, np.int64))


SPEC = DatasetSpec(
    key="flowers1000",
    title="Flowers, 1,000 photos",
    summary="1,000 color photos of five flowers, sizes differ, with a fixed test part of 200. "
    "Included with Workbench.",
    license="CC BY 2.0, photographers named in the license",
    license_file="flowers1000_LICENSE.txt",
    params=(FIT,),
    typical_shape=(224, 299, 3),
    class_names=CLASS_NAMES,
    num_train=NUM_TRAIN,
    num_test=NUM_TEST,
    load=_load,
)
