"""Messages between a service worker and its parent process: all requests and answers, and those
that belong to any request; the others are in the modules of their subjects. A run's events are in
`events`. JSON has no NaN: None is "not finite".
"""

from __future__ import annotations

from workbench.protocol.augmentation import AugmentationPreview, PreviewAugmentation
from workbench.protocol.backbone import FetchBackbone
from workbench.protocol.bases import Answer, ErrorParts, Request
from workbench.protocol.browsing import (
    IdentifyImages,
    ImageContents,
    ListedImages,
    ListImages,
    MakeThumbnails,
    ShowPicture,
    ThumbnailsMade,
)
from workbench.protocol.classify import (
    AlteredScores,
    Classified,
    Classify,
    ClassifyAltered,
    WarmUp,
)
from workbench.protocol.classify_many import ClassifiedRows, ClassifyMany, ManyClassified
from workbench.protocol.data_check import (
    CheckData,
    DataCheckReport,
    DataFindings,
    FoundThumbnails,
    ShowFound,
)
from workbench.protocol.describe_data import CountSplit, DataDescription, DescribeData, SplitCounts
from workbench.protocol.export import Export, Exported, ExportProject
from workbench.protocol.fetch_picture import FetchPicture
from workbench.protocol.find import (
    BatchSizeFound,
    BatchSizeTried,
    FindBatchSize,
    FindLearningRate,
    LearningRateFound,
    LearningRateTrial,
    LearningRateTried,
)
from workbench.protocol.preflight import Preflight, PreflightDone, PreflightPoint, PreflightStage
from workbench.protocol.report import MakeReport
from workbench.protocol.trained.calibration import Calibrate
from workbench.protocol.trained.evaluate import (
    Evaluate,
    Evaluation,
    PickTestPictures,
    TestPictures,
)
from workbench.protocol.trained.explain import Explain, Explained
from workbench.protocol.trained.feature_maps import LayerShown, ShowLayer
from workbench.protocol.trained.image_map import FindNearest, MapImages, NearestImages
from workbench.protocol.trained.robustness import MeasureRobustness, Robustness
from workbench.protocol.weights import LoadFindings, LoadWeights


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
    | ClassifyAltered
    | ClassifyMany
    | WarmUp
    | PickTestPictures
    | ShowPicture
    | PreviewAugmentation
    | Evaluate
    | Calibrate
    | MeasureRobustness
    | Explain
    | MapImages
    | FindNearest
    | ShowLayer
    | Export
    | ExportProject
    | MakeReport
    | FetchBackbone
    | FetchPicture
    | LoadWeights
    | FindLearningRate
    | FindBatchSize
    | Preflight
    | Cancel
)


class Hello(Answer, frozen=True, kw_only=True, tag="hello"):
    """First line of a service worker."""

    protocol: int
    versions: dict[str, str]
    pid: int


class Progress(Answer, frozen=True, kw_only=True, tag="progress"):
    """What the worker is doing for a request."""

    text: str
    fraction: float | None = None


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
    | AlteredScores
    | ClassifiedRows
    | ManyClassified
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
    | Robustness
    | Explained
    | NearestImages
    | LayerShown
    | LearningRateTried
    | LearningRateTrial
    | LearningRateFound
    | BatchSizeTried
    | BatchSizeFound
    | PreflightStage
    | PreflightPoint
    | PreflightDone
    | Exported
    | LoadFindings
    | Done
    | Failed
)
