"""Classifying image files: the request, and the scores of each image."""

from __future__ import annotations

import msgspec

from workbench.protocol.bases import Answer, ErrorParts, FinalAnswer, Request
from workbench.protocol.messages import Done
from workbench.protocol.weights import KeptWeights


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
