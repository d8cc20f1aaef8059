"""Classifying image files: the request, and the scores of each image."""

from __future__ import annotations

import msgspec

from workbench.protocol.bases import Answer, ErrorParts, FinalAnswer, Request
from workbench.protocol.messages import Done
from workbench.protocol.trained.evaluate import ClassScore
from workbench.protocol.weights import KeptWeights

# fetch picture -------------------------------------------------------------------------------
# Downloading a picture from the web: the request.


class FetchPicture(Request, frozen=True, kw_only=True, tag="fetch_picture"):
    """Downloads a picture and checks that it can be decoded. Answer: Done with the `path`.

    Other requests do not wait for it.

    Attributes:
        address: Begins with http:// or https://.
        path: The new file to write.
    """

    final_answer = Done
    is_beside = True

    address: str
    path: str


# classify ------------------------------------------------------------------------------------


class WarmUp(Request, frozen=True, kw_only=True, tag="warm_up"):
    """Loads a model so that the first Classify is fast."""

    final_answer = Done
    handler = "classify"

    model: str


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """A class and how sure the network is, 0..1."""

    name: str = msgspec.field(name="class")
    probability: float


class Classified(Answer, frozen=True, kw_only=True, tag="classified"):
    """One image's scores, highest first; or why it could not be read. `label` is the most probable
    class, also where `unknown` says why the answer is "unknown"; that is "" elsewhere.
    `picture_bitmap` and `input_bitmap` are files in the worker's session folder, when requested.
    `weights` are those that answered; None where that is not known. `truth` is the image's own
    label, "" where there is none; it may be no class of the model. `is_right`: see `TrueClasses`;
    only in the rows of ClassifyMany. `blind`: why it was not checked whether the image is unlike
    the training images, a sentence; "" where it was; not in the rows of ClassifyMany.
    """

    file: str
    label: str = ""
    unknown: str = ""
    scores: list[Score] = []
    milliseconds: float = 0.0
    width: int = 0
    height: int = 0
    input_shape: list[int] = []
    picture_bitmap: str = ""
    input_bitmap: str = ""
    error: ErrorParts | None = None
    weights: KeptWeights | None = None
    truth: str = ""
    is_right: bool | None = None
    blind: str = ""


class Classify(Request, frozen=True, kw_only=True, tag="classify"):
    """Answers: one Classified per image, in order.

    Attributes:
        model: Path of a run folder or of a `.keras` file exported by the application.
        pictures: Paths of image files.
        top: Number of classes to return; 0 for all.
        previews: Also write the image, and the model input, as BMP files.
    """

    final_answer = Done
    partial_answers = (Classified,)

    model: str
    pictures: list[str]
    top: int = 0
    previews: bool = False


class AlteredScores(FinalAnswer, frozen=True, kw_only=True, tag="altered_scores"):
    """Answer to ClassifyAltered.

    Attributes:
        scores: Scores of all classes, highest first.
        unknown: Why the answer is "unknown"; "" where it is not.
        input_bitmap: The altered image as the model gets it, in the worker's session folder.
        milliseconds: Took altering and classifying.
    """

    scores: list[Score]
    input_bitmap: str
    unknown: str = ""
    milliseconds: float = 0.0


class ClassifyAltered(Request, frozen=True, kw_only=True, tag="classify_altered"):
    """Classifies an image with alterations.

    Attributes:
        model: As in Classify.
        picture: Path of an image file.
        strengths: Key of an alteration -> its strength, see `workbench.alterations`.
    """

    final_answer = AlteredScores

    model: str
    picture: str
    strengths: dict[str, float] = {}


# classify many -------------------------------------------------------------------------------
# Classifying folders of any size: the request, rows as they come, and what came of it.


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
