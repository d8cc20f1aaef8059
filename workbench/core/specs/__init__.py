"""What plug-in files declare: a spec is data plus functions that are *handed* keras or tf by
the worker; a plug-in file never imports them.

No key of a plug-in occurs in another file (`tests/house` checks it): code asks the spec, never for
the name.

`Inference` is what a data source has inferred about the meaning of its data (columns, parts, value
range, encodings): a value with its evidence, its doubt, and the parameter that sets it. A doubtful
one becomes a finding of the data check; data that contradict themselves are refused.
"""

from __future__ import annotations

from workbench.core.specs.backbone import BackboneSpec as BackboneSpec
from workbench.core.specs.backbone import BundledWeights as BundledWeights
from workbench.core.specs.backbone import DownloadedWeights as DownloadedWeights
from workbench.core.specs.backbone import PretrainedLayer as PretrainedLayer
from workbench.core.specs.dataset import ELSEWHERE as ELSEWHERE
from workbench.core.specs.dataset import FREE as FREE
from workbench.core.specs.dataset import ArrayPart as ArrayPart
from workbench.core.specs.dataset import DatasetSpec as DatasetSpec
from workbench.core.specs.dataset import FilePart as FilePart
from workbench.core.specs.dataset import ImageChanges as ImageChanges
from workbench.core.specs.dataset import Inference as Inference
from workbench.core.specs.dataset import LoadContext as LoadContext
from workbench.core.specs.dataset import LoadedData as LoadedData
from workbench.core.specs.dataset import NeededFile as NeededFile
from workbench.core.specs.dataset import Option as Option
from workbench.core.specs.dataset import Part as Part
from workbench.core.specs.dataset import SplitBasis as SplitBasis
from workbench.core.specs.dataset import least_classes as least_classes
from workbench.core.specs.dataset import parts_of as parts_of
from workbench.core.specs.export import EXPORT_GROUPS as EXPORT_GROUPS
from workbench.core.specs.export import ExportGroup as ExportGroup
from workbench.core.specs.export import ExportReader as ExportReader
from workbench.core.specs.export import ExportRuntime as ExportRuntime
from workbench.core.specs.export import ExportSpec as ExportSpec
from workbench.core.specs.export import UnsupportedError as UnsupportedError
from workbench.core.specs.layer import ACTIVATION as ACTIVATION
from workbench.core.specs.layer import ACTIVATION_CATEGORY as ACTIVATION_CATEGORY
from workbench.core.specs.layer import CATEGORIES as CATEGORIES
from workbench.core.specs.layer import LEAKY_RELU as LEAKY_RELU
from workbench.core.specs.layer import LINEAR as LINEAR
from workbench.core.specs.layer import RELU as RELU
from workbench.core.specs.layer import SOFTMAX as SOFTMAX
from workbench.core.specs.layer import VALUE_CATEGORIES as VALUE_CATEGORIES
from workbench.core.specs.layer import AffineTransform as AffineTransform
from workbench.core.specs.layer import Curve as Curve
from workbench.core.specs.layer import Draw as Draw
from workbench.core.specs.layer import IntensityTransform as IntensityTransform
from workbench.core.specs.layer import LayerSpec as LayerSpec
from workbench.core.specs.layer import Matrix as Matrix
from workbench.core.specs.layer import ParamCount as ParamCount
from workbench.core.specs.layer import Role as Role
from workbench.core.specs.layer import Shape as Shape
from workbench.core.specs.layer import ShapeProblem as ShapeProblem
from workbench.core.specs.layer import TrainingClass as TrainingClass
from workbench.core.specs.layer import ValueRange as ValueRange
from workbench.core.specs.layer import between as between
from workbench.core.specs.layer import shared_params as shared_params
from workbench.core.specs.target import TargetLimits as TargetLimits
from workbench.core.specs.target import TargetSpec as TargetSpec
