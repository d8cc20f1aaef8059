"""Parts of a data set with images of one class only: their labels may be placeholders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.core.format import plain_name
from workbench.core.specs import Inference, LoadedData, parts_of

_LEAST = 3  # images of a part: fewer may be of one class by chance


def with_part_doubts(loaded: LoadedData) -> LoadedData:
    """The data with a doubt for each part of one class, where the others have more."""
    occurring = {name: np.unique(part.labels) for name, part in parts_of(loaded)}
    if max(map(len, occurring.values()), default=0) < 2:
        return loaded
    sizes = {name: len(part) for name, part in parts_of(loaded)}
    few = [name for name, found in occurring.items() if len(found) == 1 and sizes[name] >= _LEAST]
    doubts = [
        Inference(
            "part_classes",
            f"The classes of the {name} part",
            f"“{plain_name(loaded.class_names[int(occurring[name][0])])}” alone",
            f"{sizes[name]:,} images, of one class of {len(loaded.class_names):,}",
            "Its labels may be placeholders, or the parts divide the classes.",
        )
        for name in few
    ]
    return replace(loaded, inferences=(*loaded.inferences, *doubts))
