"""Classifying folders of any size: the request, rows as they come, and what came of it."""

from __future__ import annotations

import msgspec

from workbench.protocol.bases import Answer, FinalAnswer, Request
from workbench.protocol.classify import Classified
from workbench.protocol.trained.evaluate import ClassScore


class ImageSource(msgspec.Struct, frozen=True, kw_only=True):
    """Images to classify.

    Attributes:
        path: An image file, or a folder with all images in it and in the folders inside; or a web
            address.
        name: What an image file is called in the table, where that is not its path.
        label: The true class of an image file, where it is known.
        is_address: The image is downloaded: only where the user has typed its address.
    """

    path: str
    name: str = ""
    label: str = ""
    is_address: bool = False


class ClassifiedRows(Answer, frozen=True, kw_only=True, tag="classified_rows"):
    """The next images, in order. `is_earlier`: they were in the table before, which has been
    continued; of them only what the table says is known.
    """

    rows: list[Classified]
    is_earlier: bool = False


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """How the answers compare with the true classes.

    Attributes:
        num_right, num_wrong: Images whose answer is their class, or another one.
        num_unknown: Images with a class of the model whose answer is "unknown": neither of both.
        num_foreign: Images whose label is no class of the model.
        num_unlabeled: Images without a label.
        accuracy: Share of the right ones, 0..1; None where no image has a class of the model.
        per_class: A score for each class of the model.
    """

    num_right: int
    num_wrong: int
    num_foreign: int
    num_unlabeled: int
    num_unknown: int = 0
    accuracy: float | None
    per_class: list[ClassScore]


class ManyClassified(FinalAnswer, frozen=True, kw_only=True, tag="many_classified"):
    """All images are done.

    Attributes:
        num_images: All of them, also unreadable ones.
        num_bad: Those that could not be read.
        num_earlier: Those that were in the table before.
        seconds: How long the others took, the loading of the model left out.
        table: The file that was written; "" for none.
        blind: As of `Classified`.
        agreement: None where no true classes were requested.
        reading: How the table of true classes was read, in sentences.
    """

    num_images: int
    num_bad: int
    num_earlier: int = 0
    seconds: float = 0.0
    table: str = ""
    blind: str = ""
    agreement: Agreement | None = None
    reading: list[str] = []


class ClassifyMany(Request, frozen=True, kw_only=True, tag="classify_many"):
    """Answers: ClassifiedRows as they come, then ManyClassified.

    Attributes:
        model: Path of a run folder or of a `.keras` file exported by the application.
        sources: The images, in order.
        table: CSV or Parquet file that the rows are written to as they come; "" for none. One that
            is unfinished is continued.
        starts_over: Replace the table, also one that is unfinished.
        top: Number of classes of each answer, 0 for all. The table always has all.
        truth: CSV file with the true classes of images, perhaps with settings of how it is read
            ("list.csv?label=breed"), see `pictures.listed`; "" for none.
        has_class_folders: An image's true class is the name of a folder that it is in, where
            `truth` has none.
    """

    final_answer = ManyClassified
    partial_answers = (ClassifiedRows,)
    handler = "classify"

    model: str
    sources: list[ImageSource]
    table: str = ""
    starts_over: bool = False
    top: int = 2
    truth: str = ""
    has_class_folders: bool = False
