"""What a data set holds, and how a recipe divides it: the requests and their answers."""

from __future__ import annotations

import msgspec

from workbench.core.specs import Inference
from workbench.protocol.bases import Answer, DataRequest, FinalAnswer, SplitRequest
from workbench.protocol.messages import Done

# browsing ------------------------------------------------------------------------------------
# Browsing the images of a data set: requests and answers.
#
# An image is meant by the part it is in and its number there, as ListedImages lists them.


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


# describe data -------------------------------------------------------------------------------


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """What decoding all images of a source has shown; see DataDescription. `parts` has, by path of
    a bad file, the key of the part of Workbench that would decode it and is not installed.
    """

    bad_files: list[tuple[str, str]]
    parts: dict[str, str] = {}
    shape: list[int]
    typical_size: list[int]
    num_channels: int = 3


class Thumbnail(msgspec.Struct, frozen=True, kw_only=True):
    """An image of a data set, made small.

    Attributes:
        path: PNG file in the worker's session folder.
        part, index: Part of the image, as the data set has it, and its index there.
        file: The file it is in; "" where it is in none, or its name is no Unicode.
        width, height: Size of the image itself, in pixels; 0 where that is not known.
    """

    path: str
    part: str = "train"
    index: int
    file: str = ""
    width: int
    height: int


class ClassDescription(msgspec.Struct, frozen=True, kw_only=True):
    """One class of a data set. `split` counts the images that train, validate and test in a run
    with the recipe of the request; empty where that is not known yet.
    """

    name: str
    num_train: int
    num_test: int
    num_validation: int = 0
    split: list[int] = []
    thumbnails: list[Thumbnail] = []


class DataDescription(FinalAnswer, frozen=True, kw_only=True, tag="data_description"):
    """What a source holds: `classes` after the edits of the request, `own_classes` before them.
    `shape` is empty where images differ in size; `num_channels` is 1 where all are grayscale.
    `is_test_split_off` where it has no test part: `num_test` of its images are kept apart, by
    the request's share. `num_validation` counts the images of a published validation part
    alone. Where it is not complete, no image was decoded: unreadable files are counted, and the
    parts are of about the size that they will have. `inferences` are what was inferred about
    the meaning of the data. `needed_parts` are the keys of the parts of Workbench, not installed
    here, by which more of the files could be read. `looked` is to be sent with the next request
    about the source; None where not everything was seen, or does not fit.
    """

    title: str
    classes: list[ClassDescription]
    own_classes: list[OwnClass] = []
    num_train: int
    num_test: int
    num_validation: int = 0
    is_test_split_off: bool = False
    shape: list[int]
    typical_size: list[int] = []
    num_channels: int = 3
    bad_files: list[tuple[str, str]] = []
    needed_parts: list[str] = []
    notes: list[str] = []
    inferences: list[Inference] = []
    is_complete: bool = True
    looked: Looked | None = None


class DescribeData(SplitRequest, frozen=True, kw_only=True, tag="describe_data"):
    """Counts per class, unreadable files, thumbnails.

    Attributes:
        is_quick: Images in files are listed, but not decoded.
        looked: What an earlier description of the source has shown: nothing is decoded again.
    """

    final_answer = DataDescription
    handler = "describe"

    is_quick: bool = False
    looked: Looked | None = None
    thumbnails_per_class: int = 0


class SplitCounts(FinalAnswer, frozen=True, kw_only=True, tag="split_counts"):
    """Answer to CountSplit.

    Attributes:
        classes: For each class how many images train, validate and test.
        notes: What is odd about the split, in sentences.
    """

    classes: list[list[int]]
    notes: list[str] = []


class CountSplit(SplitRequest, frozen=True, kw_only=True, tag="count_split"):
    """Counts the images of each part as training would divide them.

    Attributes:
        bad_files: Files that are known to be unreadable.
    """

    final_answer = SplitCounts

    bad_files: list[str] = []
