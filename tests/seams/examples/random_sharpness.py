"""RandomSharpness: blurs and sharpens pictures at random."""

from __future__ import annotations

from workbench.core.specs import LayerSpec
from workbench.core.specs.layer import same
from workbench.layers._common import VALUE_RANGE, factor_param, picture_same_shape, with_value_range

SPEC = LayerSpec(
    key="random_sharpness",
    title="RandomSharpness",
    category="preprocessing",
    summary="Blurs or sharpens each training picture at random.",
    params=(
        factor_param("factor", "Sharpness", 0.9, 1.0, "From blurred, 0, to sharpened, 1."),
        VALUE_RANGE,
    ),
    infer_shape=picture_same_shape("RandomSharpness"),
    place="pipeline",
    keras_arguments=with_value_range,
    keywords=("augmentation", "blur", "random"),
    onnx=same,
)
