"""A map of a run's images, and the training images nearest to another one."""

from __future__ import annotations

from typing import Literal

import msgspec

from workbench.protocol.bases import FinalAnswer, Request
from workbench.protocol.messages import Done

ImageState = Literal["", "missing", "changed"]
"""What has become of an image since the features were computed: its file is gone, or has another
content."""


class MapImages(Request, frozen=True, kw_only=True, tag="map_images"):
    """Computes the map of a run's images, and keeps it with the run; nothing where it is kept
    already.

    Attributes:
        model: Path of a run folder.
    """

    final_answer = Done
    handler = "trained.image_map"

    model: str


class NearImage(msgspec.Struct, frozen=True, kw_only=True):
    """A training image.

    Attributes:
        label: Its class.
        distance: 1 less the cosine of the outputs of the last hidden layer, 0..2.
        file: The file it is in; "" where it is in none, or its name is no Unicode.
        part, index: Where it is in the run's data set.
        content: Its id, as edits name it.
        state: What has become of it.
    """

    label: str
    distance: float
    file: str
    part: str
    index: int
    content: str
    state: ImageState = ""


class NearestImages(FinalAnswer, frozen=True, kw_only=True, tag="nearest_images"):
    """Answer to FindNearest.

    Attributes:
        file: The image file.
        images: The nearest first; none where the features are not kept.
        count, total: How many training images were searched, and how many there are; 0 where the
            features are not kept.
        source, params, edits: The run's data set with the edits of its training.
    """

    file: str
    images: list[NearImage]
    count: int = 0
    total: int = 0
    source: str = ""
    params: dict[str, object] = {}
    edits: dict[str, object] = {}


class FindNearest(Request, frozen=True, kw_only=True, tag="find_nearest"):
    """Finds the training images nearest to an image, by the kept features of the run's present
    weights.

    Attributes:
        model: Path of a run folder.
        picture: Path of an image file.
        count: At most so many images.
        may_compute: Whether features that are not kept yet are computed.
    """

    final_answer = NearestImages
    handler = "trained.image_map"

    model: str
    picture: str
    count: int = 8
    may_compute: bool = False
