"""All messages between processes. A run's events go to its event log; requests and answers
go between a service worker and whoever started it. JSON has no NaN: None is "not finite".
"""

from __future__ import annotations

import msgspec

PROTOCOL_VERSION = 1


class ErrorParts(msgspec.Struct, frozen=True, kw_only=True):
    """A WorkbenchError on the wire; `kind` is its class, "" where that is not known."""

    what: str
    where: str = ""
    received: str = ""
    expected: str = ""
    fix: str = ""
    kind: str = ""


# events of a run: trainer -> event log --------------------------------------------------


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """Something that happened in a run.

    Attributes:
        seq: 1, 2, 3, ... without gaps within a run; set by the writer.
        time: Seconds since the epoch, for display only.
    """

    seq: int = 0
    time: float = 0.0


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How the run is executed, and why; programs rely on the names.

    None stands for what the trainer settles while it runs: the steps of one call follow
    the measured length of a step, the pipeline follows the size of the data.
    """

    precision: str
    xla: bool = False
    steps_per_call: int | None = None
    pipeline: str | None = None
    gain: float | None = None
    words: str = ""


class RunStarted(Event, frozen=True, kw_only=True, tag="run_started"):
    """First event: what runs where. `protocol` lets an older window refuse politely.

    `replicas` is the number of devices that share each batch; programs that follow `train
    --json` rely on it.
    """

    run: str
    target: str
    replicas: int = 1
    precision: str
    seed: int
    versions: dict[str, str]
    plan: Plan
    epochs: int
    batch_size: int
    pid: int
    protocol: int = PROTOCOL_VERSION


class PhaseChanged(Event, frozen=True, kw_only=True, tag="phase_changed"):
    """What the trainer is doing now: "importing", "loading", "compiling", "training", ..."""

    phase: str
    text: str
    fraction: float | None = None


class DataReady(Event, frozen=True, kw_only=True, tag="data_ready"):
    """The pictures are there and split. `bad_files` were left out, with the reason."""

    class_names: list[str]
    num_train: int
    num_validation: int
    num_test: int
    steps_per_epoch: int
    bad_files: list[tuple[str, str]] = []


class Batch(Event, frozen=True, kw_only=True, tag="batch"):
    """The batches since the last such event (throttled): each batch's own values.

    `loss` and `accuracy` are those of the last batch alone; the lists hold all batches
    from `first_step` to `step` so that no point of the curve is lost. Steps count from 1
    over the whole run.
    """

    epoch: int
    step: int
    loss: float | None
    accuracy: float | None
    images_per_second: float
    first_step: int
    losses: list[float | None]
    accuracies: list[float | None]
    learning_rate: float | None = None


class EpochFinished(Event, frozen=True, kw_only=True, tag="epoch_finished"):
    """Means over the epoch, and over the validation pictures (None without validation)."""

    epoch: int
    step: int
    loss: float | None
    accuracy: float | None
    val_loss: float | None
    val_accuracy: float | None
    seconds: float
    images_per_second: float


class Heartbeat(Event, frozen=True, kw_only=True, tag="heartbeat"):
    """Proof that the trainer lives, every 2 s, with the memory it holds."""

    memory_bytes: int


class LogLine(Event, frozen=True, kw_only=True, tag="log_line"):
    """A sentence for the log panel. Levels: info, warning, error."""

    text: str
    level: str = "info"


class TestResult(msgspec.Struct, frozen=True, kw_only=True):
    """Scores on the test pictures."""

    __test__ = False

    loss: float | None
    accuracy: float | None
    count: int = 0


class BestEpoch(msgspec.Struct, frozen=True, kw_only=True):
    """The epoch with the highest validation accuracy (training accuracy without one)."""

    epoch: int
    val_accuracy: float | None
    val_loss: float | None


class RunFinished(Event, frozen=True, kw_only=True, tag="run_finished"):
    """Last event. Outcomes: completed, stopped, failed."""

    outcome: str
    run: str
    seconds: float
    epochs_done: int
    test: TestResult | None = None
    best: BestEpoch | None = None
    error: ErrorParts | None = None


RunEvent = (
    RunStarted
    | PhaseChanged
    | DataReady
    | Batch
    | EpochFinished
    | Heartbeat
    | LogLine
    | RunFinished
)


# requests to a service worker -----------------------------------------------------------


class Request(msgspec.Struct, frozen=True, kw_only=True, tag_field="request"):
    """Something asked of a service worker; `id` comes back in every answer to it."""

    id: int


class DescribeData(Request, frozen=True, kw_only=True, tag="describe_data"):
    """Counts per class, unreadable files, thumbnails. Answer: DataDescription."""

    source: str
    params: dict[str, object]
    thumbnails_per_class: int = 0
    test_share: float = 0.1
    seed: int = 7


class Classify(Request, frozen=True, kw_only=True, tag="classify"):
    """Answers: one Classified a picture, in order.

    Attributes:
        model: Path of a run folder or of a `.keras` file exported by the application.
        pictures: Paths of picture files.
        top: Number of classes to return; 0 for all.
        previews: Also write the picture, and the picture as the network sees it, as PNG.
    """

    model: str
    pictures: list[str]
    top: int = 0
    previews: bool = False


class WarmUp(Request, frozen=True, kw_only=True, tag="warm_up"):
    """Loads a model so that the first Classify is fast. Answer: Done."""

    model: str


class PickTestPictures(Request, frozen=True, kw_only=True, tag="pick_test_pictures"):
    """Writes some test pictures of a run's data set as PNG files. Answer: TestPictures."""

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


class LoadWeights(Request, frozen=True, kw_only=True, tag="load_weights"):
    """Makes a run out of a project and a `.weights.h5` or `.keras` file. Answer: Done,
    whose `path` is the new run folder. `project` is project-file text.
    """

    project: str
    weights: str
    class_names: list[str] = []


class Cancel(Request, frozen=True, kw_only=True, tag="cancel"):
    """Stops the request `target` soon; that one then answers with Failed."""

    target: int


AnyRequest = (
    DescribeData | Classify | WarmUp | PickTestPictures | Evaluate | Export | LoadWeights | Cancel
)


# answers of a service worker ------------------------------------------------------------


class Answer(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer"):
    """Something a service worker says; `id` is the request's, 0 for none."""

    id: int = 0


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
    """One picture's scores, highest first; or why it could not be read.

    `picture_png` and `input_png` are files in the worker's session folder, when asked for.
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


class ClassDescription(msgspec.Struct, frozen=True, kw_only=True):
    """One class of a data set."""

    name: str
    num_train: int
    num_test: int
    thumbnails: list[str] = []


class DataDescription(Answer, frozen=True, kw_only=True, tag="data_description"):
    """What a source holds. `shape` is empty where pictures differ in size.

    `is_test_split_off` where the source has no test part: `num_test` of its pictures are
    then kept apart, by the request's share.
    """

    title: str
    classes: list[ClassDescription]
    num_train: int
    num_test: int
    is_test_split_off: bool = False
    shape: list[int]
    typical_size: list[int] = []
    bad_files: list[tuple[str, str]] = []
    notes: list[str] = []


class TestPicture(msgspec.Struct, frozen=True, kw_only=True):
    """A test picture as a PNG file, with its true class."""

    __test__ = False

    index: int
    path: str
    label: str


class TestPictures(Answer, frozen=True, kw_only=True, tag="test_pictures"):
    """Answer to PickTestPictures."""

    __test__ = False

    pictures: list[TestPicture]


class ClassScore(msgspec.Struct, frozen=True, kw_only=True):
    """How well one class is told from the others."""

    name: str = msgspec.field(name="class")
    precision: float
    recall: float
    f1: float
    count: int


class Evaluation(Answer, frozen=True, kw_only=True, tag="evaluation"):
    """Scores on a set of pictures. Rows of `confusion` are true classes."""

    loss: float | None
    accuracy: float | None
    classes: list[str]
    per_class: list[ClassScore]
    confusion: list[list[int]]


class Done(Answer, frozen=True, kw_only=True, tag="done"):
    """The request is finished. Every request ends in Done or Failed."""

    text: str = ""
    path: str = ""


class Failed(Answer, frozen=True, kw_only=True, tag="failed"):
    """The request could not be done; nothing was half-changed."""

    error: ErrorParts


AnyAnswer = (
    Hello | Progress | Classified | DataDescription | TestPictures | Evaluation | Done | Failed
)
