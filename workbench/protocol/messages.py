"""Messages between a service worker and its parent process: requests and answers.
A run's events are in `events`. JSON has no NaN: None is "not finite".
"""

from __future__ import annotations

from typing import Literal

import msgspec

from workbench.protocol.augmentation import AugmentationPreview, PreviewAugmentation
from workbench.protocol.backbone import FetchBackbone
from workbench.protocol.bases import Answer, Request
from workbench.protocol.browsing import (
    IdentifyImages,
    ImageContents,
    ListedImages,
    ListImages,
    MakeThumbnails,
    OwnClass,
    ShowPicture,
    ThumbnailsMade,
)
from workbench.protocol.count_split import CountSplit, SplitCounts
from workbench.protocol.data_check import (
    CheckData,
    DataCheckReport,
    DataFindings,
    FoundThumbnails,
    ShowFound,
)
from workbench.protocol.preflight import (
    Estimate,
    LargestBuffer,
    Level,
    LevelState,
    Memory,
    PreflightReport,
    ReportProblem,
    SweepPoint,
)

PROTOCOL_VERSION = 1


class ErrorParts(msgspec.Struct, frozen=True, kw_only=True):
    """A WorkbenchError on the wire; `kind` is its class, "" where that is not known."""

    what: str
    where: str = ""
    received: str = ""
    expected: str = ""
    fix: str = ""
    kind: str = ""


# requests to a service worker -----------------------------------------------------------


class KeptWeights(msgspec.Struct, frozen=True, kw_only=True):
    """Which weights a run has saved: those that classify, and are tested and exported.

    Attributes:
        epoch: The last epoch they have finished, 0 for none.
        kind: "last" or "best".
        is_partial: They have trained steps beyond that epoch: the run was stopped within the next.
        is_averaged: They are the moving average of the weights (EMA).
        val_accuracy: Of that epoch, 0..1; None where it was not measured for these weights.
        is_chosen_on_test: The best epoch was chosen by the test images, which also test it.
    """

    epoch: int
    kind: str = "last"
    is_partial: bool = False
    is_averaged: bool = False
    val_accuracy: float | None = None
    is_chosen_on_test: bool = False


class DescribeData(Request, frozen=True, kw_only=True, tag="describe_data"):
    """Counts per class, unreadable files, thumbnails. Answer: DataDescription.

    Attributes:
        source, params: Key of the data set, and its parameters.
        edits: The user's edits of it, as in a project file.
        recipe: Values of the recipe that decide the split; defaults where there are none.
        project_id: Whose runs remember where the split by content was cut; "" for no project.
    """

    source: str
    params: dict[str, object]
    edits: dict[str, object] = {}
    recipe: dict[str, object] = {}
    project_id: str = ""
    thumbnails_per_class: int = 0


class Classify(Request, frozen=True, kw_only=True, tag="classify"):
    """Answers: one Classified per image, in order.

    Attributes:
        model: Path of a run folder or of a `.keras` file exported by the application.
        pictures: Paths of image files.
        top: Number of classes to return; 0 for all.
        previews: Also write the image, and the model input, as PNG.
    """

    model: str
    pictures: list[str]
    top: int = 0
    previews: bool = False


class WarmUp(Request, frozen=True, kw_only=True, tag="warm_up"):
    """Loads a model so that the first Classify is fast. Answer: Done."""

    model: str


class PickTestPictures(Request, frozen=True, kw_only=True, tag="pick_test_pictures"):
    """Writes some test images of a run's data set as PNG files. Answer: TestPictures."""

    model: str
    count: int = 24
    indices: list[int] = []
    seed: int = 0


class Evaluate(Request, frozen=True, kw_only=True, tag="evaluate"):
    """Scores on the run's test part, or on another source. Answer: Evaluation."""

    model: str
    source: str = ""
    params: dict[str, object] = {}


class Export(Request, frozen=True, kw_only=True, tag="export"):
    """Writes a run in an export format. Answer: Done with the words to show."""

    model: str
    format: str
    path: str


class ExportProject(Request, frozen=True, kw_only=True, tag="export_project"):
    """Writes a program that trains a project (file text) elsewhere. Answer: Done with words."""

    project: str
    format: str
    path: str


WEIGHTS_ENDINGS = (".weights.h5", ".h5", ".hdf5", ".keras")
"""How the files end that weights are loaded from."""

RESULT_ENDING = ".zip"
"""How the file ends that an exported notebook leaves."""


class LoadWeights(Request, frozen=True, kw_only=True, tag="load_weights"):
    """Makes a run of a project (file text) and a `.weights.h5` or `.keras` file, or the `.zip` of
    an exported notebook. Answer: Done with the `path` of the run folder: `run`, or a new one if
    empty.
    """

    project: str
    weights: str
    run: str = ""


class FindLearningRate(Request, frozen=True, kw_only=True, tag="find_learning_rate"):
    """Raises the learning rate step by step until training of a project (file text) diverges,
    then trains briefly with a few rates, each from the start. Answers: some LearningRateTried,
    some LearningRateTrial, then LearningRateFound. All rates are values of the recipe's field.

    Attributes:
        steps: Of the rising rate; None: as many as the batch needs.
    """

    project: str
    steps: int | None = None
    lowest: float = 1e-7
    highest: float = 10.0


class FindBatchSize(Request, frozen=True, kw_only=True, tag="find_batch_size"):
    """Trains a project (file text) a moment at each size: BatchSizeTried, then BatchSizeFound."""

    project: str
    lowest: int = 8
    highest: int = 4096

    @property
    def sizes(self) -> list[int]:
        """The powers of two that are tried while they fit and there are as many images."""
        powers = (1 << exponent for exponent in range(17))
        return [size for size in powers if self.lowest <= size <= self.highest]


class Preflight(Request, frozen=True, kw_only=True, tag="preflight"):
    """Will a project train on a TPU? None is needed for the answer. Answers: some
    PreflightStage, with a sweep some PreflightPoint, then PreflightDone.

    Attributes:
        project: Project-file text.
        tpu: Name of a TPU, e.g. "v5e-8".
        batch: Global batch; 0 for the recipe's.
        level: How deep to look at most.
        sweep: Try batches from small to large too.
    """

    project: str
    tpu: str
    batch: int = 0
    level: Level = "compiler"
    sweep: bool = False


class Cancel(Request, frozen=True, kw_only=True, tag="cancel"):
    """Stops the request `target` soon; that one then answers with Failed."""

    target: int


AnyRequest = (
    DescribeData
    | CountSplit
    | ListImages
    | MakeThumbnails
    | IdentifyImages
    | CheckData
    | ShowFound
    | Classify
    | WarmUp
    | PickTestPictures
    | ShowPicture
    | PreviewAugmentation
    | Evaluate
    | Export
    | ExportProject
    | FetchBackbone
    | LoadWeights
    | FindLearningRate
    | FindBatchSize
    | Preflight
    | Cancel
)


# answers of a service worker ------------------------------------------------------------


class Hello(Answer, frozen=True, kw_only=True, tag="hello"):
    """First line of a service worker."""

    protocol: int
    versions: dict[str, str]
    pid: int


class Progress(Answer, frozen=True, kw_only=True, tag="progress"):
    """What the worker is doing for a request."""

    text: str
    fraction: float | None = None


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """A class and how sure the network is, 0..1."""

    name: str = msgspec.field(name="class")
    probability: float


class Classified(Answer, frozen=True, kw_only=True, tag="classified"):
    """One image's scores, highest first; or why it could not be read. `picture_png` and
    `input_png` are files in the worker's session folder, when requested. `weights` are those that
    answered; None where that is not known.
    """

    file: str
    label: str = ""
    scores: list[Score] = []
    milliseconds: float = 0.0
    width: int = 0
    height: int = 0
    input_shape: list[int] = []
    picture_png: str = ""
    input_png: str = ""
    error: ErrorParts | None = None
    weights: KeptWeights | None = None


class Thumbnail(msgspec.Struct, frozen=True, kw_only=True):
    """An image of a data set, made small.

    Attributes:
        path: PNG file in the worker's session folder.
        part, index: Of the image: its part, as the data set has it, and its number there.
        file: The file it is in; "" where it is in none, or its name is no Unicode.
        width, height: Of the image itself, in pixels; 0 where that is not known.
    """

    path: str
    part: str = "train"
    index: int
    file: str = ""
    width: int
    height: int


class ClassDescription(msgspec.Struct, frozen=True, kw_only=True):
    """One class of a data set. `split` counts the images that train, validate and test in a run
    with the recipe of the request.
    """

    name: str
    num_train: int
    num_test: int
    num_validation: int = 0
    split: list[int] = []
    thumbnails: list[Thumbnail] = []


class DataDescription(Answer, frozen=True, kw_only=True, tag="data_description"):
    """What a source holds: `classes` after the edits of the request, `own_classes` before them.
    `shape` is empty where images differ in size. `is_test_split_off`
    where it has no test part: `num_test` of its images are kept apart, by the request's share.
    `num_validation` counts the images of a published validation part alone.
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
    bad_files: list[tuple[str, str]] = []
    notes: list[str] = []


class TestPicture(msgspec.Struct, frozen=True, kw_only=True):
    """A test image as a PNG file, with its true class."""

    __test__ = False

    index: int
    path: str
    label: str


class TestPictures(Answer, frozen=True, kw_only=True, tag="test_pictures"):
    """Answer to PickTestPictures.

    Attributes:
        pictures: Those that were requested and exist.
        total: Images in the test set: indices are below it.
    """

    __test__ = False

    pictures: list[TestPicture]
    total: int


class ClassScore(msgspec.Struct, frozen=True, kw_only=True):
    """How well one class is distinguished from the others."""

    name: str = msgspec.field(name="class")
    precision: float
    recall: float
    f1: float
    count: int


class Evaluation(Answer, frozen=True, kw_only=True, tag="evaluation"):
    """Scores on a set of images. Rows of `confusion` are true classes. `weights` are those that
    answered; None where that is not known. `is_validated_on_test`: the same images were the
    validation images of the training.
    """

    loss: float | None
    accuracy: float | None
    classes: list[str]
    per_class: list[ClassScore]
    confusion: list[list[int]]
    weights: KeptWeights | None = None
    is_validated_on_test: bool = False


class LearningRateTried(Answer, frozen=True, kw_only=True, tag="learning_rate_tried"):
    """The loss of each of some further steps, and the rate that step was made with."""

    rates: list[float]
    losses: list[float | None]


class LearningRateTrial(Answer, frozen=True, kw_only=True, tag="learning_rate_trial"):
    """A short training from the project's start: means over its last quarter; None where it
    diverged.
    """

    rate: float
    steps: int
    accuracy: float | None
    loss: float | None


class LearningRateFound(Answer, frozen=True, kw_only=True, tag="learning_rate_found"):
    """Answer to FindLearningRate.

    Attributes:
        suggested: The rate to train with, the project's own where that is as good as any; None
            where the result is inconclusive; `words` has the reason.
        verdict: "keep" the project's rate, "change" it, or "unknown".
        present: The project's rate.
        good: Lowest and highest of the rates that are as good as the best; [] where unknown.
    """

    suggested: float | None
    words: str
    verdict: Literal["keep", "change", "unknown"] = "unknown"
    present: float | None = None
    good: list[float] = []


class BatchSizeTried(Answer, frozen=True, kw_only=True, tag="batch_size_tried"):
    """One batch size: its speed and the memory of the whole process with it; or why not. It comes
    again for a size that was measured again; the latest counts.

    Attributes:
        images_per_second: The median of all its measurements; None where it does not fit.
        times: How often it was measured.
        spread: How far its measurements are apart, 0..1 of the highest.
    """

    size: int
    images_per_second: float | None = None
    memory_bytes: int | None = None
    problem: str = ""
    times: int = 1
    spread: float = 0.0


class BatchSizeFound(Answer, frozen=True, kw_only=True, tag="batch_size_found"):
    """Answer to FindBatchSize: the fastest size, the largest that fits into memory, and the
    smallest that is nearly as fast: larger batches make fewer steps, and learn less in an epoch.

    Attributes:
        changes: What else changes with the suggested size, in sentences: steps, images, rate.
        steps_per_epoch: With the suggested size.
        images_per_epoch: That these steps train on.
        learning_rate: Peak rate with the suggested size, by the project's LR scaling.
        is_uncertain: Speeds still contradict each other after they were measured again.
    """

    fastest: int
    largest: int
    suggested: int
    words: str
    changes: list[str] = []
    steps_per_epoch: int | None = None
    images_per_epoch: int | None = None
    learning_rate: float | None = None
    is_uncertain: bool = False


class PreflightStage(Answer, frozen=True, kw_only=True, tag="preflight_stage"):
    """A level of a preflight has begun, or has ended; with all that is known by then."""

    level: Level
    state: LevelState
    words: str = ""
    problems: list[ReportProblem] = []
    memory: Memory | None = None
    estimate: Estimate | None = None
    largest: list[LargestBuffer] = []


class PreflightPoint(Answer, frozen=True, kw_only=True, tag="preflight_point"):
    """One batch of a preflight's sweep."""

    point: SweepPoint


class PreflightDone(Answer, frozen=True, kw_only=True, tag="preflight_done"):
    """Answer to Preflight."""

    report: PreflightReport


class Done(Answer, frozen=True, kw_only=True, tag="done"):
    """The request is finished. Every request ends in Done or Failed."""

    text: str = ""
    path: str = ""


class Failed(Answer, frozen=True, kw_only=True, tag="failed"):
    """The request could not be done; nothing was half-changed."""

    error: ErrorParts


AnyAnswer = (
    Hello
    | Progress
    | Classified
    | DataDescription
    | SplitCounts
    | ListedImages
    | ThumbnailsMade
    | ImageContents
    | DataFindings
    | DataCheckReport
    | FoundThumbnails
    | TestPictures
    | AugmentationPreview
    | Evaluation
    | LearningRateTried
    | LearningRateTrial
    | LearningRateFound
    | BatchSizeTried
    | BatchSizeFound
    | PreflightStage
    | PreflightPoint
    | PreflightDone
    | Done
    | Failed
)
