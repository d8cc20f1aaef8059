"""What plug-in files declare: a spec is data plus functions that are *handed* keras or tf by
the worker; a plug-in file never imports them.
"""

from workbench.core.specs.dataset import (
    ArrayPart,
    DatasetSpec,
    FilePart,
    LoadContext,
    LoadedData,
    Part,
)
from workbench.core.specs.export import ExportSpec
from workbench.core.specs.layer import (
    CATEGORIES,
    SOFTMAX,
    VALUE_CATEGORIES,
    LayerSpec,
    ParamCount,
    Role,
    Shape,
    ShapeProblem,
    TrainingClass,
)
from workbench.core.specs.pipeline_form import (
    AffineTransform,
    Curve,
    Draw,
    IntensityTransform,
    Matrix,
    between,
)
from workbench.core.specs.target import TargetLimits, TargetSpec

__all__ = [
    "CATEGORIES",
    "SOFTMAX",
    "VALUE_CATEGORIES",
    "AffineTransform",
    "ArrayPart",
    "Curve",
    "DatasetSpec",
    "Draw",
    "ExportSpec",
    "FilePart",
    "IntensityTransform",
    "LayerSpec",
    "LoadContext",
    "LoadedData",
    "Matrix",
    "ParamCount",
    "Part",
    "Role",
    "Shape",
    "ShapeProblem",
    "TargetLimits",
    "TargetSpec",
    "TrainingClass",
    "between",
]
