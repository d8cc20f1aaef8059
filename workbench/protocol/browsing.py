"""Browsing the images of a data set: requests and answers.

An image is meant by the part it is in and its number there, as ListedImages lists them.
"""

from __future__ import annotations

import msgspec

from workbench.protocol.bases import Answer, DataRequest, FinalAnswer
from workbench.protocol.messages import Done


class ImagePlace(msgspec.Struct, frozen=True, array_like=True):
    """An image: "train", "test" or "validation" as the data set has it, and its number there."""

    part: str
    index: int


class OwnClass(msgspec.Struct, frozen=True, kw_only=True):
    """A class as the data set has it, whatever a project makes of it, with all its images."""

    name: str
    num_images: int


class ShowPicture(DataRequest, frozen=True, kw_only=True, tag="show_picture"):
    """Writes an image of a source as PNG, large. Answer: Done with the PNG's path.

    Attributes:
        part, index: Part of the image, as the data set has it, and its index there.
        file: The file it is in, which is enough; "" where it is in none.
    """

    final_answer = Done
    handler = "browse"

    part: str = "train"
    index: int
    file: str = ""


class ListedImages(Answer, frozen=True, kw_only=True, tag="listed_images"):
    """Consecutive images of a part.

    Attributes:
        part: The part that they are in.
        start: Number of the first in its part.
        labels: Numbers of their classes.
        files: The files they are in; "" where it is in none, or its name is no Unicode.
        sizes: Bytes of these files; 0 where there is none.
    """

    part: str
    start: int
    labels: list[int]
    files: list[str]
    sizes: list[int]


class ListImages(DataRequest, frozen=True, kw_only=True, tag="list_images"):
    """Lists all images. Answers: some ListedImages, then Done."""

    final_answer = Done
    partial_answers = (ListedImages,)
    handler = "browse"


class ThumbnailsMade(Answer, frozen=True, kw_only=True, tag="thumbnails_made"):
    """Small images that were made.

    Attributes:
        images: Which ones.
        paths: Files of the program's own; "" for an image that cannot be read.
    """

    images: list[ImagePlace]
    paths: list[str]


class MakeThumbnails(DataRequest, frozen=True, kw_only=True, tag="make_thumbnails"):
    """Makes small images, in the order of the request. Answers: some ThumbnailsMade, then Done.

    Attributes:
        images: Which ones.
        files: The files that these are in, which is enough; "" for one that is found by its place.
            As many as images, or none.
    """

    final_answer = Done
    partial_answers = (ThumbnailsMade,)
    handler = "browse"

    images: list[ImagePlace]
    files: list[str] = []


class ImageContents(FinalAnswer, frozen=True, kw_only=True, tag="image_contents"):
    """Answer to IdentifyImages: the id of each image, "" for one that cannot be read."""

    contents: list[str]


class IdentifyImages(DataRequest, frozen=True, kw_only=True, tag="identify_images"):
    """Ids of images by content, as edits name them."""

    final_answer = ImageContents
    handler = "browse"

    images: list[ImagePlace]
